# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "qwen35-static"
# title = "cache_implementation='static' fails for a hybrid of linear and full attention"
# references = ["huggingface/transformers#46441"]
# severity = "crash"
# time_limit = 60
# user_sees = "KeyError: 'linear_attention' from generate."
# meanwhile = "Leave cache_implementation out: the default cache works."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "KeyError"
# message = "^'linear_attention'$"
# [[signature]]
# type = "Bug"
# message = '^Qwen3.5: logits with a static cache differ'
# ///
"""generate with a static cache must give the logits that it gives with the default one, also on a second call.

Elsewhere found good from 5.2.0 to 5.4.0; measured absent: what generate returns there is the model's own dynamic
cache, so that no static one was tried.
"""

import casekit
import modelkit


def run(device: str) -> None:
    import transformers

    config = modelkit.config_of(
        "Qwen3_5Text", num_hidden_layers=3, layer_types=["full_attention", "linear_attention", "full_attention"],
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8,
    )  # fmt: skip
    model = modelkit.seeded("Qwen3_5ForCausalLM", config, device)
    ids = modelkit.tokens(1, 7, device)
    wanted = modelkit.greedy(model, ids, 4)
    made = model.generate(
        ids, max_new_tokens=4, do_sample=False, cache_implementation="static", return_dict_in_generate=True
    )
    if not isinstance(modelkit.cache_in(made), transformers.StaticCache):
        casekit.absent("cache_implementation='static' is passed over for this model")
    found = modelkit.greedy(model, ids, 4, cache_implementation="static")
    apart = modelkit.difference(found, wanted)
    if apart > modelkit.ROUNDING:
        casekit.bug(f"Qwen3.5: logits with a static cache differ by {apart:.3g} of their spread")


if __name__ == "__main__":
    casekit.main(run, __file__)
