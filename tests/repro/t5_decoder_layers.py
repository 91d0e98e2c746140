# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "t5-decoder-layers"
# title = "T5 with more decoder than encoder layers cannot generate with a cache"
# references = []
# severity = "crash"
# time_limit = 60
# user_sees = "IndexError: list index out of range in generate, which works with use_cache=False."
# meanwhile = "Pass past_key_values=EncoderDecoderCache(DynamicCache(), DynamicCache()), whose layers come as needed."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "IndexError"
# message = '^list index out of range$'
# frame = '^transformers/cache_utils\.py:\d+ in '
# ///
"""A cache that generate makes must have a layer for each of the decoder's, also where the encoder has fewer."""

import casekit
import modelkit

ENCODER, DECODER, NEW = 1, 3, 4


def run(device: str) -> None:
    import transformers

    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "decoder_start_token_id": 1}
    layers = {"num_layers": ENCODER, "num_decoder_layers": DECODER}
    config = transformers.T5Config(vocab_size=modelkit.VOCABULARY, **sizes, **layers)
    model = modelkit.seeded("T5ForConditionalGeneration", config, device)
    ids = modelkit.tokens(2, 5, device)
    wanted = modelkit.greedy(model, ids, NEW, use_cache=False)
    found = modelkit.greedy(model, ids, NEW)
    casekit.require(modelkit.difference(found, wanted) < modelkit.ROUNDING, "with a cache the logits are others")


if __name__ == "__main__":
    casekit.main(run, __file__)
