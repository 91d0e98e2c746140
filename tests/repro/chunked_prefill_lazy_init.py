# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "chunked-prefill-lazy-init"
# title = "With prefill_chunk_size the first chunk, which is compiled, gets a static cache that is not initialised"
# references = ["huggingface/transformers#46421"]
# severity = "slow"
# time_limit = 60
# user_sees = "The compiled forward is compiled again in the second call, or cudagraphs are skipped."
# meanwhile = "Call early_initialization on a StaticCache of your own, and hand it to generate."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "Bug"
# message = '^the first compiled chunk of the prefill gets a StaticCache without its tensors'
# ///
"""What generate compiles must get a cache whose tensors are there already: their addresses are part of the graph.

Elsewhere found absent up to 4.56.2 and from 5.0.0 to 5.2.0; measured bad there too: 4.56 has no is_initialized to
ask, but its layers have no tensors either, and the first chunk comes before chunked-prefill-static ends such a
prefill.
"""

import casekit
import modelkit


def run(device: str) -> None:
    from transformers import CompileConfig

    model = modelkit.decoder("Llama", device)
    seen = []

    def compiled(**inputs: object) -> object:
        cache = modelkit.cache_in(inputs)
        casekit.require(type(cache).__name__ == "StaticCache", f"the compiled forward got {type(cache).__name__}")
        seen.append(inputs["input_ids"].shape[1])
        if any(layer.keys is None for layer in cache.layers):
            casekit.bug("the first compiled chunk of the prefill gets a StaticCache without its tensors")
        return model(**inputs)

    # What is compiled matters here, not the compiler; the switch has generate compile on every device.
    model.get_compiled_call = lambda config: compiled
    config = CompileConfig()
    config._compile_all_devices = True
    modelkit.greedy(
        model, modelkit.tokens(1, 9, device), 2,
        cache_implementation="static", prefill_chunk_size=4, compile_config=config,
    )  # fmt: skip
    casekit.require(seen[:1] == [4], f"of the prompt in chunks of 4 tokens, what is compiled got {seen}")


if __name__ == "__main__":
    casekit.main(run, __file__)
