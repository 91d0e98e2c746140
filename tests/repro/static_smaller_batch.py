# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-smaller-batch"
# title = "A StaticCache that was reset cannot be used again with a smaller batch"
# references = ["huggingface/transformers#42454"]
# severity = "crash"
# time_limit = 60
# open = true
# user_sees = "RuntimeError: index_copy_(): Source/destination tensor must have same slice shapes."
# meanwhile = "Make a new StaticCache for another batch size, or pad the batch."
# [[signature]]
# type = "RuntimeError"
# message = '^index_copy_\(\): Source/destination tensor must have same slice shapes'
# frame = '^transformers/cache_utils\.py:\d+ in update$'
# [[signature]]
# type = "Bug"
# message = '^a StaticCache used again with a smaller batch'
# ///
"""After a reset a StaticCache must take a batch smaller than the first one."""

import casekit
import layerkit

FIRST, SECOND, TOKENS = 4, 2, 3


def run(device: str) -> None:
    cache = layerkit.static_cache((layerkit.FULL,))
    layerkit.fill(cache, FIRST, TOKENS, device)
    cache.reset()
    keys, values = layerkit.key_values(SECOND, TOKENS, device)
    found = layerkit.append(cache, keys, values, 0)
    for name, held, wanted in zip(("keys", "values"), found, (keys, values), strict=True):
        if not layerkit.same(held[:, :, :TOKENS], wanted):
            casekit.bug(f"a StaticCache used again with a smaller batch gives other {name} than were put in")


if __name__ == "__main__":
    casekit.main(run, __file__)
