# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "sliding-burst-mask"
# title = "While past recording is on, a sliding layer returns more keys than get_mask_sizes announces"
# references = ["huggingface/transformers#48280"]
# severity = "crash"
# time_limit = 60
# user_sees = "A mask of another length than the keys, in assisted decoding with a sliding window."
# meanwhile = "Crop after each forward, with crop(0) where nothing is to be taken back."
# [[signature]]
# type = "Bug"
# message = '^draft \d+: the mask is announced for \d+ keys, and update returns \d+'
# ///
"""Tokens that follow one another without a crop must each get as many keys as the mask was announced for."""

import casekit
import layerkit

PREFILL, DRAFTS = 5, 3


def run(device: str) -> None:
    cache = layerkit.dynamic_cache(("sliding_attention",))
    if not hasattr(cache.layers[0], "activate_past_recording"):
        casekit.absent("a sliding layer does not record its past")
    casekit.require(PREFILL >= layerkit.WINDOW, "the window is not full after the prefill")
    cache.activate_past_recording()
    layerkit.fill(cache, 2, PREFILL, device)
    for draft in range(1, DRAFTS + 1):
        announced, _ = cache.get_mask_sizes(1, 0)
        keys, _ = layerkit.fill(cache, 2, 1, device, PREFILL + draft - 1)
        if keys.shape[-2] != announced:
            casekit.bug(
                f"draft {draft}: the mask is announced for {announced} keys, and update returns {keys.shape[-2]}"
            )


if __name__ == "__main__":
    casekit.main(run, __file__)
