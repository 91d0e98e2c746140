# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "max-batch-size"
# title = "Cache.max_batch_size raises on a hybrid cache whose linear-attention layers hold nothing yet"
# references = ["huggingface/transformers#46446", "huggingface/transformers#46738"]
# severity = "crash"
# time_limit = 60
# user_sees = "AttributeError from cache.max_batch_size of a hybrid StaticCache until every layer holds data."
# meanwhile = "Ask an attention layer that holds data: cache.layers[i].max_batch_size."
# [[signature]]
# type = "AttributeError"
# message = "^'LinearAttention\\w*' object has no attribute '(max_)?batch_size'$"
# frame = '^transformers/cache_utils\.py:\d+ in ((max_)?batch_size|<listcomp>)$'
# # A mend of half the bug: the fresh hybrid cache trips over its first layer, which is a static one.
# [[signature]]
# type = "AttributeError"
# message = "^'Static\\w*Layer' object has no attribute '(max_)?batch_size'$"
# frame = '^transformers/cache_utils\.py:\d+ in ((max_)?batch_size|<listcomp>)$'
# [[signature]]
# type = "Bug"
# message = '^(max_)?batch_size of a hybrid cache is -?\d+, not -?\d+, when'
# ///
"""A hybrid cache must tell the batch size of its attention layers, and -1 when nothing is initialised."""

from typing import TYPE_CHECKING

import casekit
import layerkit
from layerkit import ATTENTION_LAYERS, CONV_WIDTH, LINEAR_LAYER

if TYPE_CHECKING:
    from transformers import StaticCache

BATCH = 3


def expect(cache: "StaticCache", expected: int, state: str) -> None:
    """See that each name for the batch size of `cache`, which is in `state`, gives the `expected` one."""
    for name in layerkit.batch_size_names(cache):
        found = getattr(cache, name)
        if found != expected:
            casekit.bug(f"{name} of a hybrid cache is {found}, not {expected}, when {state}")


def run(device: str) -> None:
    cache = layerkit.hybrid_static_cache()
    for layer_idx in ATTENTION_LAYERS:
        layerkit.fill_attention(cache, layer_idx, BATCH, device)
    expect(cache, BATCH, "its attention layers hold data")
    state = layerkit.conv_state(BATCH, CONV_WIDTH, device)
    held = cache.update_conv_state(state, LINEAR_LAYER)
    casekit.require(layerkit.same(held, state), "the convolution state came back changed")
    expect(cache, BATCH, "all its layers hold data")
    expect(layerkit.hybrid_static_cache(), -1, "nothing is initialised")


if __name__ == "__main__":
    casekit.main(run, __file__)
