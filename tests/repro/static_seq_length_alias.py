# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-seq-length-alias"
# title = "The length that StaticCache.get_seq_length hands out is the live counter"
# references = ["huggingface/transformers#45987"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "A length remembered before a forward has grown after it, so that no token seems to have come."
# meanwhile = "Take a copy of it: int(cache.get_seq_length())."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^the length that get_seq_length gave before an update read 3, and reads 5'
# ///
"""A length that was asked for before an update must stay what it was."""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.static_cache((layerkit.FULL,))
    layerkit.fill(cache, 2, 3, device)
    before = cache.get_seq_length()
    casekit.require(int(before) == 3, f"the length of 3 tokens is {int(before)}")
    layerkit.fill(cache, 2, 2, device, start=3)
    casekit.require(int(cache.get_seq_length()) == 5, f"the length of 5 tokens is {int(cache.get_seq_length())}")
    if int(before) != 3:
        casekit.bug(f"the length that get_seq_length gave before an update read 3, and reads {int(before)} after it")


if __name__ == "__main__":
    casekit.main(run, __file__)
