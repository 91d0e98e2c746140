# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-max-batch-size-fresh"
# title = "Reading the batch size of a StaticCache before its first update raises"
# references = ["huggingface/transformers#40120"]
# severity = "crash"
# time_limit = 60
# user_sees = "AttributeError: 'StaticLayer' object has no attribute 'max_batch_size'."
# meanwhile = "Remember the batch size that the cache is for, or ask after the first forward."
# [[signature]]
# type = "Bug"
# message = "^(max_)?batch_size of a StaticCache without tokens: 'StaticLayer' object has no attribute"
# [[signature]]
# type = "Bug"
# message = '^(max_)?batch_size of a StaticCache without tokens is -?\d+'
# ///
"""A StaticCache that holds nothing must answer when it is asked for its batch size."""

import casekit
import layerkit


def run(device: str) -> None:
    for name in layerkit.batch_size_names(layerkit.static_cache((layerkit.FULL,))):
        cache = layerkit.static_cache((layerkit.FULL, layerkit.FULL))
        try:
            found = getattr(cache, name)
        except AttributeError as exc:
            # Told as a bug of its own: hybrid caches raise the same words for another reason.
            casekit.bug(f"{name} of a StaticCache without tokens: {exc}")
        if found != -1:
            casekit.bug(f"{name} of a StaticCache without tokens is {found}, not -1")
        for layer_idx in range(2):
            layerkit.fill(cache, 2, 3, device, layer_idx=layer_idx)
        found = getattr(cache, name)
        casekit.require(found == 2, f"{name} of a StaticCache that holds two sequences is {found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
