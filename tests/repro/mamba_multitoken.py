# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "mamba-multitoken"
# title = "Mamba with a filled cache restarts the scan from a zero state for several tokens at once"
# references = ["huggingface/transformers#46032"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Other logits, or an IndexError, when several tokens follow a cached prompt, as in a chat."
# meanwhile = "Give the tokens after a cached prompt one at a time."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Mamba: 5 tokens after 9 cached ones'
# [[signature]]
# type = "IndexError"
# message = '^index 1 is out of bounds for dimension 2 with size 1$'
# frame = '^transformers/models/mamba/modeling_mamba\.py:\d+ in slow_forward$'
# [[signature]]
# type = "RuntimeError"
# message = '^The expanded size of the tensor \(1\) must match the existing size \(5\)'
# frame = '^transformers/models/mamba/modeling_mamba\.py:\d+ in update_conv_state$'
# ///
"""Tokens after a cached prompt must give the logits of one forward over all, at once as well as one at a time.

Elsewhere found absent up to 5.3.0; measured bad there too, through the MambaCache of those releases. Up to 5.14.1
several tokens at once raise in the convolution or in the scan; from 5.15.0 on they are answered, from a state of
zeros.
"""

import casekit
import modelkit


def run(device: str) -> None:
    model = modelkit.decoder("Mamba", device, state_size=4)
    singly, together = modelkit.continued(model, modelkit.tokens(1, 14, device), held=9)
    casekit.require(singly < modelkit.ROUNDING, f"one at a time they are {singly:.3g} off as well")
    if together > modelkit.ROUNDING:
        casekit.bug(f"Mamba: 5 tokens after 9 cached ones, given at once, are {together:.3g} of the spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
