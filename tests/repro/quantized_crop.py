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

RIGHT = (4, 4, True)


def after_crop(cache, device: str) -> tuple[int, int, bool]:
    """The length after crop(-3) of 7 tokens, how many of them the next update gives, and whether they are the first."""
    layerkit.fill(cache, 2, 6, device)
    held, _ = layerkit.fill(cache, 2, 1, device, start=6)
    casekit.require(held.shape[-2] == 7, f"the cache gave {held.shape[-2]} tokens before the crop")
    cache.crop(-3)
    length = cache.get_seq_length()
    found, _ = layerkit.fill(cache, 2, 1, device, start=4)
    return length, found.shape[-2] - 1, layerkit.same(found[:, :, :4], held[:, :, :4])


def run(device: str) -> None:
    plain = after_crop(layerkit.dynamic_cache((layerkit.FULL,)), device)
    casekit.require(plain == RIGHT, f"a layer that is not quantised gives {plain}")
    found = after_crop(layerkit.quantized_cache(residual_length=16), device)
    if found != RIGHT:
        casekit.bug(f"QuantizedLayer.crop(-3) of 7 tokens leaves a length of {found[0]} and {found[1]} tokens")


if __name__ == "__main__":
    casekit.main(run, __file__)
