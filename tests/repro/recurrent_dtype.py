# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "recurrent-dtype"
# title = "A linear-attention layer rounds its recurrent state to the type of the convolution state"
# references = []
# severity = "wrong-result"
# time_limit = 60
# user_sees = "With a model in bfloat16 the recurrent state, computed in float32, is rounded at every step; no error."
# meanwhile = "Run the model in float32."
# [[signature]]
# type = "Bug"
# message = '^a recurrent state in torch.float32 comes back in torch.bfloat16'
# ///
"""What a linear-attention layer gives back of its recurrent state must be of the type that was put in."""

import casekit
import layerkit


def run(device: str) -> None:
    import torch

    cache = layerkit.dynamic_cache((layerkit.LINEAR, layerkit.FULL))
    cache.update_conv_state(layerkit.conv_state(2, layerkit.CONV_WIDTH, device).to(torch.bfloat16), 0)
    state = layerkit.numbered((2, 3, 4), device)
    found = cache.update_recurrent_state(state, 0)
    if found.dtype != state.dtype:
        casekit.bug(f"a recurrent state in {state.dtype} comes back in {found.dtype}")
    casekit.require(layerkit.same(found, state), "a recurrent state comes back changed")


if __name__ == "__main__":
    casekit.main(run, __file__)
