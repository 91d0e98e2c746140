# SPDX-License-Identifier: Apache-2.0
"""Caches of layers of several kinds, in every order: what holds of one layer holds beside the others."""

from itertools import permutations, product
from typing import Any

import pytest
import torch
from cachekit import CACHES, DEVICE, FULL, LINEAR, SLIDING, STATE, cache_of, filled, mask_sizes, random, same

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
        assert same(recurrent(made.cache.layers[index]), state[beams])


def recurrent(layer: Any) -> torch.Tensor:
    """A layer's only recurrent state: in some releases a dict holds it."""
    state = layer.recurrent_states
    found = state[0] if isinstance(state, dict) else state
    assert isinstance(found, torch.Tensor)
    return found


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
