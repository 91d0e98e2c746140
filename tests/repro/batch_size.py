# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "batch-size"
# title = "A cache whose attention layers hold different batch sizes reports one of them"
# references = ["huggingface/transformers#46446"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "A batch size that is wrong for some layers of the cache, where a ValueError was promised."
# meanwhile = "Compare the batch sizes of the layers' keys: {layer.keys.shape[0] for layer in cache.layers}."
# [[signature]]
# type = "Bug"
# message = '^(max_)?batch_size is -?\d+ although the layers of a '
# ///
"""A cache must tell the batch size that its attention layers agree on, and raise where they disagree."""

import re

import casekit
import layerkit

LAYERS = ("full_attention", "full_attention")


def run(device: str) -> None:
    for name in layerkit.batch_size_names(layerkit.static_cache(LAYERS)):
        check(layerkit.static_cache, name, device)
        # Releases that know max_batch_size alone promise it for static caches.
        if name == "batch_size":
            require_dynamic(device)
            check(layerkit.dynamic_cache, name, device)


def require_dynamic(device: str) -> None:
    """On the commits between #46862 and #46738 a dynamic cache has no batch size to tell, right or wrong."""
    cache = layerkit.dynamic_cache(LAYERS)
    for layer_idx in range(len(LAYERS)):
        layerkit.fill_attention(cache, layer_idx, 2, device)
    if not hasattr(cache, "batch_size"):
        casekit.absent("a static cache tells its batch size, and a dynamic one has none to tell")


def check(make, name: str, device: str) -> None:
    consistent, inconsistent = make(LAYERS), make(LAYERS)
    for layer_idx, batch_size in enumerate((2, 3)):
        layerkit.fill_attention(consistent, layer_idx, 2, device)
        layerkit.fill_attention(inconsistent, layer_idx, batch_size, device)
    kind = type(consistent).__name__
    try:
        found = getattr(inconsistent, name)
    except ValueError as exc:
        if not re.search("batch size is not consistent across layers", str(exc)):
            raise
    else:
        casekit.bug(f"{name} is {found} although the layers of a {kind} hold batches of 2 and of 3")
    found = getattr(consistent, name)
    casekit.require(found == 2, f"{name} is {found} although both layers of a {kind} hold batches of 2")


if __name__ == "__main__":
    casekit.main(run, __file__)
