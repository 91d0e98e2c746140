# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "quantized-reorder"
# title = "Beam reordering leaves out the quantised part of a QuantizedLayer"
# references = ["huggingface/transformers#45510", "huggingface/transformers#48700"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Beam search with a quantised cache continues beams on the tokens of others; no error."
# meanwhile = "Use beam search with a DynamicCache, or greedy decoding with the quantised one."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^reorder_cache\(\[1, 1\]\) of a QuantizedLayer'
# ///
"""After reorder_cache a quantised layer must give the tokens of the beams that were chosen."""

import casekit
import layerkit


def run(device: str) -> None:
    import torch

    cache = layerkit.quantized_cache(residual_length=16)
    layerkit.fill(cache, 2, 3, device)
    held, _ = layerkit.fill(cache, 2, 1, device, start=3)
    cache.reorder_cache(torch.tensor([1, 1], device=device))
    found, _ = layerkit.fill(cache, 2, 1, device, start=4)
    for place, part in (("quantised", slice(0, 3)), ("residual", slice(3, 4))):
        if not layerkit.same(found[:, :, part], held[[1, 1]][:, :, part]):
            casekit.bug(f"reorder_cache([1, 1]) of a QuantizedLayer leaves the {place} tokens in another order")


if __name__ == "__main__":
    casekit.main(run, __file__)
