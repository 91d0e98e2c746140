# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "mamba2-multitoken"
# title = "Mamba2 with a filled cache handles several tokens at once as if the state were empty"
# references = ["huggingface/transformers#46032"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Other logits when several tokens follow a cached prompt, as in a chat or in assisted decoding; no error."
# meanwhile = "Give the tokens after a cached prompt one at a time."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Mamba2: 5 tokens after 9 cached ones'
# ///
"""Tokens after a cached prompt must give the logits of one forward over all, at once as well as one at a time.

Elsewhere found absent up to 5.3.0; measured bad there too: the class of the cache was another one (Mamba2Cache), and
only the first of several tokens was taken, given that cache_position says where they stand.
"""

import casekit
import modelkit


def run(device: str) -> None:
    model = modelkit.decoder("Mamba2", device, num_heads=4, head_dim=16, state_size=8, n_groups=1, chunk_size=4)
    singly, together = modelkit.continued(model, modelkit.tokens(1, 14, device), held=9)
    casekit.require(singly < modelkit.ROUNDING, f"one at a time they are {singly:.3g} off as well")
    if together > modelkit.ROUNDING:
        casekit.bug(f"Mamba2: 5 tokens after 9 cached ones, given at once, are {together:.3g} of the spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
