# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "bart-dynamiccache-unbound"
# title = "A DynamicCache handed to an encoder-decoder breaks its cross-attention"
# references = ["huggingface/transformers#45773", "huggingface/transformers#48000"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Other logits without an error; in some models UnboundLocalError: is_updated."
# meanwhile = "Hand over EncoderDecoderCache(DynamicCache(), DynamicCache())."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "UnboundLocalError"
# message = "'is_updated'"
# [[signature]]
# type = "Bug"
# message = '^Bart with a DynamicCache: logits of the decoder'
# ///
"""An encoder-decoder must work with a DynamicCache, or refuse it in words."""

import casekit
import modelkit


def run(device: str) -> None:
    import torch
    from transformers import DynamicCache, EncoderDecoderCache

    sizes = {f"{half}_{name}": size for half in ("encoder", "decoder")
             for name, size in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 48))}  # fmt: skip
    config = modelkit.config_of("Bart", d_model=32, init_std=0.3, decoder_start_token_id=1, **sizes)
    model = modelkit.seeded("BartForConditionalGeneration", config, device)
    inputs = {"input_ids": modelkit.tokens(1, 7, device), "decoder_input_ids": modelkit.tokens(1, 4, device)}

    def logits(**cache: object) -> torch.Tensor:
        with torch.no_grad():
            return model(**inputs, **cache).logits

    wanted = logits(use_cache=False)
    two = EncoderDecoderCache(DynamicCache(), DynamicCache())
    casekit.require(
        modelkit.difference(logits(past_key_values=two, use_cache=True), wanted) < modelkit.ROUNDING,
        "with two caches the logits differ as well",
    )
    try:
        found = logits(past_key_values=DynamicCache(), use_cache=True)
    except (TypeError, ValueError) as exc:
        casekit.require("EncoderDecoderCache" in str(exc), f"it is refused without naming what is wanted: {exc}")
        return
    apart = modelkit.difference(found, wanted)
    if apart > modelkit.ROUNDING:
        casekit.bug(f"Bart with a DynamicCache: logits of the decoder differ by {apart:.3g} of their spread")


if __name__ == "__main__":
    casekit.main(run, __file__)
