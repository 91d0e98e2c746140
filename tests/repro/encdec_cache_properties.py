# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "encdec-cache-properties"
# title = "Cache properties that EncoderDecoderCache inherits reach for layers that it does not have"
# references = ["huggingface/transformers#39786"]
# severity = "crash"
# time_limit = 60
# open = true
# user_sees = "AttributeError: 'EncoderDecoderCache' object has no attribute 'layers', from is_initialized and others."
# meanwhile = "Ask the two caches that it holds: cache.self_attention_cache.is_initialized."
# [[signature]]
# type = "Bug"
# message = '^EncoderDecoderCache\.\w+ is .*, and of both caches that it holds'
# [[signature]]
# type = "Bug"
# message = "^EncoderDecoderCache\\.\\w+ raises: 'EncoderDecoderCache' object has no attribute 'layers'"
# ///
"""What two caches agree on, the cache made of them must say as well.

Elsewhere found absent up to 4.56.2; measured bad there too: is_initialized came with 4.57.0 and batch_size with
5.13.0, but max_batch_size of 4.56 already reaches for layers.
"""

import casekit
import layerkit


def wrong(cache, like, names: list[str]) -> str:
    """The first of the properties `names` that is another one of `cache` than `like`, and how; "" if there is none."""
    for name in names:
        wanted = getattr(like, name)
        try:
            found = getattr(cache, name)
        except AttributeError as exc:
            return f"{name} raises: {exc}"
        if found != wanted:
            return f"{name} is {found}, and of both caches that it holds {wanted}"
    return ""


def run(device: str) -> None:
    import transformers

    two = [layerkit.static_cache((layerkit.FULL,)) for _ in range(2)]
    both = transformers.EncoderDecoderCache(*two)
    for cache in two:
        keys, _ = layerkit.fill(cache, 2, 3, device)
        casekit.require(keys.shape[0] == 2, "a cache does not hold the batch that was put in")
    names = [name for name in dir(transformers.Cache) if isinstance(getattr(transformers.Cache, name), property)]
    casekit.require("is_compileable" in names, f"these are all properties of a Cache: {names}")
    casekit.require((apart := wrong(*two, names)) == "", f"the two caches differ: {apart}")
    if found := wrong(both, two[0], names):
        casekit.bug(f"EncoderDecoderCache.{found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
