# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "sliding-crop-recorded"
# title = "A sliding-window layer refuses a crop though past recording is on"
# references = []
# severity = "crash"
# time_limit = 60
# user_sees = "ValueError: Cannot `crop` a `DynamicSlidingWindowLayer`, from a cache that was told to record its past."
# meanwhile = "Decode without an assistant, or upgrade."
# [[signature]]
# type = "ValueError"
# message = '^Cannot `crop` a `DynamicSlidingWindowLayer` after it has seen more tokens'
# ///
"""A cache that records its past must take the last tokens back, also of a layer whose window is full."""

import casekit
import layerkit

DRAFTED = 3


def run(device: str) -> None:
    cache = layerkit.dynamic_cache(("sliding_attention",))
    if not hasattr(cache, "activate_past_recording"):
        casekit.absent("a cache has no activate_past_recording")
    keys = layerkit.numbered((2, layerkit.HEADS, layerkit.WINDOW + DRAFTED, layerkit.HEAD_DIM), device)
    prompt, drafted = keys[:, :, : layerkit.WINDOW], keys[:, :, layerkit.WINDOW :]
    layerkit.append(cache, prompt, -prompt, 0)
    cache.activate_past_recording()
    layerkit.append(cache, drafted, -drafted, layerkit.WINDOW)
    cache.crop(-DRAFTED)
    found, _ = layerkit.append(cache, drafted[:, :, :1], -drafted[:, :, :1], layerkit.WINDOW)
    seen = keys[:, :, 1 : layerkit.WINDOW + 1]
    casekit.require(layerkit.same(found[:, :, -layerkit.WINDOW :], seen), "after the crop other tokens come back")


if __name__ == "__main__":
    casekit.main(run, __file__)
