# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "sliding-crop-uninit"
# title = "Cropping a sliding-window layer that saw no tokens raises"
# references = []
# severity = "crash"
# time_limit = 60
# open = true
# user_sees = "AttributeError: 'NoneType' object has no attribute 'shape', from DynamicCache.crop; before, a TypeError."
# meanwhile = "Crop only a cache whose layers all hold tokens."
# [[signature]]
# type = "Bug"
# message = "^crop\\(-1\\) of a sliding layer without tokens: 'NoneType' object"
# ///
"""Cropping what holds nothing must do nothing."""

import casekit
import layerkit


def run(device: str) -> None:
    keys, values = layerkit.key_values(2, 3, device)
    # First a cache that is not cropped: it shows what the tokens after a crop must come back as.
    for cropped in (False, True):
        cache = layerkit.dynamic_cache(("sliding_attention",))
        if cropped:
            try:
                cache.crop(-1)
            except (AttributeError, TypeError) as exc:
                # Told as a bug of its own: layers of other kinds raise the same words.
                casekit.bug(f"crop(-1) of a sliding layer without tokens: {exc}")
        found, _ = layerkit.append(cache, keys, values, 0)
        casekit.require(layerkit.same(found, keys), f"the first tokens come back changed (cropped: {cropped})")


if __name__ == "__main__":
    casekit.main(run, __file__)
