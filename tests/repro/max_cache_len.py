# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "max-cache-len"
# title = "Cache.max_cache_len raises on a hybrid static cache"
# references = ["huggingface/transformers#46446"]
# severity = "crash"
# time_limit = 60
# user_sees = "AttributeError from cache.max_cache_len of a hybrid StaticCache, whatever it holds."
# meanwhile = "Ask the layers: max(getattr(layer, 'max_cache_len', -1) for layer in cache.layers)."
# [[signature]]
# type = "AttributeError"
# message = "^'LinearAttention\\w*' object has no attribute 'max_cache_len'$"
# frame = '^transformers/cache_utils\.py:\d+ in (max_cache_len|<listcomp>)$'
# [[signature]]
# type = "Bug"
# message = "^a hybrid cache has length -?\\d+, not its attention layers' \\d+$"
# ///
"""The length of a hybrid static cache must be that of its attention layers."""

from typing import TYPE_CHECKING

import casekit
import layerkit
from layerkit import ATTENTION_LAYERS, MAX_CACHE_LEN

if TYPE_CHECKING:
    from transformers import StaticCache


def longest(cache: "StaticCache") -> int:
    """The number of tokens that `cache` can hold, by the name that this release has for it."""
    # Asked of the class: 5.20.0 removed max_cache_len, and its AttributeError must not look like the bug.
    if hasattr(type(cache), "max_cache_len"):
        return cache.max_cache_len
    if not hasattr(type(cache), "get_max_length"):
        casekit.absent("a cache has neither max_cache_len nor get_max_length")
    return cache.get_max_length()


def run(device: str) -> None:
    cache = layerkit.hybrid_static_cache()
    for layer_idx in (None, *ATTENTION_LAYERS):
        if layer_idx is not None:
            layerkit.fill_attention(cache, layer_idx, batch_size=2, device=device)
        if (length := longest(cache)) != MAX_CACHE_LEN:
            casekit.bug(f"a hybrid cache has length {length}, not its attention layers' {MAX_CACHE_LEN}")


if __name__ == "__main__":
    casekit.main(run, __file__)
