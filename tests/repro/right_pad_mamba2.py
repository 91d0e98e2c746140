# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "right-pad-mamba2"
# title = "A prefill that is padded on the right leaves another state than one without padding"
# references = ["huggingface/transformers#48256"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Other text for the shorter prompts of a batch that is padded on the right; no error."
# meanwhile = "Pad on the left, or give prompts of one length at a time."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Mamba2: the token after a prefill padded on the right'
# ///
"""The state after a padded prefill must be the one after the tokens that the mask leaves.

Elsewhere found absent up to 5.3.0; measured bad there too, through the Mamba2Cache of those releases, which the model
makes itself in the prefill.
"""

import casekit
import modelkit

SHORT, LONG = 5, 8


def run(device: str) -> None:
    import torch

    model = modelkit.decoder("Mamba2", device, num_heads=4, head_dim=16, state_size=8, n_groups=1, chunk_size=4)
    ids, token = modelkit.tokens(2, LONG, device), modelkit.tokens(1, 1, device)
    mask = torch.ones_like(ids)
    mask[0, SHORT:] = 0

    def after(prompts: torch.Tensor, **more: object) -> torch.Tensor:
        _, cache = modelkit.forward(model, prompts, **more)
        return modelkit.forward(model, token.expand(len(prompts), 1), cache, prompts.shape[1])[0]

    short, full = after(ids * mask, attention_mask=mask)
    apart = modelkit.difference(full, after(ids[1:])[0])
    casekit.require(apart < modelkit.ROUNDING, f"after the prompt that needs no padding it is {apart:.3g} off as well")
    apart = modelkit.difference(short, after(ids[:1, :SHORT])[0])
    if apart > modelkit.ROUNDING:
        casekit.bug(f"Mamba2: the token after a prefill padded on the right is {apart:.3g} of the spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
