# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "encdec-static-assisted"
# title = "EncoderDecoderCache of static caches claims is_croppable, and its crop raises"
# references = ["huggingface/transformers#43011", "huggingface/transformers#45745"]
# severity = "crash"
# time_limit = 60
# user_sees = "TypeError: `crop` is only defined for dynamic cache, in assisted decoding with a static cache."
# meanwhile = "Use a dynamic cache for assisted decoding with an encoder-decoder."
# [[signature]]
# type = "TypeError"
# message = '^`crop` is only defined for dynamic cache, got StaticCache'
# frame = '^transformers/cache_utils\.py:\d+ in check_dynamic_cache$'
# [[signature]]
# type = "Bug"
# message = '^EncoderDecoderCache of static caches: is_croppable'
# ///
"""A cache that says that it can be cropped must take the tokens back."""

import casekit
import layerkit


def length_after_crop(make, device: str) -> int | None:
    """The length that crop(-2) leaves of 5 tokens in both of two caches; None where they say that it cannot be."""
    import transformers

    two = [make((layerkit.FULL,)) for _ in range(2)]
    both = transformers.EncoderDecoderCache(*two)
    for cache in two:
        layerkit.fill(cache, 2, 5, device)
    if not both.is_croppable:
        return None
    both.crop(-2)
    length = both.get_seq_length()
    # On meta the length of a static cache is a tensor without a value.
    return 3 if getattr(length, "is_meta", False) else int(length)


def run(device: str) -> None:
    import transformers

    # Inherited from Cache it would be the matter of encdec-cache-properties.
    if "is_croppable" not in vars(transformers.EncoderDecoderCache):
        casekit.absent("an EncoderDecoderCache says nothing of whether it can be cropped")
    length = length_after_crop(layerkit.dynamic_cache, device)
    casekit.require(length == 3, f"of dynamic caches it leaves {length}")
    length = length_after_crop(layerkit.static_cache, device)
    if length not in (None, 3):
        casekit.bug(f"EncoderDecoderCache of static caches: is_croppable, and crop(-2) of 5 leaves {length}")


if __name__ == "__main__":
    casekit.main(run, __file__)
