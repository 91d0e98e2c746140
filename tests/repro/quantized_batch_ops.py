# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "quantized-batch-ops"
# title = "batch_repeat_interleave and batch_select_indices leave out the quantised part of a QuantizedLayer"
# references = ["huggingface/transformers#45510"]
# severity = "crash"
# time_limit = 60
# open = true
# user_sees = "RuntimeError: Sizes of tensors must match except in dimension 2, in the update after a change of batch."
# meanwhile = "Repeat or choose the inputs before the prefill, or use a DynamicCache."
# [[signature]]
# type = "Bug"
# message = '^batch_(select_indices|repeat_interleave) of a QuantizedLayer'
# ///
"""A change of batch must reach all tokens of a quantised layer, the quantised ones too."""

import casekit
import layerkit


def wrong(cache, name: str, argument, order: list[int], device: str) -> str:
    """What is wrong with the tokens of a cache whose batch of 2 was changed to the sequences `order`; "" if nothing."""
    layerkit.fill(cache, 2, 3, device)
    held, _ = layerkit.fill(cache, 2, 1, device, start=3)
    getattr(cache, name)(argument)
    try:
        found, _ = layerkit.fill(cache, len(order), 1, device, start=4)
    except RuntimeError as exc:
        return f"the next update raises RuntimeError: {exc}"
    return "" if layerkit.same(found[:, :, :-1], held[order]) else f"it does not give the tokens of {order}"


def run(device: str) -> None:
    import torch

    one = torch.tensor([1], device=device)
    for name, argument, order in (("batch_select_indices", one, [1]), ("batch_repeat_interleave", 2, [0, 0, 1, 1])):
        plain = wrong(layerkit.dynamic_cache((layerkit.FULL,)), name, argument, order, device)
        casekit.require(plain == "", f"{name} of a layer that is not quantised: {plain}")
        if found := wrong(layerkit.quantized_cache(residual_length=16), name, argument, order, device):
            casekit.bug(f"{name} of a QuantizedLayer: {found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
