# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "batch-size-all-linear"
# title = "A cache of linear-attention layers that hold data says that it holds none"
# references = ["huggingface/transformers#46738"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "batch_size is -1, which stands for a cache that nothing was put into yet."
# meanwhile = "Read it off a state: cache.layers[0].conv_states, by state index from 5.14.0 on."
# [[signature]]
# type = "Bug"
# message = '^(max_)?batch_size of linear-attention layers that hold 3 sequences is '
# ///
"""A cache of linear-attention layers alone must tell the batch size that they agree on."""

import casekit
import layerkit

BATCH = 3


def run(device: str) -> None:
    cache = layerkit.dynamic_cache((layerkit.LINEAR, layerkit.LINEAR))
    for layer_idx in range(2):
        cache.update_conv_state(layerkit.conv_state(BATCH, layerkit.CONV_WIDTH, device), layer_idx)
    for name in layerkit.batch_size_names(cache):
        if (found := getattr(cache, name)) != BATCH:
            casekit.bug(f"{name} of linear-attention layers that hold {BATCH} sequences is {found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
