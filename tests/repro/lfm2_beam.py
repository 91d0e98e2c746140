# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "lfm2-beam"
# title = "Beam search with LFM2 fails as it reorders the empty keys of convolution layers"
# references = []
# severity = "crash"
# time_limit = 60
# user_sees = "IndexError: index out of range in self, from generate with num_beams."
# meanwhile = "Search without beams, or with use_cache=False."
# devices = ["cpu", "cuda", "mps", "xpu"]
# [[signature]]
# type = "IndexError"
# message = '^index out of range in self$'
# frame = '^transformers/models/lfm2/modeling_lfm2\.py:\d+ in reorder_cache$'
# ///
"""Beam search must find the same tokens with a cache as without one."""

import casekit
import modelkit


def run(device: str) -> None:
    layer_types = ["conv", "full_attention", "conv"]
    model = modelkit.decoder("Lfm2", device, num_hidden_layers=3, layer_types=layer_types, conv_L_cache=3)
    ids = modelkit.tokens(2, 6, device)
    options = {"max_new_tokens": 5, "do_sample": False, "num_beams": 3}
    found, wanted = (model.generate(ids, use_cache=cached, **options).tolist() for cached in (True, False))
    casekit.require(found == wanted, "beam search finds other tokens with a cache than without")


if __name__ == "__main__":
    casekit.main(run, __file__)
