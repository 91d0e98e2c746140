# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "t5gemma-cross-sliding"
# title = "The cross-attention cache of T5Gemma takes on the decoder's sliding layers and drops encoder tokens"
# references = ["huggingface/transformers#41073", "huggingface/transformers#41890", "huggingface/transformers#46111"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Other text with the cache than without, or a crash, for inputs longer than the sliding window."
# meanwhile = "Hand generate an EncoderDecoderCache whose second half is DynamicCache() without a config."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^T5Gemma: logits of the new token \d+ with a cache differ'
# [[signature]]
# type = "AttributeError"
# message = "^'T5GemmaConfig' object has no attribute 'num_hidden_layers'$"
# [[signature]]
# type = "RuntimeError"
# message = 'The size of tensor a \(\d+\) must match the size of tensor b \(11\) at non-singleton dimension 3'
# frame = '^transformers/models/t5gemma/modeling_t5gemma\.py:\d+ in eager_attention_forward$'
# ///
"""Generation with a cache must give the logits that it gives without one, when the input exceeds the window."""

import casekit
import modelkit

WINDOW, INPUT, NEW = 4, 11, 4


def run(device: str) -> None:
    part = modelkit.library_class("T5GemmaModuleConfig")
    values = {**modelkit.DECODER, "sliding_window": WINDOW, "query_pre_attn_scalar": 8}
    halves = {name: part(**values).to_dict() for name in ("encoder", "decoder")}
    config = modelkit.library_class("T5GemmaConfig")(
        **halves, vocab_size=modelkit.VOCABULARY, bos_token_id=1, decoder_start_token_id=1, pad_token_id=0,
        eos_token_id=None, attn_implementation="eager", initializer_range=0.3,
    )  # fmt: skip
    model = modelkit.seeded("T5GemmaForConditionalGeneration", config, device)
    ids = modelkit.tokens(1, INPUT, device)
    wanted = modelkit.greedy(model, ids, NEW, use_cache=False)
    found = modelkit.greedy(model, ids, NEW)
    for step in range(NEW):
        apart = modelkit.difference(found[:, step], wanted[:, step])
        if apart > modelkit.ROUNDING:
            casekit.bug(f"T5Gemma: logits of the new token {step} with a cache differ by {apart:.3g} of their spread")


if __name__ == "__main__":
    casekit.main(run, __file__)
