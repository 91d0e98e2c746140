# SPDX-License-Identifier: Apache-2.0
"""A reset cache is as good as a new one."""

import pytest
import torch
from cachekit import (
    CACHES,
    FULL,
    LINEAR,
    SLIDING,
    STATE,
    Filled,
    cache_of,
    filled,
    needs,
    needs_values,
    random,
    same,
    state_of,
)

ORDERS = {
    "full": (FULL,),
    "sliding": (SLIDING,),
    "full-sliding": (FULL, SLIDING),
    "full-linear": (FULL, LINEAR),
    "linear-full": (LINEAR, FULL),
}


@pytest.mark.parametrize("again", [(3,), (6, 1)], ids=["shorter", "longer"])
@pytest.mark.parametrize("first", [(3,), (5, 1)], ids=["after-few", "after-many"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", CACHES)
def test_the_same_updates_as_on_a_new_one(
    kind: str, order: str, first: tuple[int, ...], again: tuple[int, ...]
) -> None:
    used = filled(kind, ORDERS[order], *first)
    used.cache.reset()
    renewed = Filled(used.cache, used.layer_types)
    for tokens in again:
        renewed.feed(tokens)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", CACHES)
def test_its_length_is_nothing(kind: str, order: str) -> None:
    needs_values()
    made = filled(kind, ORDERS[order], 5, 1)
    made.cache.reset()
    assert int(made.cache.get_seq_length()) == 0


@pytest.mark.parametrize("order", ["full", "sliding", "full-sliding"])
@pytest.mark.parametrize("kind", CACHES)
def test_a_cache_that_saw_nothing(kind: str, order: str) -> None:
    made = Filled(cache_of(kind, ORDERS[order]), ORDERS[order])
    made.cache.reset()
    made.feed(3)


@pytest.mark.parametrize("kind", CACHES)
def test_a_linear_layer_has_no_previous_state(kind: str) -> None:
    made = filled(kind, (FULL, LINEAR), 3)
    needs(made.cache, "has_previous_state")
    assert made.cache.has_previous_state(1)
    made.cache.reset()
    assert not made.cache.has_previous_state(1)


@pytest.mark.parametrize("order", ["full", "sliding", "full-linear"])
def test_nothing_is_left_of_what_a_static_cache_held(order: str) -> None:
    """Its tensors stay, since compiled code writes to them; on a new one they are zero."""
    needs_values()
    made = filled("static", ORDERS[order], 5, 1)
    held = [made.cache.layers[0].keys, made.cache.layers[0].values]
    if LINEAR in ORDERS[order]:
        made.cache.update_recurrent_state(random(*STATE), 1)
        held += [state_of(made.cache.layers[1], "conv_states"), state_of(made.cache.layers[1], "recurrent_states")]
    assert all(bool(tensor.any()) for tensor in held)
    made.cache.reset()
    assert not any(bool(tensor.any()) for tensor in held)


@pytest.mark.parametrize("kind", CACHES)
def test_a_recurrent_state_is_replaced(kind: str) -> None:
    made = filled(kind, (FULL, LINEAR), 3)
    for _time in range(2):
        state = random(*STATE)
        assert same(made.cache.update_recurrent_state(state, 1), state)
    made.cache.reset()
    state = random(*STATE)
    assert same(made.cache.update_recurrent_state(state, 1), state)


@pytest.mark.parametrize("kind", CACHES)
def test_a_recurrent_state_keeps_its_type(kind: str) -> None:
    """Models keep it in float32 beside a convolution state in bfloat16."""
    cache = cache_of(kind, (LINEAR, FULL))
    cache.update_conv_state(random(2, 6, 3).to(torch.bfloat16), 0)
    state = random(*STATE)
    assert cache.update_recurrent_state(state, 0).dtype == torch.float32


@pytest.mark.parametrize("batch", [1, 3], ids=["smaller", "larger"])
@pytest.mark.parametrize("kind", CACHES)
def test_another_batch_size(kind: str, batch: int) -> None:
    """A new cache takes any batch."""
    used = filled(kind, (FULL,), 3)
    used.cache.reset()
    renewed = Filled(used.cache, (FULL,), batch)
    renewed.feed(3)
    renewed.feed(1)
