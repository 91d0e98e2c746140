# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "empty-get-max-length"
# title = "DynamicCache().get_max_length() raises on a cache that has no layers yet"
# references = ["huggingface/transformers#46738"]
# severity = "crash"
# time_limit = 60
# open = true
# user_sees = "ValueError: max() arg is an empty sequence, or the like."
# meanwhile = "Ask for a layer, get_max_length(0), or make the cache with a config."
# [[signature]]
# type = "ValueError"
# message = '^max\(\) (arg is an empty sequence|iterable argument is empty)$'
# frame = '^transformers/cache_utils\.py:\d+ in get_max_length$'
# [[signature]]
# type = "Bug"
# message = '^get_max_length\(\) of a cache without layers is '
# ///
"""A cache that has no layers yet has no maximum: get_max_length must say -1, as its docstring has it."""

import casekit
import layerkit


def run(device: str) -> None:
    from transformers import DynamicCache

    if not hasattr(DynamicCache, "get_max_length"):
        casekit.absent("a cache has no get_max_length")
    cache = DynamicCache()
    if (found := cache.get_max_length()) != -1:
        casekit.bug(f"get_max_length() of a cache without layers is {found}, not -1")
    layerkit.fill(cache, 2, 3, device)
    casekit.require(cache.get_max_length() == -1, "a DynamicCache that holds tokens has a maximum")


if __name__ == "__main__":
    casekit.main(run, __file__)
