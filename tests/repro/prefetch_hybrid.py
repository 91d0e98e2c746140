# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "prefetch-hybrid"
# title = "The prefetch of the next offloaded layer stops at linear-attention layers"
# references = ["huggingface/transformers#46748"]
# severity = "slow"
# time_limit = 60
# user_sees = "With an offloaded cache each attention layer of a hybrid model waits for its keys."
# meanwhile = "Do without offloading for hybrid models, or accept the waiting."
# [[signature]]
# type = "Bug"
# message = '^after attention layer 0, prefetch brings layers \[1\]'
# ///
"""After an attention layer, prefetch must bring the next one: linear-attention layers are never offloaded."""

import contextlib
from functools import partial

import casekit
import layerkit
from layerkit import ATTENTION_LAYERS


def run(device: str) -> None:
    cache = layerkit.hybrid_static_cache()
    for layer_idx in ATTENTION_LAYERS:
        layerkit.fill_attention(cache, layer_idx, 2, device)
    # A stream takes an accelerator; which layer is brought does not.
    cache.prefetch_stream = contextlib.nullcontext()
    brought: list[int] = []
    for layer_idx, layer in enumerate(cache.layers):
        layer.prefetch = partial(brought.append, layer_idx)
    first, second = ATTENTION_LAYERS
    cache.prefetch(first + 1)
    if brought != [second]:
        casekit.bug(f"after attention layer {first}, prefetch brings layers {brought}, not layer {second}")


if __name__ == "__main__":
    casekit.main(run, __file__)
