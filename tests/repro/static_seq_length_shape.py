# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-seq-length-shape"
# title = "StaticCache.get_seq_length returns a tensor of shape (1,)"
# references = ["huggingface/transformers#45987"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "Numbers computed from the length are tensors of one dimension, and break where a number is wanted."
# meanwhile = "Convert it: int(cache.get_seq_length())."
# [[signature]]
# type = "Bug"
# message = '^StaticCache\.get_seq_length\(\) is a tensor of shape \(1,\)'
# ///
"""The length of a cache must be a number, or a tensor that stands for one: without dimensions."""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.static_cache((layerkit.FULL,))
    layerkit.fill(cache, 2, 3, device)
    length = cache.get_seq_length()
    shape = tuple(getattr(length, "shape", ()))
    if shape:
        casekit.bug(f"StaticCache.get_seq_length() is a tensor of shape {shape}")
    casekit.require(device == "meta" or int(length) == 3, f"the length of 3 tokens is {length}")


if __name__ == "__main__":
    casekit.main(run, __file__)
