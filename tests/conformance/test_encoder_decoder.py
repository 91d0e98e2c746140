# SPDX-License-Identifier: Apache-2.0
"""A cache of two: the decoder's own tokens grow, the encoder's stay."""

from typing import Any

import pytest
import torch
import transformers
from cachekit import (
    CACHES,
    DEVICE,
    FULL,
    MAX_LENGTH,
    Filled,
    cache_of,
    filled,
    key_values,
    mask_sizes,
    needs,
    needs_values,
    same,
)

ENCODED = 5


class Pair:
    """An encoder-decoder cache, and the truth of its decoder's and encoder's layers."""

    def __init__(self, kind: str, layers: int = 2) -> None:
        order = (FULL,) * layers
        cross = cache_of(kind, order) if kind == "dynamic" else static_cross(order)
        self.own = Filled(cache_of(kind, order), order)
        self.cache: Any = transformers.EncoderDecoderCache(self.own.cache, cross)
        self.encoded = {index: key_values(2, ENCODED) for index in range(layers)}

    def feed(self, tokens: int) -> None:
        self.own.feed(tokens)
        for index, (keys, values) in self.encoded.items():
            if not self.cache.is_updated.get(index):
                # Up to 5.3.0 a static layer takes tokens without positions for the first ones.
                self.cache.cross_attention_cache.update(keys, values, index)
                self.cache.is_updated[index] = True

    def select(self, indices: torch.Tensor) -> None:
        self.own.select(indices)
        self.encoded = {i: (keys[indices], values[indices]) for i, (keys, values) in self.encoded.items()}

    def check_encoded(self) -> None:
        for index, wanted in self.encoded.items():
            layer = self.cache.cross_attention_cache.layers[index]
            assert same(layer.keys, wanted[0]) and same(layer.values, wanted[1])


def static_cross(order: tuple[str, ...]) -> Any:
    config = transformers.T5Config(num_layers=len(order), num_decoder_layers=len(order))
    return transformers.StaticCache(config=config, max_cache_len=ENCODED)


by_kind = pytest.mark.parametrize("kind", CACHES)


@by_kind
def test_the_decoder_grows_and_the_encoder_stays(kind: str) -> None:
    pair = Pair(kind)
    for tokens in (1, 3, 1):
        pair.feed(tokens)
        pair.check_encoded()


@by_kind
def test_its_length_is_the_decoders(kind: str) -> None:
    needs_values()
    pair = Pair(kind)
    assert int(pair.cache.get_seq_length()) == 0
    pair.feed(3)
    assert int(pair.cache.get_seq_length()) == 3 == int(pair.cache.get_seq_length(1))
    assert len(pair.cache) == 2


@by_kind
def test_reorder(kind: str) -> None:
    pair = Pair(kind)
    pair.feed(3)
    beams = torch.tensor([1, 1], device=DEVICE)
    pair.cache.reorder_cache(beams)
    pair.select(beams)
    pair.check_encoded()
    pair.feed(1)


def test_repeat_and_select() -> None:
    pair = Pair("dynamic")
    pair.feed(3)
    pair.cache.batch_repeat_interleave(2)
    pair.select(torch.tensor([0, 0, 1, 1], device=DEVICE))
    pair.check_encoded()
    pair.feed(1)
    chosen = torch.tensor([3, 0], device=DEVICE)
    pair.cache.batch_select_indices(chosen)
    pair.select(chosen)
    pair.check_encoded()
    pair.feed(1)


def test_crop_leaves_the_encoder_alone() -> None:
    pair = Pair("dynamic")
    pair.feed(5)
    pair.cache.crop(-2)
    pair.own.drop_last(2)
    pair.check_encoded()
    pair.feed(1)


@by_kind
def test_a_crop_that_is_said_to_be_exact_is_not_refused(kind: str) -> None:
    pair = Pair(kind)
    pair.feed(5)
    needs(pair.cache, "is_croppable")
    if not pair.cache.is_croppable:
        pytest.skip("the cache says that it cannot be cropped")
    pair.cache.crop(-2)
    pair.own.drop_last(2)
    pair.feed(1)


