# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "is-initialized"
# title = "Cache.is_initialized raises on a hybrid cache whose attention layers are initialised"
# references = ["huggingface/transformers#46439"]
# severity = "crash"
# time_limit = 60
# user_sees = "AttributeError from cache.is_initialized once its first attention layers hold data."
# meanwhile = "Ask the layers: all(getattr(layer, 'is_initialized', True) for layer in cache.layers)."
# [[signature]]
# type = "AttributeError"
# message = "^'LinearAttention\\w*' object has no attribute 'is_initialized'$"
# frame = '^transformers/cache_utils\.py:\d+ in (is_initialized|<genexpr>)$'
# [[signature]]
# type = "Bug"
# message = '^is_initialized of a hybrid cache is (True|False) although'
# ///
"""is_initialized of a hybrid cache must tell whether its attention layers are initialised."""

import casekit
import layerkit
from layerkit import ATTENTION_LAYERS


def run(device: str) -> None:
    cache = layerkit.hybrid_static_cache()
    if not hasattr(type(cache), "is_initialized"):
        casekit.absent("a cache has no is_initialized")
    if cache.is_initialized:
        casekit.bug("is_initialized of a hybrid cache is True although nothing was put into it")
    for layer_idx in ATTENTION_LAYERS:
        layerkit.fill_attention(cache, layer_idx, batch_size=2, device=device)
        complete = layer_idx == ATTENTION_LAYERS[-1]
        found = cache.is_initialized
        if found != complete:
            state = "all attention layers are" if complete else "an attention layer is not"
            casekit.bug(f"is_initialized of a hybrid cache is {found} although {state} initialised")


if __name__ == "__main__":
    casekit.main(run, __file__)
