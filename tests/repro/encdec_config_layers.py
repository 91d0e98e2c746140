# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "encdec-config-layers"
# title = "A cache made by the config of an encoder-decoder has as many layers as the encoder"
# references = []
# severity = "wrong-result"
# time_limit = 60
# user_sees = "A cache with the encoder's number of layers where encoder and decoder differ; no error at first."
# meanwhile = "Make a DynamicCache without a config: it makes its layers as they come."
# [[signature]]
# type = "Bug"
# message = '^a (Dynamic|Static)Cache for 1 encoder and 3 decoder layers has 1$'
# ///
"""A cache is the decoder's, so it must have a layer for each of the decoder's."""

import casekit
import layerkit

ENCODER, DECODER = 1, 3


def run(device: str) -> None:
    import transformers

    config = transformers.BartConfig(encoder_layers=ENCODER, decoder_layers=DECODER)
    for made in (
        transformers.DynamicCache(config=config),
        transformers.StaticCache(config=config, max_cache_len=layerkit.MAX_CACHE_LEN),
    ):
        if len(made) != DECODER:
            kind = type(made).__name__
            casekit.bug(f"a {kind} for {ENCODER} encoder and {DECODER} decoder layers has {len(made)}")


if __name__ == "__main__":
    casekit.main(run, __file__)
