# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-assisted-overflow"
# title = "Prompt-lookup decoding with a static cache writes drafts past the end of the cache"
# references = ["huggingface/transformers#43011", "huggingface/transformers#45745"]
# severity = "crash"
# time_limit = 60
# open = true
# user_sees = "IndexError: index_copy_(): index N is out of bounds for dimension 2, from generate."
# meanwhile = "Leave cache_implementation out in assisted decoding, or pass max_cache_len with room for the drafts."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "IndexError"
# message = '^index_copy_\(\): index \d+ is out of bounds for dimension 2 with size 35'
# frame = '^transformers/cache_utils\.py:\d+ in update$'
# [[signature]]
# type = "Bug"
# message = '^prompt-lookup decoding with a static cache gives other tokens'
# ///
"""Prompt-lookup decoding with a static cache must come to the tokens of plain greedy decoding."""

import itertools

import casekit
import modelkit

# No token ends the text, and some releases look for one all the same.
PROMPT, NEW, END = 8, 28, 2


def run(device: str) -> None:
    import transformers

    model = modelkit.decoder("Llama", device, initializer_range=0.02)
    ids = modelkit.tokens(1, PROMPT, device)
    options = {"max_new_tokens": NEW, "do_sample": False, "eos_token_id": END, "return_dict_in_generate": True}
    wanted = model.generate(ids, **options).sequences[0].tolist()
    pairs = list(itertools.pairwise(wanted))
    repeats = END not in wanted and pairs[-1] in pairs[:-2]
    casekit.require(repeats, "the text does not repeat itself up to its end, so that there is nothing to look up")
    try:
        made = model.generate(ids, **options, cache_implementation="static", prompt_lookup_num_tokens=10)
    except ValueError as exc:
        if "not supported with Static cache" in str(exc):
            casekit.absent(str(exc))
        raise
    if not isinstance(modelkit.cache_in(made), transformers.StaticCache):
        casekit.absent("cache_implementation='static' is passed over in assisted decoding")
    if made.sequences[0].tolist() != wanted:
        casekit.bug("prompt-lookup decoding with a static cache gives other tokens than greedy decoding")


if __name__ == "__main__":
    casekit.main(run, __file__)
