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
# type = "AttributeError"
# message = "^'EncoderDecoderCache' object has no attribute 'layers'$"
# frame = '^transformers/cache_utils\.py:\d+ in '
# [[signature]]
# type = "Bug"
# message = '^EncoderDecoderCache\.\w+ is .*, and of both caches that it holds'
# ///
"""What two caches agree on, the cache made of them must say as well."""

import casekit
import layerkit


def run(device: str) -> None:
    import transformers

    two = [layerkit.static_cache((layerkit.FULL,)) for _ in range(2)]
    both = transformers.EncoderDecoderCache(*two)
    for cache in two:
        layerkit.fill(cache, 2, 3, device)
    inherited = [name for name in dir(transformers.Cache) if isinstance(getattr(transformers.Cache, name), property)]
    casekit.require("is_compileable" in inherited, f"these are all properties of a Cache: {inherited}")
    for name in inherited:
        wanted = getattr(two[0], name)
        if (found := getattr(both, name)) != wanted:
            casekit.bug(f"EncoderDecoderCache.{name} is {found}, and of both caches that it holds {wanted}")


if __name__ == "__main__":
    casekit.main(run, __file__)
