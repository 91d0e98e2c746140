# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "hybrid-static-crop"
# title = "crop of a layer of linear and static attention takes tokens back from the convolution state only"
# references = ["huggingface/transformers#47950"]
# severity = "wrong-result"
# time_limit = 60
# open = true
# user_sees = "Tokens that were taken back are attended to all the same; no error."
# meanwhile = "Use a DynamicCache where tokens have to be taken back."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^crop\(-2\) of a layer of linear and static attention leaves \d+ of 5 tokens'
# ///
"""A layer with a convolution state and static keys must take tokens back from both."""

import casekit
import layerkit

WIDTH, TOKENS = layerkit.CONV_WIDTH, 5


def run(device: str) -> None:
    try:
        cache = layerkit.static_cache(("hybrid",))
    except Exception as exc:
        # On the commits on which a static cache takes its layers from a mapping that lacks this one, it is a KeyError.
        if "layer_types" in str(exc) or exc.args == ("hybrid",):
            casekit.absent(f"there is no such layer: {exc!r}")
        raise
    if not hasattr(cache.layers[0], "update_conv_state"):
        casekit.absent(f"a StaticCache has no such layers: it puts a {type(cache.layers[0]).__name__} in their place")
    cache.activate_past_recording()
    state = layerkit.conv_state(2, TOKENS, device)
    cache.update_conv_state(state, 0, conv_kernel_size=WIDTH)
    keys, values = layerkit.key_values(2, TOKENS, device)
    cache.update(keys, values, 0)
    casekit.require((length := int(cache.get_seq_length())) == TOKENS, f"{length} tokens are held before the crop")
    cache.crop(-2)
    length = int(cache.get_seq_length())
    held, _ = cache.update(keys[:, :, :1], values[:, :, :1], 0)
    window = cache.update_conv_state(state[..., :1], 0)[..., :-1]
    casekit.require(layerkit.same(window[..., -3:], state[..., :3]), "the convolution state is not that of the tokens")
    if length != 3 or not layerkit.same(held[:, :, 3:4], keys[:, :, :1]):
        casekit.bug(f"crop(-2) of a layer of linear and static attention leaves {length} of 5 tokens")


if __name__ == "__main__":
    casekit.main(run, __file__)
