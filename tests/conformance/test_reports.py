# SPDX-License-Identifier: Apache-2.0
"""What a cache says of itself is true: lengths, limits, batch size, kinds of layers."""

from typing import Any

import pytest
import torch
import transformers
from cachekit import (
    CACHES,
    DEVICE,
    FULL,
    LINEAR,
    MAX_LENGTH,
    SLIDING,
    WINDOW,
    Filled,
    cache_of,
    filled,
    mask_sizes,
    needs,
    needs_values,
)

ORDERS = {
    "full": (FULL,),
    "sliding": (SLIDING,),
    "full-sliding": (FULL, SLIDING),
    "full-linear": (FULL, LINEAR),
    "linear-full": (LINEAR, FULL),
    "linear-sliding": (LINEAR, SLIDING),
}
by_kind = pytest.mark.parametrize("kind", CACHES)
by_order = pytest.mark.parametrize("order", ORDERS)


@by_order
@by_kind
def test_length_counts_every_token(kind: str, order: str) -> None:
    needs_values()
    made = Filled(cache_of(kind, ORDERS[order]), ORDERS[order])
    total = 0
    assert int(made.cache.get_seq_length()) == total
    for tokens in (3, 1, 1, 1):
        made.feed(tokens)
        total += tokens
        assert int(made.cache.get_seq_length()) == total
        for index in made.truths:
            assert int(made.cache.get_seq_length(index)) == total


@by_kind
@pytest.mark.parametrize("order", ["full", "sliding"])
def test_a_length_that_was_read_stays_what_it_was(kind: str, order: str) -> None:
    needs_values()
    made = filled(kind, ORDERS[order], 3)
    read = made.cache.get_seq_length()
    made.feed(1)
    assert int(read) == 3


@by_kind
@pytest.mark.parametrize("order", ["full", "sliding"])
def test_a_length_is_one_number(kind: str, order: str) -> None:
    length = filled(kind, ORDERS[order], 3).cache.get_seq_length()
    assert tuple(getattr(length, "shape", ())) == ()


@pytest.mark.parametrize("index", [1, 7], ids=["next", "later"])
@by_kind
def test_a_layer_that_is_not_there_is_empty(kind: str, index: int) -> None:
    cache = filled(kind, (FULL,), 3).cache
    assert int(cache.get_seq_length(index)) == 0
    assert mask_sizes(cache, index, 0, 3) == (3, 0)
    assert limit(cache, index) == -1


@by_kind
def test_a_layer_that_is_not_there_has_no_previous_state(kind: str) -> None:
    cache = filled(kind, (FULL, LINEAR), 3).cache
    needs(cache, "has_previous_state")
    assert not cache.has_previous_state(2)


@by_kind
def test_a_linear_layer_knows_the_type_and_device_of_its_states(kind: str) -> None:
    layer = filled(kind, (FULL, LINEAR), 3).cache.layers[1]
    assert (layer.dtype, layer.device) == (torch.float32, torch.empty(0, device=DEVICE).device)


def limit(cache: Any, *layer: int) -> int:
    """The most tokens that it holds, by either name; -1 for no limit."""
    new = hasattr(type(cache), "get_max_length")
    return int(cache.get_max_length(*layer) if new else cache.get_max_cache_shape(*layer))


@pytest.mark.parametrize("kind", CACHES)
def test_limits(kind: str) -> None:
    cache = cache_of(kind, (FULL, SLIDING))
    assert limit(cache, 0) == (MAX_LENGTH if kind == "static" else -1)
    assert limit(cache, 1) == WINDOW


@by_kind
def test_a_linear_layer_has_no_limit(kind: str) -> None:
    cache = cache_of(kind, (FULL, LINEAR))
    needs(cache.layers[1], "get_max_length")
    assert limit(cache, 1) == -1


@by_order
def test_the_limit_of_a_static_cache(order: str) -> None:
    cache = cache_of("static", ORDERS[order])
    wanted = MAX_LENGTH if FULL in ORDERS[order] else WINDOW
    if hasattr(type(cache), "get_max_length"):
        assert cache.get_max_length() == wanted
    else:
        needs(cache, "max_cache_len")
        assert cache.max_cache_len == wanted


def batch_size(cache: Any) -> int:
    if hasattr(type(cache), "batch_size"):
        return int(cache.batch_size)
    needs(cache, "max_batch_size")
    return int(cache.max_batch_size)


@by_order
def test_the_batch_size_of_a_static_cache(order: str) -> None:
    assert batch_size(filled("static", ORDERS[order], 3, batch=3).cache) == 3


@by_order
def test_the_batch_size_of_a_fresh_static_cache_can_be_asked(order: str) -> None:
    """There is none yet: -1, or at least no error, since generation asks a cache that it is given."""
    assert batch_size(cache_of("static", ORDERS[order])) <= 0


@by_kind
def test_layers_of_two_batch_sizes_have_none_in_common(kind: str) -> None:
    cache = cache_of(kind, (FULL, LINEAR))
    cache.layers[0].batch_size, cache.layers[1].batch_size = 2, 3
    cache.layers[0].max_batch_size, cache.layers[1].max_batch_size = 2, 3
    with pytest.raises(ValueError):
        batch_size(cache)


@by_kind
def test_a_fresh_cache_has_no_batch_size(kind: str) -> None:
    cache = cache_of(kind)
    needs(cache, "batch_size")
    assert cache.batch_size == -1


def test_a_cache_without_layers_is_not_initialised() -> None:
    cache = transformers.DynamicCache()
    needs(cache, "is_initialized")
    assert not cache.is_initialized


@by_order
def test_the_batch_size_of_a_dynamic_cache(order: str) -> None:
    """-1 stands for a cache in which nothing was initialised yet."""
    made = filled("dynamic", ORDERS[order], 3, batch=3)
    needs(made.cache, "batch_size")
    assert made.cache.batch_size == 3


@by_order
@by_kind
def test_initialised_or_not(kind: str, order: str) -> None:
    made = Filled(cache_of(kind, ORDERS[order]), ORDERS[order])
    needs(made.cache, "is_initialized")
    assert not made.cache.is_initialized
    made.feed(3)
    assert made.cache.is_initialized
    made.feed(1)
    assert made.cache.is_initialized


@by_order
@by_kind
def test_kinds_of_layers(kind: str, order: str) -> None:
    cache = cache_of(kind, ORDERS[order])
    assert len(cache) == len(ORDERS[order])
    assert cache.is_sliding == [layer_type == SLIDING for layer_type in ORDERS[order]]


@by_order
@by_kind
def test_which_layers_are_linear(kind: str, order: str) -> None:
    cache = cache_of(kind, ORDERS[order])
    needs(cache, "is_linear")
    assert cache.is_linear == [layer_type == LINEAR for layer_type in ORDERS[order]]


@by_kind
def test_which_layers_record_their_past(kind: str) -> None:
    cache = cache_of(kind, (FULL, LINEAR))
    needs(cache, "is_recording_past")
    assert [cache.is_recording_past(index) for index in (0, 1)] == [False, False]
    cache.activate_past_recording()
    assert [cache.is_recording_past(index) for index in (0, 1)] == [False, True]


@by_order
@by_kind
def test_its_text_names_its_layers(kind: str, order: str) -> None:
    cache = cache_of(kind, ORDERS[order])
    assert all(type(layer).__name__ in repr(cache) for layer in cache.layers)


@by_order
@by_kind
def test_only_a_static_cache_can_be_compiled(kind: str, order: str) -> None:
    made = filled(kind, ORDERS[order], 3)
    assert made.cache.is_compileable is (kind == "static")