@by_kind
def test_reset(kind: str) -> None:
    pair = Pair(kind)
    pair.feed(5)
    pair.cache.reset()
    assert not any(pair.cache.is_updated.values())
    pair.own = Filled(pair.own.cache, pair.own.layer_types)
    pair.encoded = {index: key_values(2, ENCODED) for index in pair.encoded}
    pair.feed(3)
    pair.check_encoded()


@pytest.mark.parametrize("encoded", [1, ENCODED])
@by_kind
def test_filled_caches_are_taken_as_they_are(kind: str, encoded: int) -> None:
    needs_values()
    own, cross = (filled(kind, (FULL, FULL), tokens).cache for tokens in (3, encoded))
    cache = transformers.EncoderDecoderCache(own, cross)
    assert cache.is_updated == {0: True, 1: True}
    assert int(cache.get_seq_length()) == 3


INHERITED = {"is_initialized": True, "batch_size": 2}


@pytest.mark.parametrize("name", INHERITED)
@by_kind
def test_what_it_inherits_can_be_asked(kind: str, name: str) -> None:
    pair = Pair(kind)
    pair.feed(3)
    needs(pair.cache, name)
    assert getattr(pair.cache, name) == INHERITED[name]


@pytest.mark.parametrize("name", ["is_sliding", "is_linear", "is_dummy", "is_compileable"])
@by_kind
def test_its_layers_are_of_the_kinds_of_the_decoders(kind: str, name: str) -> None:
    pair = Pair(kind)
    pair.feed(3)
    needs(pair.cache, name)
    assert getattr(pair.cache, name) == getattr(pair.own.cache, name)


def test_two_dynamic_ones_say_that_they_can_be_cropped() -> None:
    """What a static one says is held against what its crop does, above."""
    pair = Pair("dynamic")
    needs(pair.cache, "is_croppable")
    assert pair.cache.is_croppable is True


@by_kind
def test_its_masks_are_the_decoders(kind: str) -> None:
    pair = Pair(kind)
    pair.feed(3)
    assert mask_sizes(pair.cache, 1, 3, 2) == mask_sizes(pair.own.cache, 1, 3, 2)


@pytest.mark.parametrize("kinds", [("static", "static"), ("dynamic", "static"), ("static", "dynamic")], ids="-".join)
@pytest.mark.parametrize("operation", ["batch_repeat_interleave", "batch_select_indices"])
def test_what_a_static_one_cannot_do_is_refused_before_anything_changed(operation: str, kinds: tuple[str, str]) -> None:
    own, cross = (filled(kind, (FULL, FULL), 3) for kind in kinds)
    cache = transformers.EncoderDecoderCache(own.cache, cross.cache)
    argument = 2 if operation == "batch_repeat_interleave" else torch.tensor([1], device=DEVICE)
    with pytest.raises((TypeError, ValueError)):
        getattr(cache, operation)(argument)
    own.feed(1)
    cross.feed(1)


@by_kind
def test_its_limit_is_the_decoders(kind: str) -> None:
    cache = Pair(kind).cache
    new = hasattr(type(cache), "get_max_length")
    assert (cache.get_max_length() if new else cache.get_max_cache_shape()) == (MAX_LENGTH if kind == "static" else -1)


@pytest.mark.parametrize("wrong", [0, 1])
def test_what_is_no_cache_is_refused(wrong: int) -> None:
    pair: list[Any] = [cache_of("dynamic"), cache_of("dynamic")]
    pair[wrong] = (key_values(2, 1),)
    with pytest.raises(TypeError):
        transformers.EncoderDecoderCache(*pair)


@by_kind
def test_a_config_of_two_stands_for_its_decoder(kind: str) -> None:
    config = transformers.BartConfig(encoder_layers=1, decoder_layers=3)
    made = (
        transformers.DynamicCache(config=config) if kind == "dynamic" else transformers.StaticCache(config, MAX_LENGTH)
    )
    assert len(made) == 3
