# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "crop-keeps-recurrent"
# title = "crop accepts a linear-attention layer with a recurrent state and leaves that state as it is"
# references = ["huggingface/transformers#49036"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Text goes on from a state that has seen the tokens that were taken back; no error."
# meanwhile = "Ask is_croppable first (5.14.0 and later), or begin anew with an empty cache."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^crop\(-2\) returns, and the recurrent state is still that of all tokens'
# ///
"""crop must refuse a recurrent state, which has no past to go back to.

Elsewhere found absent up to 5.13.1, where no past is recorded; measured bad from 5.5.0 on: crop is there, and passes
over linear-attention layers without a word while it shortens the attention beside them.
"""

import casekit
import layerkit

WIDTH = layerkit.CONV_WIDTH


def run(device: str) -> None:
    cache = layerkit.dynamic_cache((layerkit.LINEAR, layerkit.FULL))
    # From 5.14.0 on only what records its past can be cropped.
    if hasattr(cache, "activate_past_recording"):
        cache.activate_past_recording()
    cache.update_conv_state(layerkit.conv_state(2, WIDTH + 2, device), 0)
    before = layerkit.numbered((2, 3, 4), device)
    held = cache.update_recurrent_state(before, 0)
    casekit.require(layerkit.same(held, before), "the recurrent state came back changed")
    layerkit.fill(cache, 2, WIDTH + 2, device, layer_idx=1)
    try:
        cache.crop(-2)
    except (NotImplementedError, RuntimeError, ValueError) as exc:
        casekit.require("crop" in str(exc).lower(), f"crop fails of something else than that it refuses: {exc}")
        return
    keys, _ = layerkit.fill(cache, 2, 1, device, WIDTH, layer_idx=1)
    casekit.require(
        keys.shape[-2] == WIDTH + 1, f"crop leaves {keys.shape[-2] - 1} tokens of the attention layer beside it"
    )
    if layerkit.same(held, before):
        casekit.bug("crop(-2) returns, and the recurrent state is still that of all tokens")


if __name__ == "__main__":
    casekit.main(run, __file__)
