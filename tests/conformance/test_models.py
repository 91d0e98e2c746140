# SPDX-License-Identifier: Apache-2.0
"""Models compute the same with a cache as without one."""

from typing import Any

import pytest
import torch
import transformers
from cachekit import CACHES, MAX_LENGTH
from models import DECODERS, close, model, tokens

SPLITS = {"tokens": (6, 1, 1, 1), "bursts": (6, 2, 3)}
by_name = pytest.mark.parametrize("name", DECODERS)


def cache_for(made: Any, kind: str) -> Any:
    """None where the model makes its own, which is how generation begins; or a static one."""
    if kind == "dynamic":
        return None
    cache = transformers.StaticCache(config=made.config, max_cache_len=MAX_LENGTH)
    layer_types = getattr(made.config, "layer_types", None) or []
    for layer, layer_type in zip(cache.layers, layer_types, strict=False):
        if layer_type in ("linear_attention", "conv") and not hasattr(layer, "update_conv_state"):
            pytest.skip("a static cache has no linear-attention layers in this release")
    return cache


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", CACHES)
@by_name
def test_forward_in_chunks(name: str, kind: str, split: str) -> None:
    made, words = model(name), tokens(2, sum(SPLITS[split]))
    with torch.no_grad():
        wanted = made(words, use_cache=False).logits
        cache, found = cache_for(made, kind), []
        for chunk in words.split(SPLITS[split], dim=1):
            out = made(chunk, past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            found.append(out.logits)
    for number, (chunk_found, chunk_wanted) in enumerate(zip(found, wanted.split(SPLITS[split], dim=1), strict=True)):
        assert close(chunk_found, chunk_wanted), f"the logits of chunk {number} differ"


def generated(name: str, **options: Any) -> list[list[int]]:
    """Tokens that a model generates after a fixed prompt."""
    made = model(name)
    torch.manual_seed(11)
    words = tokens(2, 6)
    settings = {"max_new_tokens": 7, "do_sample": False, "disable_compile": True, **options}
    with torch.no_grad():
        rows: list[list[int]] = made.generate(words, attention_mask=torch.ones_like(words), **settings).tolist()
    return rows


@by_name
def test_greedy_generation_with_the_default_cache(name: str) -> None:
    assert generated(name) == generated(name, use_cache=False)


@by_name
def test_greedy_generation_with_a_static_cache(name: str) -> None:
    cache_for(model(name), "static")
    assert generated(name, cache_implementation="static") == generated(name, use_cache=False)


@by_name
def test_beam_search(name: str) -> None:
    assert generated(name, num_beams=3) == generated(name, num_beams=3, use_cache=False)


@by_name
def test_a_left_padded_prompt(name: str) -> None:
    """What stands before a prompt changes nothing, with a cache or without."""
    made, words = model(name), tokens(1, 6)
    padded = torch.cat([torch.zeros_like(words[:, :2]), words], dim=1)
    mask = (padded != 0).long()
    settings = {"max_new_tokens": 5, "do_sample": False}
    with torch.no_grad():
        alone = made.generate(words, attention_mask=torch.ones_like(words), **settings)
        beside = made.generate(padded, attention_mask=mask, **settings)
    assert beside[0, 2:].tolist() == alone[0].tolist()


@by_name
def test_generation_goes_on_from_a_cache(name: str) -> None:
    """A second turn on the cache of the first is what one turn over both gives."""
    made, words = model(name), tokens(1, 6)
    settings = {"max_new_tokens": 4, "do_sample": False, "return_dict_in_generate": True}
    with torch.no_grad():
        first = made.generate(words, attention_mask=torch.ones_like(words), **settings)
        both = torch.cat([first.sequences, tokens(1, 3)], dim=1)
        mask = torch.ones_like(both)
        second = made.generate(both, attention_mask=mask, past_key_values=first.past_key_values, **settings)
        wanted = made.generate(both, attention_mask=mask, use_cache=False, **settings)
    assert second.sequences.tolist() == wanted.sequences.tolist()


@pytest.mark.parametrize("options", [{}, {"cache_implementation": "static"}], ids=CACHES)
def test_an_encoder_decoder(options: dict[str, Any]) -> None:
    assert generated("bart", **options) == generated("bart", use_cache=False)


def test_beam_search_of_an_encoder_decoder() -> None:
    assert generated("bart", num_beams=3) == generated("bart", num_beams=3, use_cache=False)
