# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "mamba-beam-reorder"
# title = "Beam search never reorders the state of models that keep it in cache_params"
# references = ["huggingface/transformers#46612"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Worse beam search with the cache than without it: beams go on from the state of others; no error."
# meanwhile = "Pass use_cache=False to beam search."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^Mamba: beam search with a cache comes to other beams than without'
# ///
"""Beam search with a cache must come to the beams that it comes to without one."""

import casekit
import modelkit

BEAMS, NEW = 4, 6


def run(device: str) -> None:
    model = modelkit.decoder("Mamba", device, state_size=4)
    ids = modelkit.tokens(1, 5, device)
    options = {"max_new_tokens": NEW, "do_sample": False}
    greedy = [model.generate(ids, **options, use_cache=use_cache).tolist() for use_cache in (True, False)]
    casekit.require(greedy[0] == greedy[1], "greedy search gives other tokens with a cache as well")

    options |= {"num_beams": BEAMS, "num_return_sequences": BEAMS}
    options |= {"return_dict_in_generate": True, "output_scores": True}
    found, wanted = (model.generate(ids, **options, use_cache=use_cache) for use_cache in (True, False))
    chosen = [tuple(step) for step in wanted.beam_indices[:, 1:NEW].T.tolist()]
    casekit.require(len(set(chosen)) > 1, f"no beam went on from another one: {chosen}")
    apart = float((found.sequences_scores - wanted.sequences_scores).abs().max())
    if found.sequences.tolist() != wanted.sequences.tolist() or apart > modelkit.ROUNDING:
        casekit.bug(f"Mamba: beam search with a cache comes to other beams than without, with scores {apart:.3g} off")


if __name__ == "__main__":
    casekit.main(run, __file__)
