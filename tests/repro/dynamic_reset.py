# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "dynamic-reset"
# title = "DynamicCache.reset leaves the old length and zeros in the place of the tokens"
# references = ["huggingface/transformers#48509", "huggingface/transformers#48809"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "A cache that was reset lets the next text attend to as many zeros as it held tokens; no error."
# meanwhile = "Make a new DynamicCache instead of resetting the old one."
# [[signature]]
# type = "Bug"
# message = '^after DynamicCache\.reset there are \d+ tokens'
# ///
"""A DynamicCache that was reset must hold nothing."""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.dynamic_cache((layerkit.FULL,))
    layerkit.fill(cache, 2, 6, device)
    cache.reset()
    left = cache.get_seq_length()
    keys, values = layerkit.key_values(2, 3, device)
    found, _ = layerkit.append(cache, keys, values, 0)
    if left or not layerkit.same(found, keys):
        casekit.bug(f"after DynamicCache.reset there are {left} tokens, and {found.shape[-2]} keys with 3 new ones")


if __name__ == "__main__":
    casekit.main(run, __file__)
