# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "jamba-multitoken"
# title = "Jamba with a filled cache restarts the scan from a zero state for several tokens at once"
# references = ["huggingface/transformers#46032"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Other logits when several tokens follow a cached prompt, as in a chat or in assisted decoding; no error."
# meanwhile = "Give the tokens after a cached prompt one at a time."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Jamba: 5 tokens after 9 cached ones'
# ///
"""Tokens after a cached prompt must give the logits of one forward over all, at once as well as one at a time.

Elsewhere found absent up to 4.57.6; measured bad there too, given the HybridMambaAttentionDynamicCache that those
releases want from the caller.
"""

import casekit
import modelkit


def run(device: str) -> None:
    model = modelkit.decoder(
        "Jamba", device, num_hidden_layers=3, attn_layer_period=3, attn_layer_offset=1, expert_layer_period=2,
        expert_layer_offset=1, num_experts=2, num_experts_per_tok=1, mamba_d_state=4, use_mamba_kernels=False,
    )  # fmt: skip
    singly, together = modelkit.continued(model, modelkit.tokens(1, 14, device), held=9)
    casekit.require(singly < modelkit.ROUNDING, f"one at a time they are {singly:.3g} off as well")
    if together > modelkit.ROUNDING:
        casekit.bug(f"Jamba: 5 tokens after 9 cached ones, given at once, are {together:.3g} of the spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
