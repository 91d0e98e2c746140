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
# type = "Bug"
# message = '^a StaticCache used again with a smaller batch'
# ///
"""After a reset a StaticCache must take a batch smaller than the first one."""

import casekit
import layerkit

FIRST, SECOND, TOKENS = 4, 2, 3


FIRST, SECOND, TOKENS = 4, 2, 3


def wrong(batch_size: int, device: str) -> str:
    """What is wrong with a StaticCache that held FIRST sequences, was reset, and takes `batch_size`; "" if nothing."""
    cache = layerkit.static_cache((layerkit.FULL,))
    layerkit.fill(cache, FIRST, TOKENS, device)
    cache.reset()
    values, keys = layerkit.key_values(batch_size, TOKENS, device)  # others than those that it held
    try:
        found = layerkit.append(cache, keys, values, 0)
    except RuntimeError as exc:
        return f"RuntimeError: {exc}"
    right = all(layerkit.same(held[:, :, :TOKENS], put) for held, put in zip(found, (keys, values), strict=True))
    return "" if right else "it gives other keys and values than were put in"


def run(device: str) -> None:
    casekit.require((same := wrong(FIRST, device)) == "", f"with a batch of the same size: {same}")
    if found := wrong(SECOND, device):
        casekit.bug(f"a StaticCache used again with a smaller batch: {found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
