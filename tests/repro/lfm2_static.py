# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "lfm2-static"
# title = "cache_implementation='static' fails for LFM2, a hybrid of convolutions and full attention"
# references = ["huggingface/transformers#46441"]
# severity = "crash"
# time_limit = 60
# user_sees = "KeyError: 'conv' from generate."
# meanwhile = "Leave cache_implementation out: the default cache works."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "KeyError"
# message = "^'conv'$"
# [[signature]]
# type = "Bug"
# message = '^Lfm2: logits with a static cache differ'
# ///
"""generate with a static cache must give the logits that it gives with the default one."""

import casekit
import layerkit
import modelkit


def run(device: str) -> None:
    import transformers

    layer_types = ["conv", "full_attention", "conv"]
    config = modelkit.config_of("Lfm2", num_hidden_layers=3, layer_types=layer_types, conv_L_cache=3)
    model = modelkit.seeded("Lfm2ForCausalLM", config, device)
    layer = transformers.StaticCache(config=config, max_cache_len=layerkit.MAX_CACHE_LEN).layers[0]
    if not hasattr(layer, "update_conv_state"):
        casekit.absent(f"StaticCache has no layers of convolutions: it puts a {type(layer).__name__} in their place")
    ids = modelkit.tokens(1, 7, device)
    wanted = modelkit.greedy(model, ids, 4)
    found = modelkit.greedy(model, ids, 4, cache_implementation="static", disable_compile=True)
    apart = modelkit.difference(found, wanted)
    if apart > modelkit.ROUNDING:
        casekit.bug(f"Lfm2: logits with a static cache differ by {apart:.3g} of their spread")


if __name__ == "__main__":
    casekit.main(run, __file__)
