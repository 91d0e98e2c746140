# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "gemma4-use-cache-false"
# title = "Gemma4 with shared key-value layers computes other logits when use_cache=False"
# references = ["huggingface/transformers#45242"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Training or scoring with use_cache=False gives other logits, and so another loss, than with a cache."
# meanwhile = "Leave use_cache=True, also where the cache is thrown away."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Gemma4: logits differ by .* between use_cache=True and use_cache=False'
# ///
"""Whether a cache is kept must not change the logits of one forward."""

import casekit
import modelkit


def run(device: str) -> None:
    import torch

    config = modelkit.config_of(
        "Gemma4Text", num_hidden_layers=4, layer_types=["sliding_attention", "full_attention"] * 2, sliding_window=4,
        num_kv_shared_layers=2, global_head_dim=8, vocab_size_per_layer_input=modelkit.VOCABULARY,
        hidden_size_per_layer_input=4,
    )  # fmt: skip
    model = modelkit.seeded("Gemma4ForCausalLM", config, device)
    ids = modelkit.tokens(1, 9, device)
    with torch.no_grad():
        wanted, found = (model(ids, use_cache=use_cache).logits for use_cache in (True, False))
    apart = modelkit.difference(found, wanted)
    if apart > modelkit.ROUNDING:
        casekit.bug(f"Gemma4: logits differ by {apart:.3g} of their spread between use_cache=True and use_cache=False")


if __name__ == "__main__":
    casekit.main(run, __file__)
