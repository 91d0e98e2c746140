# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "batch-size-mixed-linear"
# title = "A linear-attention layer with another batch size than the attention layers goes unnoticed"
# references = ["huggingface/transformers#46738"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "A batch size that is wrong for some layers of the cache, where a ValueError was promised."
# meanwhile = "Compare the first dimensions of the states and the keys of all layers."
# [[signature]]
# type = "Bug"
# message = '^(max_)?batch_size of a hybrid cache is -?\d+ although it holds batches'
# ///
"""Layers that hold different batch sizes must be reported, linear-attention layers as well."""

import re

import casekit
import layerkit
from layerkit import ATTENTION_LAYERS, CONV_WIDTH, LINEAR_LAYER


def run(device: str) -> None:
    cache = layerkit.hybrid_static_cache()
    for layer_idx in ATTENTION_LAYERS:
        layerkit.fill_attention(cache, layer_idx, 2, device)
    cache.update_conv_state(layerkit.conv_state(3, CONV_WIDTH, device), LINEAR_LAYER)
    for name in layerkit.batch_size_names(cache):
        try:
            found = getattr(cache, name)
        except ValueError as exc:
            if not re.search("batch size is not consistent across layers", str(exc)):
                raise
        else:
            casekit.bug(f"{name} of a hybrid cache is {found} although it holds batches of 2 and of 3")


if __name__ == "__main__":
    casekit.main(run, __file__)
