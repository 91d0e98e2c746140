# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "linear-crop-uninit"
# title = "Cropping a linear-attention layer that never had a convolution state raises"
# references = ["huggingface/transformers#47452"]
# severity = "crash"
# time_limit = 60
# user_sees = "TypeError: unsupported operand type(s) for -: 'int' and 'NoneType', from Cache.crop."
# meanwhile = "Crop only after the first forward."
# [[signature]]
# type = "TypeError"
# message = "^unsupported operand type\\(s\\) for -: 'int' and 'NoneType'$"
# frame = '^transformers/cache_utils\.py:\d+ in crop$'
# ///
"""Cropping what holds nothing must do nothing, in a linear-attention layer as in any other.

Elsewhere found absent up to 5.13.1, where no past is recorded; measured good from 5.5.0 on: crop is there, is asked,
and the layer takes its first state as before.
"""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.dynamic_cache((layerkit.LINEAR,))
    # From 5.14.0 on only what records its past can be cropped; before, crop leaves linear-attention layers alone.
    if hasattr(cache, "activate_past_recording"):
        cache.activate_past_recording()
    cache.crop(-1)
    state = layerkit.conv_state(2, layerkit.CONV_WIDTH, device)
    held = cache.update_conv_state(state, 0)
    casekit.require(layerkit.same(held, state), "after the crop the first convolution state comes back changed")


if __name__ == "__main__":
    casekit.main(run, __file__)
