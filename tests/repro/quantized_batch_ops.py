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
# type = "RuntimeError"
# message = '^Sizes of tensors must match except in dimension 2\. Expected (size )?2 .*but got (size )?[14] for tensor'
# frame = '^transformers/cache_utils\.py:\d+ in update$'
# [[signature]]
# type = "Bug"
# message = '^batch_(select_indices|repeat_interleave) of a QuantizedLayer'
# ///
"""A change of batch must reach all tokens of a quantised layer, the quantised ones too."""

import casekit
import layerkit


def run(device: str) -> None:
    import torch

    one = torch.tensor([1], device=device)
    for name, argument, order in (("batch_select_indices", one, [1]), ("batch_repeat_interleave", 2, [0, 0, 1, 1])):
        cache = layerkit.quantized_cache(residual_length=16)
        layerkit.fill(cache, 2, 3, device)
        held, _ = layerkit.fill(cache, 2, 1, device, start=3)
        getattr(cache, name)(argument)
        found, _ = layerkit.fill(cache, len(order), 1, device, start=4)
        if not layerkit.same(found[:, :, :-1], held[order]):
            casekit.bug(f"{name} of a QuantizedLayer does not give the tokens of the sequences {order}")


if __name__ == "__main__":
    casekit.main(run, __file__)
