# SPDX-License-Identifier: Apache-2.0
"""Caches of layers of several kinds, in every order: what holds of one layer holds beside the others."""

from itertools import permutations, product

import pytest
import torch
import transformers
from cachekit import (
    CACHES,
    DEVICE,
    FULL,
    HEAD_DIM,
    HEADS,
    LINEAR,
    MAX_LENGTH,
    SLIDING,
    STATE,
    Filled,
    cache_of,
    config,
    filled,
    mask_sizes,
    needs,
    random,
    same,
    state_of,
)

SHORT = {FULL: "full", SLIDING: "sliding", LINEAR: "linear"}
PAIRS = [order for order in product((FULL, SLIDING, LINEAR), repeat=2) if len(set(order)) == 2]
ORDERS = [*PAIRS, *permutations((FULL, SLIDING, LINEAR)), (LINEAR, LINEAR, FULL), (FULL, LINEAR, LINEAR, SLIDING)]
by_order = pytest.mark.parametrize("order", ORDERS, ids=["-".join(SHORT[kind] for kind in order) for order in ORDERS])
by_kind = pytest.mark.parametrize("kind", CACHES)
with_linear = pytest.mark.parametrize(
    "order",
    [order for order in ORDERS if LINEAR in order],
    ids=["-".join(SHORT[kind] for kind in order) for order in ORDERS if LINEAR in order],
)


@by_order
@by_kind
def test_every_layer_gets_its_own(kind: str, order: tuple[str, ...]) -> None:
    filled(kind, order, 3, 1, 1, 1)
    filled(kind, order, 6, 1)


@by_order
@by_kind
def test_chunks_after_a_prefill(kind: str, order: tuple[str, ...]) -> None:
    filled(kind, order, 3, 2, 4, 1)


@by_order
@by_kind
def test_masks_by_the_default_layer(kind: str, order: tuple[str, ...]) -> None:
    """Asked of layer 0, whatever that is, a cache answers for its first attention layer."""
    made = filled(kind, order, 3)
    first = next(iter(made.truths))
    assert mask_sizes(made.cache, 0, 3, 2) == mask_sizes(made.cache, first, 3, 2)


@by_order
@by_kind
def test_reorder(kind: str, order: tuple[str, ...]) -> None:
    made = filled(kind, order, 5, batch=3)
    beams = torch.tensor([1, 1, 0], device=DEVICE)
    made.cache.reorder_cache(beams)
    made.select(beams)
    made.feed(1)


@by_order
@by_kind
def test_a_fresh_cache_can_be_reordered(kind: str, order: tuple[str, ...]) -> None:
    made = filled(kind, order, batch=3)
    made.cache.reorder_cache(torch.tensor([1, 1, 0], device=DEVICE))
    made.feed(2)


@with_linear
@by_kind
def test_a_previous_state_is_known(kind: str, order: tuple[str, ...]) -> None:
    made = filled(kind, order)
    assert not made.cache.has_previous_state()
    made.feed(3)
    assert made.cache.has_previous_state()
    for index in made.windows:
        assert made.cache.has_previous_state(index)


@with_linear
@by_kind
def test_recurrent_states_follow_the_beams(kind: str, order: tuple[str, ...]) -> None:
    made = filled(kind, order, 3)
    states = {index: random(*STATE) for index in made.windows}
    for index, state in states.items():
        made.cache.update_recurrent_state(state, index)
    beams = torch.tensor([1, 1], device=DEVICE)
    made.cache.reorder_cache(beams)
    for index, state in states.items():
        assert same(state_of(made.cache.layers[index], "recurrent_states"), state[beams])


@by_kind
def test_a_cache_of_linear_layers_alone(kind: str) -> None:
    made = filled(kind, (LINEAR, LINEAR))
    for tokens in (3, 1, 2):
        for index in (0, 1):
            made.feed_linear(index, tokens)
    beams = torch.tensor([1, 0], device=DEVICE)
    made.cache.reorder_cache(beams)
    made.select(beams)
    made.feed_linear(0, 1)
    made.cache.reset()
    assert not made.cache.has_previous_state()


@by_kind
def test_attention_calls_on_linear_layers_are_refused(kind: str) -> None:
    cache = cache_of(kind, (FULL, LINEAR))
    with pytest.raises(ValueError):
        cache.get_seq_length(1)
    with pytest.raises(ValueError):
        cache.update_conv_state(random(2, 6, 3), 0)


@by_kind
def test_a_convolution_state_can_be_asked_for(kind: str) -> None:
    """None where the layer has seen nothing, or nothing since a reset."""
    made = filled(kind, (FULL, LINEAR))
    needs(made.cache, "get_conv_state")
    assert made.cache.get_conv_state(1) is None
    made.feed(3)
    assert same(made.cache.get_conv_state(1), made.windows[1])
    with pytest.raises(ValueError):
        made.cache.get_conv_state(0)
    made.cache.reset()
    assert made.cache.get_conv_state(1) is None


@by_kind
def test_a_layer_may_have_two_states(kind: str) -> None:
    settings = config((FULL, LINEAR))
    settings.number_of_conv_states = 2
    cache = transformers.DynamicCache(config=settings)
    if kind == "static":
        cache = transformers.StaticCache(config=settings, max_cache_len=MAX_LENGTH)
    if not hasattr(cache.layers[1], "number_of_states"):
        pytest.skip("a linear layer has one state of each kind in this release")
    first, second = random(2, 6, 3), random(2, 6, 3)
    assert same(cache.update_conv_state(first, 1, state_idx=0), first)
    assert not cache.has_previous_state(1)
    assert same(cache.update_conv_state(second, 1, state_idx=1), second)
    assert cache.has_previous_state(1)
    assert same(cache.layers[1].conv_states[0], first) and same(cache.layers[1].conv_states[1], second)


@by_kind
def test_layers_without_attention_need_no_cache(kind: str) -> None:
    if not hasattr(transformers.cache_utils, "DummyLayer"):
        pytest.skip("there is no DummyLayer in this release")
    cache = transformers.DynamicCache(config=config((FULL, "moe")))
    if kind == "static":
        cache = transformers.StaticCache(config=config((FULL, "moe")), max_cache_len=MAX_LENGTH)
    assert not cache.is_initialized
    made = Filled(cache, (FULL,))
    made.feed(3)
    assert cache.is_initialized
    assert cache.is_compileable is (kind == "static")
    assert cache.is_dummy == [False, True]
    assert cache.is_linear == [False, False]
    needs(cache, "is_croppable")
    assert cache.is_croppable is True
    cache.crop(-2)
    made.drop_last(2)
    made.feed(1)


def test_layers_without_attention_are_passed_over_when_initialised_early() -> None:
    if not hasattr(transformers.cache_utils, "DummyLayer"):
        pytest.skip("there is no DummyLayer in this release")
    cache = transformers.StaticCache(config=config((FULL, "moe")), max_cache_len=MAX_LENGTH)
    cache.early_initialization(2, HEADS, HEAD_DIM, torch.float32, torch.device(DEVICE))
    assert cache.is_initialized
    Filled(cache, (FULL,)).feed(3)
