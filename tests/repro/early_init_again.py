# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "early-init-again"
# title = "early_initialization of a static cache that is in use wipes what it holds"
# references = ["huggingface/transformers#46439"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Other output once early_initialization was called on a cache that holds tokens; no error."
# meanwhile = "Call early_initialization on fresh caches alone."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^early_initialization of a cache that holds 3 tokens'
# ///
"""early_initialization must leave a layer alone that is initialised."""

import casekit
import layerkit

BATCH, TOKENS = 2, 3


def run(device: str) -> None:
    import torch

    cache = layerkit.static_cache((layerkit.FULL, layerkit.FULL))
    keys, values = layerkit.key_values(BATCH, TOKENS, device)
    layerkit.append(cache, keys, values, 0)
    cache.early_initialization(
        batch_size=BATCH, num_heads=layerkit.HEADS, head_dim=layerkit.HEAD_DIM, dtype=torch.float32,
        device=torch.device(device),
    )  # fmt: skip
    held, _ = layerkit.fill(cache, BATCH, 1, device, start=TOKENS)
    if not layerkit.same(held[:, :, :TOKENS], keys):
        casekit.bug(f"early_initialization of a cache that holds {TOKENS} tokens leaves others in their place")


if __name__ == "__main__":
    casekit.main(run, __file__)
