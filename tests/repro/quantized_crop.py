# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "quantized-crop"
# title = "QuantizedLayer.crop shortens neither the quantised keys nor the length"
# references = ["huggingface/transformers#45510"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Tokens that were taken back are attended to all the same; no error."
# meanwhile = "Use a DynamicCache where tokens have to be taken back."
# [[signature]]
# type = "Bug"
# message = '^QuantizedLayer\.crop\(-3\) of 7 tokens leaves'
# ///
"""crop of a quantised layer must take back as many tokens as it was told."""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.quantized_cache(residual_length=16)
    layerkit.fill(cache, 2, 6, device)
    held, _ = layerkit.fill(cache, 2, 1, device, start=6)
    casekit.require(held.shape[-2] == 7, f"the cache gave {held.shape[-2]} tokens before the crop")
    cache.crop(-3)
    length = cache.get_seq_length()
    found, _ = layerkit.fill(cache, 2, 1, device, start=4)
    if length != 4 or found.shape[-2] != 5 or not layerkit.same(found[:, :, :4], held[:, :, :4]):
        casekit.bug(f"QuantizedLayer.crop(-3) of 7 tokens leaves a length of {length} and {found.shape[-2] - 1} tokens")


if __name__ == "__main__":
    casekit.main(run, __file__)
