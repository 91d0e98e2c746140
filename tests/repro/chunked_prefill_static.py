# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "chunked-prefill-static"
# title = "prefill_chunk_size with a static cache writes past the end of the cache"
# references = []
# severity = "crash"
# time_limit = 60
# user_sees = "IndexError: index_copy_(): index N is out of bounds for dimension 2, from generate."
# meanwhile = "Leave prefill_chunk_size out where the cache is static."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "IndexError"
# message = '^index_copy_\(\): index 8 is out of bounds for dimension 2 with size 8'
# frame = '^transformers/cache_utils\.py:\d+ in update$'
# [[signature]]
# type = "Bug"
# message = '^a prefill in chunks into a static cache gives logits'
# ///
"""A prefill in chunks into a static cache must give the logits of one in a single piece."""

import casekit
import modelkit

PROMPT, NEW = 7, 2


def run(device: str) -> None:
    model = modelkit.decoder("Llama", device)
    ids = modelkit.tokens(1, PROMPT, device)
    wanted = modelkit.greedy(model, ids, NEW, cache_implementation="static")
    found = modelkit.greedy(model, ids, NEW, cache_implementation="static", prefill_chunk_size=4)
    apart = modelkit.difference(found, wanted)
    if apart > modelkit.ROUNDING:
        casekit.bug(f"a prefill in chunks into a static cache gives logits that are {apart:.3g} of their spread off")


if __name__ == "__main__":
    casekit.main(run, __file__)
