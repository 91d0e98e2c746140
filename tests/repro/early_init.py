# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "early-init"
# title = "StaticCache.early_initialization corrupts linear-attention layers"
# references = ["huggingface/transformers#46439"]
# severity = "crash"
# time_limit = 60
# user_sees = "After early_initialization, as in export recipes, a hybrid model fails in its first forward."
# meanwhile = "Call lazy_initialization on the attention layers alone, or let the first update do it."
# [[signature]]
# type = "RuntimeError"
# message = 'The size of tensor a \(8\) must match the size of tensor b \(4\) at non-singleton dimension 3'
# frame = '^transformers/cache_utils\.py:\d+ in update_conv_state$'
# [[signature]]
# type = "Bug"
# message = '^a second early_initialization wiped what'
# ///
"""early_initialization must prepare the attention layers and leave the linear-attention layers alone."""

import casekit
import layerkit
from layerkit import ATTENTION_LAYERS, CONV_WIDTH, HEAD_DIM, HEADS, LINEAR_LAYER, MAX_CACHE_LEN

BATCH, TOKENS = 2, 3


def run(device: str) -> None:
    import torch

    cache = layerkit.hybrid_static_cache()
    # Plain numbers, because 5.5.0 takes no lists.
    sizes = {"batch_size": BATCH, "num_heads": HEADS, "head_dim": HEAD_DIM}
    cache.early_initialization(**sizes, dtype=torch.float32, device=torch.device(device))
    for layer_idx in ATTENTION_LAYERS:
        layer = cache.layers[layer_idx]
        ready = layer.is_initialized and layer.keys.shape == (BATCH, HEADS, MAX_CACHE_LEN, HEAD_DIM)
        casekit.require(ready, f"attention layer {layer_idx} was not initialised early")

    state = layerkit.conv_state(BATCH, CONV_WIDTH, device)
    # Of the layer itself, as it is the layer that was prepared wrongly; below, through the cache, as models do.
    returned = cache.layers[LINEAR_LAYER].update_conv_state(state)
    casekit.require(layerkit.same(returned, state), "the convolution state came back changed")

    keys, values = layerkit.key_values(BATCH, TOKENS, device)

    def holds_tokens(held: tuple[torch.Tensor, torch.Tensor]) -> bool:
        return layerkit.same(held[0][:, :, :TOKENS], keys) and layerkit.same(held[1][:, :, :TOKENS], values)

    for layer_idx in ATTENTION_LAYERS:
        held = cache.update(keys, values, layer_idx)
        casekit.require(holds_tokens(held), f"attention layer {layer_idx} does not hold what was put in")

    # idle: done rightly, it does nothing
    cache.early_initialization(**sizes, dtype=torch.float32, device=torch.device(device))
    for layer_idx in ATTENTION_LAYERS:
        if not holds_tokens(cache.update(*layerkit.key_values(BATCH, 1, device), layer_idx)):
            casekit.bug(f"a second early_initialization wiped what attention layer {layer_idx} held")
    # Some releases return the new window, others the old window and the new token: in both, what stands
    # before the token is what the layer held.
    returned = cache.update_conv_state(layerkit.conv_state(BATCH, 1, device), LINEAR_LAYER)
    if not layerkit.same(returned[..., -CONV_WIDTH:-1], state[..., 1:]):
        casekit.bug("a second early_initialization wiped what the linear-attention layer held")


if __name__ == "__main__":
    casekit.main(run, __file__)
