# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "crop-oversized"
# title = "Taking back more tokens than a DynamicCache holds leaves some of them"
# references = ["huggingface/transformers#47433"]
# severity = "wrong-result"
# time_limit = 60
# user_sees = "A few tokens that were taken back are attended to all the same; no error."
# meanwhile = "Take back at most cache.get_seq_length() tokens."
# [[signature]]
# type = "Bug"
# message = '^DynamicCache\.crop\(-5\) of 3 tokens leaves \d+, and gives \d+ after'
# ///
"""Taking back more tokens than there are must leave none."""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.dynamic_cache((layerkit.FULL,))
    keys, values = layerkit.key_values(2, 3, device)
    layerkit.append(cache, keys, values, 0)
    cache.crop(-5)
    left = cache.get_seq_length()
    found, _ = layerkit.append(cache, keys, values, 0)
    if left or not layerkit.same(found, keys):
        casekit.bug(f"DynamicCache.crop(-5) of 3 tokens leaves {left}, and gives {found.shape[-2]} after 3 new ones")


if __name__ == "__main__":
    casekit.main(run, __file__)
