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
# type = "Bug"
# message = '^get_max_length\(\) of a cache without layers is not -1: '
# ///
"""A cache that has no layers yet has no maximum: get_max_length must say -1, as its docstring has it."""

import casekit
import layerkit


def told(cache) -> int | str:
    """What a cache tells of its maximum, or how it fails to."""
    try:
        return cache.get_max_length()
    except ValueError as exc:
        return f"ValueError: {exc}"


def run(device: str) -> None:
    from transformers import DynamicCache

    if not hasattr(DynamicCache, "get_max_length"):
        casekit.absent("a cache has no get_max_length")
    filled = DynamicCache()
    layerkit.fill(filled, 2, 3, device)
    casekit.require(told(filled) == -1, f"of a DynamicCache that holds tokens it gives {told(filled)}")
    if (found := told(DynamicCache())) != -1:
        casekit.bug(f"get_max_length() of a cache without layers is not -1: {found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
