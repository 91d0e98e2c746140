# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "lfm2-multitoken"
# title = "LFM2 with a filled cache convolves several tokens at once as if nothing came before"
# references = []
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Other logits when several tokens follow a cached prompt, as in a chat or in assisted decoding; no error."
# meanwhile = "Give the tokens after a cached prompt one at a time."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Lfm2: 3 tokens after 6 cached ones'
# ///
"""Tokens after a cached prompt must give the logits of one forward over all, at once as well as one at a time."""

import casekit
import modelkit


def run(device: str) -> None:
    layer_types = ["conv", "full_attention", "conv"]
    model = modelkit.decoder("Lfm2", device, num_hidden_layers=3, layer_types=layer_types, conv_L_cache=3)
    singly, together = modelkit.continued(model, modelkit.tokens(1, 9, device), held=6)
    casekit.require(singly < modelkit.ROUNDING, f"one at a time they are {singly:.3g} off as well")
    if together > modelkit.ROUNDING:
        casekit.bug(f"Lfm2: 3 tokens after 6 cached ones, given at once, are {together:.3g} of the spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
