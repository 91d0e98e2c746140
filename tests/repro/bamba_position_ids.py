# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "bamba-position-ids"
# title = "BambaModel counts positions from 0 where it is told none, although the cache holds tokens"
# references = []
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Other logits in a step with a cache of one's own, unless positions are passed; no error."
# meanwhile = "Pass position_ids with every step (and cache_position up to 5.3.0), as generate does."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Bamba: a cached step without positions is'
# ///
"""A step with a filled cache must know its positions, as in every other model.

Elsewhere found absent up to 5.4.0; measured bad there too, through the HybridMambaAttentionDynamicCache of those
releases: Bamba begins its positions (up to 5.3.0 its cache_position) at 0, where Llama asks the cache.
"""

import casekit
import modelkit

HELD = 9


def run(device: str) -> None:
    model = modelkit.decoder(
        "Bamba", device, num_hidden_layers=3, attn_layer_indices=[1], mamba_n_heads=4, mamba_d_head=16,
        mamba_d_state=8, mamba_chunk_size=4,
    )  # fmt: skip
    ids = modelkit.tokens(1, HELD + 1, device)
    wanted, _ = modelkit.forward(model, ids)
    apart = []
    for told in ({}, {"position_ids": None, "cache_position": None}):
        _, cache = modelkit.forward(model, ids[:, :HELD])
        found, _ = modelkit.forward(model, ids[:, HELD:], cache, HELD, **told)
        apart.append(modelkit.difference(found, wanted[:, HELD:]))
    casekit.require(apart[0] < modelkit.ROUNDING, f"with positions the step is {apart[0]:.3g} off as well")
    if apart[1] > modelkit.ROUNDING:
        casekit.bug(f"Bamba: a cached step without positions is {apart[1]:.3g} of the spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
