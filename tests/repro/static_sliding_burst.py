# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "static-sliding-burst"
# title = "Several tokens at once do not fit into a static sliding-window layer that is full"
# references = []
# severity = "crash"
# time_limit = 60
# user_sees = "RuntimeError: shape mismatch, when several tokens follow a prompt as long as the window."
# meanwhile = "Give the tokens after the prompt one at a time, or use the default cache."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^\d tokens after \d in a static layer with a window of 4'
# ///
"""A full window must take several tokens at once, and hand them out behind those that their queries still see."""

import casekit
import layerkit


def run(device: str) -> None:
    import torch
    import transformers

    # 5.0.0 renamed the class.
    config_class = getattr(transformers, "PreTrainedConfig", None) or transformers.PretrainedConfig
    window, layer_types = layerkit.WINDOW, ["sliding_attention"]
    config = config_class(num_hidden_layers=1, layer_types=layer_types, sliding_window=window)
    for held, burst in ((window, 3), (window + 1, 6)):
        cache = transformers.StaticCache(config=config, max_cache_len=layerkit.MAX_CACHE_LEN)
        keys = layerkit.numbered((2, layerkit.HEADS, held + burst, layerkit.HEAD_DIM), device)
        layerkit.append(cache, keys[:, :, :held], -keys[:, :, :held], 0)
        told = f"{burst} tokens after {held} in a static layer with a window of {window}"
        try:
            found, _ = layerkit.append(cache, keys[:, :, held:], -keys[:, :, held:], held)
        except (IndexError, RuntimeError) as exc:
            casekit.bug(f"{told}: {exc}")
        # The first of the new tokens attends to itself and to the window - 1 before it.
        seen = burst + window - 1
        if not torch.equal(found[:, :, -seen:], keys[:, :, -seen:]):
            casekit.bug(f"{told}: other tokens come back")


if __name__ == "__main__":
    casekit.main(run, __file__)
