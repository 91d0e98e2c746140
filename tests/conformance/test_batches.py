# SPDX-License-Identifier: Apache-2.0
"""Operations on the batch agree with the same operations on tensors, as seen by the next update."""

import pytest
import torch
from cachekit import CACHES, DEVICE, FULL, LINEAR, SLIDING, Filled, filled, needs

ORDERS = {
    "full": (FULL,),
    "sliding": (SLIDING,),
    "full-sliding": (FULL, SLIDING),
    "full-linear": (FULL, LINEAR),
    "linear-full": (LINEAR, FULL),
    "sliding-linear": (SLIDING, LINEAR),
}
CHUNKS = {"one": (1,), "within": (3,), "beyond": (5, 1)}


def indices(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, device=DEVICE)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", CACHES)
def test_reorder(kind: str, order: str, chunks: str) -> None:
    made = filled(kind, ORDERS[order], *CHUNKS[chunks], batch=3)
    for beams in (indices(2, 0, 0), indices(1, 2, 0)):
        made.cache.reorder_cache(beams)
        made.select(beams)
        made.feed(1)


@pytest.mark.parametrize("order", ["full", "sliding", "full-sliding"])
@pytest.mark.parametrize("kind", CACHES)
def test_reordering_an_empty_cache_does_nothing(kind: str, order: str) -> None:
    made = filled(kind, ORDERS[order], batch=3)
    made.cache.reorder_cache(indices(2, 0, 0))
    made.feed(3)


def whole_or_not_at_all(made: Filled, operation: str, argument: object, selected: torch.Tensor) -> None:
    """An operation is done on every layer; or it is refused, and then every layer is as it was."""
    for layer in made.cache.layers:
        if len(made.layer_types) == 1:
            needs(layer, operation)
    try:
        getattr(made.cache, operation)(argument)
    except (AttributeError, NotImplementedError, TypeError, ValueError, RuntimeError) as error:
        made.feed(1)
        pytest.skip(f"{operation} is refused: {error}")
    made.select(selected)
    made.feed(1)


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", CACHES)
def test_repeat_interleave(kind: str, order: str, chunks: str) -> None:
    made = filled(kind, ORDERS[order], *CHUNKS[chunks])
    whole_or_not_at_all(made, "batch_repeat_interleave", 3, indices(0, 0, 0, 1, 1, 1))


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", CACHES)
def test_select_indices(kind: str, order: str, chunks: str) -> None:
    made = filled(kind, ORDERS[order], *CHUNKS[chunks], batch=3)
    chosen = indices(2, 0)
    whole_or_not_at_all(made, "batch_select_indices", chosen, chosen)


@pytest.mark.parametrize("order", ["full", "sliding", "full-sliding"])
def test_repeating_or_selecting_of_an_empty_cache_does_nothing(order: str) -> None:
    made = filled("dynamic", ORDERS[order], batch=3)
    made.cache.batch_repeat_interleave(2)
    made.cache.batch_select_indices(indices(2, 0))
    made.feed(3)


@pytest.mark.parametrize("order", ["full", "sliding", "full-sliding"])
def test_operations_one_after_another(order: str) -> None:
    made = filled("dynamic", ORDERS[order], 3)
    made.cache.batch_repeat_interleave(2)
    made.select(indices(0, 0, 1, 1))
    made.feed(1)
    made.cache.reorder_cache(indices(3, 2, 1, 0))
    made.select(indices(3, 2, 1, 0))
    made.feed(2)
    made.cache.batch_select_indices(indices(1))
    made.select(indices(1))
    made.feed(1)
