# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-value-width"
# title = "A static layer takes no values of another width than the keys"
# references = []
# severity = "crash"
# time_limit = 60
# user_sees = "RuntimeError: index_copy_(): Source/destination tensor must have same slice shapes, in latent attention."
# meanwhile = "Use the default cache."
# [[signature]]
# type = "Bug"
# message = '^values 3 wider than the keys are refused by a static layer: index_copy_\(\): Source/destination'
# ///
"""Keys and values of different widths, as models with latent attention have them, must both be held."""

import casekit
import layerkit

WIDER = 3


def run(device: str) -> None:
    cache = layerkit.static_cache((layerkit.FULL,))
    keys, _ = layerkit.key_values(2, 3, device)
    values = layerkit.numbered((2, layerkit.HEADS, 3, layerkit.HEAD_DIM + WIDER), device)
    try:
        found = layerkit.append(cache, keys, values, 0)
    except RuntimeError as exc:
        # Told as a bug of its own: other batch sizes raise the same words.
        casekit.bug(f"values {WIDER} wider than the keys are refused by a static layer: {exc}")
    for name, held, wanted in zip(("keys", "values"), found, (keys, values), strict=True):
        casekit.require(layerkit.same(held[:, :, :3], wanted), f"other {name} come back than were put in")


if __name__ == "__main__":
    casekit.main(run, __file__)
