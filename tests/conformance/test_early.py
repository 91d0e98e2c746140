# SPDX-License-Identifier: Apache-2.0
"""Early initialisation, as export needs it, is as good as the lazy one that the first update does."""

import pytest
import torch
from cachekit import (
    DEVICE,
    FULL,
    HEAD_DIM,
    HEADS,
    LINEAR,
    MAX_LENGTH,
    SLIDING,
    WINDOW,
    Filled,
    cache_of,
    filled,
    needs,
    needs_values,
)

ORDERS = {
    "full": (FULL,),
    "sliding": (SLIDING,),
    "full-sliding": (FULL, SLIDING),
    "sliding-full": (SLIDING, FULL),
    "full-linear": (FULL, LINEAR),
    "linear-full": (LINEAR, FULL),
    "sliding-linear": (SLIDING, LINEAR),
    "full-linear-full": (FULL, LINEAR, FULL),
    "linear-linear-sliding-full": (LINEAR, LINEAR, SLIDING, FULL),
}
by_order = pytest.mark.parametrize("order", ORDERS)


def initialise(made: Filled) -> None:
    made.cache.early_initialization(
        batch_size=made.batch, num_heads=HEADS, head_dim=HEAD_DIM, dtype=torch.float32, device=torch.device(DEVICE)
    )


@by_order
def test_the_same_updates_as_on_a_lazy_one(order: str) -> None:
    made = filled("static", ORDERS[order])
    initialise(made)
    made.feed(3)
    made.feed(1)
    made.feed(1)


@by_order
def test_every_attention_layer_is_there(order: str) -> None:
    made = filled("static", ORDERS[order])
    initialise(made)
    for index, layer_type in enumerate(ORDERS[order]):
        if layer_type != LINEAR:
            length = WINDOW if layer_type == SLIDING else MAX_LENGTH
            assert made.cache.layers[index].keys.shape == (made.batch, HEADS, length, HEAD_DIM)


@by_order
def test_its_length_is_nothing(order: str) -> None:
    needs_values()
    made = filled("static", ORDERS[order])
    initialise(made)
    assert int(made.cache.get_seq_length()) == 0


@by_order
def test_done_again_it_keeps_what_is_there(order: str) -> None:
    made = filled("static", ORDERS[order], 3)
    initialise(made)
    made.feed(1)


@by_order
def test_it_says_that_it_is_initialised(order: str) -> None:
    made = filled("static", ORDERS[order])
    needs(made.cache, "is_initialized")
    initialise(made)
    assert made.cache.is_initialized


@by_order
def test_a_reset_keeps_it_initialised(order: str) -> None:
    made = Filled(cache_of("static", ORDERS[order]), ORDERS[order])
    initialise(made)
    made.cache.reset()
    made.feed(3)
    made.feed(1)
