# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "is-initialized-filled-linear"
# title = "is_initialized stays False for a filled cache without plain attention layers"
# references = ["huggingface/transformers#46439"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "is_initialized is False though every layer holds its state; AttributeError from 5.5.0 to 5.12.1."
# meanwhile = "Ask has_previous_state() of a cache of linear-attention layers."
# [[signature]]
# type = "Bug"
# message = '^is_initialized of a filled cache of (linear_attention|hybrid) layers'
# ///
"""A cache whose layers all hold their states must say that it is initialised."""

import casekit
import layerkit


def run(device: str) -> None:
    from transformers import DynamicCache

    if not hasattr(DynamicCache, "is_initialized"):
        casekit.absent("a cache has no is_initialized")
    for layer_type in (layerkit.LINEAR, "hybrid"):
        cache = layerkit.dynamic_cache((layer_type, layer_type))
        for layer_idx in range(2):
            put = layerkit.conv_state(2, layerkit.CONV_WIDTH, device), layerkit.numbered((2, 3, 4), device)
            held = cache.update_conv_state(put[0], layer_idx), cache.update_recurrent_state(put[1], layer_idx)
            casekit.require(all(map(layerkit.same, held, put)), "a layer does not hold the states that were put in")
            if layer_type == "hybrid":
                # idle: on each bad release linear-attention layers are told before these
                keys, _ = layerkit.fill(cache, 2, 3, device, layer_idx=layer_idx)
                casekit.require(keys.shape[-2] == 3, "a layer does not hold the tokens that were put in")
        try:
            found = cache.is_initialized
        except AttributeError as exc:
            # Told as a bug of its own: hybrid caches with plain attention layers raise the same words.
            found = f"AttributeError: {exc}"
        if found is not True:
            casekit.bug(f"is_initialized of a filled cache of {layer_type} layers is {found}")


if __name__ == "__main__":
    casekit.main(run, __file__)
