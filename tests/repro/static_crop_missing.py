# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-crop-missing"
# title = "StaticCache.crop does not exist"
# references = ["huggingface/transformers#43011", "huggingface/transformers#44893"]
# severity = "crash"
# time_limit = 60
# user_sees = "AttributeError: 'StaticLayer' object has no attribute 'crop', as in assisted decoding."
# meanwhile = "Use a DynamicCache where tokens have to be taken back."
# [[signature]]
# type = "AttributeError"
# message = "^'StaticLayer' object has no attribute 'crop'$"
# frame = '^transformers/cache_utils\.py:\d+ in crop$'
# [[signature]]
# type = "Bug"
# message = '^StaticCache\.crop\(-2\) of 5 tokens'
# ///
"""StaticCache.crop must take tokens back, as every Cache promises."""

import casekit
import layerkit


def run(device: str) -> None:
    cache = layerkit.static_cache((layerkit.FULL,))
    keys, values = layerkit.key_values(2, 5, device)
    layerkit.append(cache, keys, values, 0)
    cache.crop(-2)
    if device != "meta" and (length := int(cache.get_seq_length())) != 3:
        casekit.bug(f"StaticCache.crop(-2) of 5 tokens leaves a length of {length}")
    held, _ = layerkit.fill(cache, 2, 1, device, start=3)
    if not layerkit.same(held[:, :, :3], keys[:, :, :3]):
        casekit.bug("StaticCache.crop(-2) of 5 tokens changed the tokens that stay")


if __name__ == "__main__":
    casekit.main(run, __file__)
