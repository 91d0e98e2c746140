# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-max-cache-len"
# title = "A requested max_cache_len is ignored for cache_implementation='static'"
# references = ["huggingface/transformers#46424"]
# severity = "slow"
# time_limit = 60
# user_sees = "A longer prompt makes a new static cache, and everything is compiled again."
# meanwhile = "Hand generate a StaticCache(config=model.config, max_cache_len=N) of your own."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^max_cache_len=64 was asked for by \w+, and generate made a StaticCache of'
# ///
"""generate must make the static cache as long as it was asked to."""

import casekit
import modelkit

ASKED = 64


def run(device: str) -> None:
    import transformers

    model = modelkit.decoder("Llama", device)
    # From 5.13.0 it is an option of its own; before, cache_config is where a cache's arguments are taken.
    by = "max_cache_len" if hasattr(transformers.GenerationConfig(), "max_cache_len") else "cache_config"
    asked = {"max_cache_len": ASKED} if by == "max_cache_len" else {"cache_config": {"max_cache_len": ASKED}}
    made = model.generate(
        modelkit.tokens(1, 7, device), max_new_tokens=3, do_sample=False, cache_implementation="static",
        return_dict_in_generate=True, **asked,
    )  # fmt: skip
    cache = modelkit.cache_in(made)
    casekit.require(isinstance(cache, transformers.StaticCache), f"generate made a {type(cache).__name__}")
    if (length := cache.layers[0].max_cache_len) < ASKED:
        casekit.bug(f"max_cache_len={ASKED} was asked for by {by}, and generate made a StaticCache of {length}")


if __name__ == "__main__":
    casekit.main(run, __file__)
