# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "hybrid-batch-ops-missing"
# title = "batch_repeat_interleave and batch_select_indices raise on linear-attention and on static layers"
# references = []
# severity = "crash"
# devices = ["cpu", "cuda", "mps", "xpu"]
# time_limit = 60
# open = true
# user_sees = "AttributeError: 'LinearAttentionLayer' object has no attribute 'batch_select_indices'."
# meanwhile = "Use reorder_cache, which all layers have: it takes any indices of the batch."
# [[signature]]
# type = "Bug"
# message = '^batch_(select_indices|repeat_interleave) of a (static|linear-attention) layer: '
# ///
"""What changes the batch of a cache must change it in every layer, of whatever kind.

Elsewhere found absent up to 5.4.0, which has no linear-attention layers; measured bad there too: static layers lack
both methods since 4.56.0.
"""

import casekit
import layerkit
from layerkit import CONV_WIDTH

SAID = {True: "", False: "it gives others than were asked for"}


def in_static(name: str, argument, order: list[int], device: str) -> bool:
    """Whether a static layer that held two sequences gives those of `order` after `name`."""
    keys, values = layerkit.key_values(2, 3, device)
    cache = layerkit.static_cache((layerkit.FULL,))
    layerkit.append(cache, keys, values, 0)
    getattr(cache, name)(argument)
    held, _ = layerkit.fill(cache, len(order), 1, device, start=3)
    return layerkit.same(held[:, :, :3], keys[order])


def in_linear(name: str, argument, order: list[int], device: str) -> bool:
    """Whether a linear-attention layer that held two sequences gives those of `order` after `name`."""
    state = layerkit.conv_state(2, CONV_WIDTH, device)
    cache = layerkit.hybrid_static_cache()
    layer = cache.layers[layerkit.LINEAR_LAYER]
    layer.update_conv_state(state)
    getattr(layer, name)(argument)
    window = layer.update_conv_state(layerkit.conv_state(len(order), 1, device))
    return layerkit.same(window[..., -CONV_WIDTH:-1], state[order][..., 1:])


def run(device: str) -> None:
    import torch

    kinds = {"static": in_static}
    if hasattr(layerkit.static_cache(layerkit.HYBRID_LAYERS).layers[layerkit.LINEAR_LAYER], "update_conv_state"):
        kinds["linear-attention"] = in_linear
    for kind, holds in kinds.items():
        flipped = holds("reorder_cache", torch.tensor([1, 0], device=device), [1, 0], device)
        casekit.require(flipped, f"not even reorder_cache gives the other sequences of a {kind} layer")
    one = torch.tensor([1], device=device)
    for name, argument, order in (("batch_select_indices", one, [1]), ("batch_repeat_interleave", 2, [0, 0, 1, 1])):
        for kind, holds in kinds.items():
            try:
                found = SAID[holds(name, argument, order, device)]
            except AttributeError as exc:
                found = f"AttributeError: {exc}"
            if found:
                casekit.bug(f"{name} of a {kind} layer: {found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
