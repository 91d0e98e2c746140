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
# type = "Bug"
# message = '^prompt-lookup decoding with a static cache raises IndexError: index_copy_'
# ///
"""Prompt-lookup decoding with a static cache must come to the tokens of plain greedy decoding.

Elsewhere found good up to 5.23.0; measured absent: those releases refuse a static cache here in words, or warn and
take a dynamic one, so that nothing was written to a static one.
"""

import itertools

import casekit
import modelkit

# No token ends the text, and some releases look for one all the same.
PROMPT, NEW, END = 8, 28, 2


def text(made) -> list[int]:
    """The tokens of a generation."""
    return made.sequences[0].tolist()


def run(device: str) -> None:
    import transformers

    model = modelkit.decoder("Llama", device, initializer_range=0.02)
    ids = modelkit.tokens(1, PROMPT, device)
    options = {"max_new_tokens": NEW, "do_sample": False, "eos_token_id": END, "return_dict_in_generate": True}
    wanted = text(model.generate(ids, **options))
    pairs = list(itertools.pairwise(wanted))
    repeats = END not in wanted and pairs[-1] in pairs[:-2]
    casekit.require(repeats, "the text does not repeat itself up to its end, so that there is nothing to look up")
    lookup = {**options, "prompt_lookup_num_tokens": 10}
    made, error = None, ""
    try:
        made = model.generate(ids, **lookup, cache_implementation="static")
    except ValueError as exc:
        if "not supported with Static cache" in str(exc):
            casekit.absent(str(exc))
        raise
    except IndexError as exc:
        error = f"IndexError: {exc}"
    if made is not None and not isinstance(modelkit.cache_in(made), transformers.StaticCache):
        casekit.absent("cache_implementation='static' is passed over in assisted decoding")
    casekit.require(text(model.generate(ids, **lookup)) == wanted, "a dynamic cache gives other tokens as well")
    if error:
        casekit.bug(f"prompt-lookup decoding with a static cache raises {error}")
    casekit.require(text(made) == wanted, "a static cache gives other tokens than greedy decoding")


if __name__ == "__main__":
    casekit.main(run, __file__)
