# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "hybrid-batch-ops-missing"
# title = "batch_repeat_interleave and batch_select_indices raise on linear-attention and on static layers"
# references = []
# severity = "crash"
# time_limit = 60
# open = true
# user_sees = "AttributeError: 'LinearAttentionLayer' object has no attribute 'batch_select_indices'."
# meanwhile = "Use reorder_cache, which all layers have: it takes any indices of the batch."
# [[signature]]
# type = "AttributeError"
# message = "^'(LinearAttention|Static)\\w*' object has no attribute 'batch_(select_indices|repeat_interleave)'$"
# frame = '^transformers/cache_utils\.py:\d+ in batch_(select_indices|repeat_interleave)$'
# [[signature]]
# type = "Bug"
# message = '^batch_(select_indices|repeat_interleave) leaves'
# ///
"""What changes the batch of a cache must change it in every layer, of whatever kind."""

import casekit
import layerkit
from layerkit import CONV_WIDTH


def run(device: str) -> None:
    import torch

    one = torch.tensor([1], device=device)
    state, (keys, values) = layerkit.conv_state(2, CONV_WIDTH, device), layerkit.key_values(2, 3, device)
    for name, argument, order in (("batch_select_indices", one, [1]), ("batch_repeat_interleave", 2, [0, 0, 1, 1])):
        static = layerkit.static_cache((layerkit.FULL,))
        layerkit.append(static, keys, values, 0)
        getattr(static, name)(argument)
        held, _ = layerkit.fill(static, len(order), 1, device, start=3)
        if not layerkit.same(held[:, :, :3], keys[order]):
            casekit.bug(f"{name} leaves other tokens than those of the sequences {order} in a static layer")

        hybrid = layerkit.hybrid_static_cache()
        hybrid.update_conv_state(state, layerkit.LINEAR_LAYER)
        getattr(hybrid.layers[layerkit.LINEAR_LAYER], name)(argument)
        window = hybrid.update_conv_state(layerkit.conv_state(len(order), 1, device), layerkit.LINEAR_LAYER)
        if not layerkit.same(window[..., -CONV_WIDTH:-1], state[order][..., 1:]):
            casekit.bug(f"{name} leaves another state than that of the sequences {order} in a linear-attention layer")


if __name__ == "__main__":
    casekit.main(run, __file__)
