# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "qwen3-next-multitoken"
# title = "Qwen3-Next with a filled cache handles several tokens at once as if the state were empty"
# references = []
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Other logits when several tokens follow a cached prompt, as in a chat or in assisted decoding; no error."
# meanwhile = "Give the tokens after a cached prompt one at a time."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Qwen3-Next: 3 tokens after 6 cached ones'
# ///
"""Tokens after a cached prompt must give the logits of one forward over all, at once as well as one at a time."""

import casekit
import modelkit


def run(device: str) -> None:
    layer_types = ["linear_attention", "full_attention", "linear_attention"]
    model = modelkit.decoder(
        "Qwen3Next", device, num_hidden_layers=3, layer_types=layer_types,
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8,
        linear_conv_kernel_dim=4, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
    )  # fmt: skip
    singly, together = modelkit.continued(model, modelkit.tokens(1, 9, device), held=6)
    casekit.require(singly < modelkit.ROUNDING, f"one at a time they are {singly:.3g} off as well")
    if together > modelkit.ROUNDING:
        casekit.bug(f"Qwen3-Next: 3 tokens after 6 cached ones, given at once, are {together:.3g} of the spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
