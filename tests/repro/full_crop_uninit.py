# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "full-crop-uninit"
# title = "Cropping a full-attention layer that saw no tokens raises"
# references = ["huggingface/transformers#48178"]
# severity = "crash"
# time_limit = 60
# user_sees = "TypeError: 'NoneType' object is not subscriptable, from DynamicCache.crop."
# meanwhile = "Crop only a cache whose layers all hold tokens."
# [[signature]]
# type = "Bug"
# message = "^crop\\(-1\\) of a DynamicCache without tokens: 'NoneType' object is not subscriptable$"
# ///
"""Cropping what holds nothing must do nothing."""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.dynamic_cache((layerkit.FULL, layerkit.FULL))
    try:
        cache.crop(-1)
    except TypeError as exc:
        # Told as a bug of its own: layers of other kinds raise the same words.
        casekit.bug(f"crop(-1) of a DynamicCache without tokens: {exc}")
    keys, values = layerkit.key_values(2, 3, device)
    found, _ = layerkit.append(cache, keys, values, 0)
    casekit.require(layerkit.same(found, keys), "after the crop the first tokens come back changed")


if __name__ == "__main__":
    casekit.main(run, __file__)
