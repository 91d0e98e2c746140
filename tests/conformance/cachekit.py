# SPDX-License-Identifier: Apache-2.0
"""What the conformance tests share: small caches of every release from 4.56.0 on, and the truth to hold them against.

A `Truth` remembers everything that went into one layer. What a cache hands to attention is judged by position: column j
of what `update` returns stands for the token at `offset + j`, where the offset is what the cache itself announced for
the mask. So a test asks whether every query can see the tokens that it has to see, never how a layer keeps them.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
import transformers

DEVICE = os.environ.get("HEADWATER_DEVICE", "cpu")
HEADS, HEAD_DIM = 2, 8
MAX_LENGTH, WINDOW = 16, 4
# Channels and width of a convolution state; its width is none of the other sizes.
CHANNELS, WIDTH = 6, 3
STATE = (2, 5, 7)
FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
CACHES = ("dynamic", "static")


def needs_values() -> None:
    """Skip the test on a device that keeps shapes and no numbers."""
    if DEVICE == "meta":
        pytest.skip("meta tensors hold no numbers")


def needs(owner: object, *names: str) -> None:
    """Skip the test where the release has not got what it is about."""
    for name in names:
        # Asked of the class, because reading a property of an instance may be what fails.
        if not hasattr(owner if isinstance(owner, type) else type(owner), name):
            pytest.skip(f"{getattr(owner, '__name__', type(owner).__name__)} has no {name} in this release")


def config(layer_types: tuple[str, ...]) -> Any:
    """A config with nothing in it but what a cache asks for."""
    # 5.0.0 renamed the class.
    kind = getattr(transformers, "PreTrainedConfig", None) or transformers.PretrainedConfig
    return kind(num_hidden_layers=len(layer_types), layer_types=list(layer_types), sliding_window=WINDOW)


def cache_of(kind: str, layer_types: tuple[str, ...] = (FULL,)) -> Any:
    """An empty cache, dynamic or static; the test is skipped where this release has no such layers."""
    if kind == "dynamic":
        made = transformers.DynamicCache(config=config(layer_types))
    else:
        made = transformers.StaticCache(config=config(layer_types), max_cache_len=MAX_LENGTH)
    for layer, layer_type in zip(made.layers, layer_types, strict=True):
        if layer_type == LINEAR and not hasattr(layer, "update_conv_state"):
            pytest.skip(f"a {kind} cache has no linear-attention layers in this release")
    return made


def random(*shape: int) -> torch.Tensor:
    """Normal numbers: all different, none of them the zero that an empty cache holds."""
    return torch.randn(*shape).to(DEVICE)


def key_values(batch: int, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values of some tokens for one attention layer."""
    return random(batch, HEADS, tokens, HEAD_DIM), random(batch, HEADS, tokens, HEAD_DIM)


def update(cache: Any, layer: int, keys: torch.Tensor, values: torch.Tensor, start: int) -> tuple[torch.Tensor, ...]:
    """Add tokens at the positions from `start` on. Up to 5.3.0 a static layer has to be told where."""
    if "cache_kwargs" in inspect.signature(type(cache).update).parameters:
        positions = torch.arange(start, start + keys.shape[-2], device=keys.device)
        return cache.update(keys, values, layer, {"cache_position": positions})
    return cache.update(keys, values, layer)


def mask_sizes(cache: Any, layer: int, start: int, tokens: int) -> tuple[int, int]:
    """Columns, and the position of the first one, that the cache announces for the next `tokens` tokens."""
    positions = torch.arange(start, start + tokens, device=DEVICE)
    by_position = "cache_position" in inspect.signature(type(cache).get_mask_sizes).parameters
    columns, offset = cache.get_mask_sizes(positions if by_position else tokens, layer)
    return int(columns), int(offset)


def state_of(layer: Any, name: str) -> torch.Tensor:
    """A linear layer's only `conv_states` or `recurrent_states`: in some releases a dict holds it."""
    held = getattr(layer, name)
    found = held[0] if isinstance(held, dict) else held
    assert isinstance(found, torch.Tensor)
    return found


def same(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """One shape and, where the device keeps values, one content."""
    if found.shape != wanted.shape or found.is_meta or wanted.is_meta:
        return found.shape == wanted.shape and found.is_meta == wanted.is_meta
    return bool((found == wanted).all())


@dataclass
class Truth:
    """All that went into one attention layer, and what it must give back."""

    layer_type: str
    keys: torch.Tensor
    values: torch.Tensor

    @property
    def length(self) -> int:
        return int(self.keys.shape[-2])

    def first_seen_by(self, position: int) -> int:
        """The first position that the query at `position` attends to."""
        return 0 if self.layer_type == FULL else max(0, position - WINDOW + 1)

    def add(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        self.keys = torch.cat([self.keys, keys], dim=-2)
        self.values = torch.cat([self.values, values], dim=-2)

    def check(self, returned: tuple[torch.Tensor, ...], offset: int, start: int, columns: int | None = None) -> None:
        """Every query from `start` on finds each token that it attends to where the mask takes it to be."""
        if columns is not None:
            assert returned[0].shape[-2] == columns, "update returned other than the columns announced for the mask"
        first = self.first_seen_by(start)
        assert offset <= first, f"the mask begins at {offset}, and the query at {start} attends from {first} on"
        needed = slice(first - offset, self.length - offset)
        for name, found, wanted in zip(("keys", "values"), returned, (self.keys, self.values), strict=True):
            assert same(found[..., needed, :], wanted[..., first:, :]), f"{name} are not those of the tokens {first}.."


def empty_truth(layer_type: str, batch: int) -> Truth:
    nothing = torch.empty(batch, HEADS, 0, HEAD_DIM, device=DEVICE)
    return Truth(layer_type, nothing, nothing)


@dataclass
class Filled:
    """A cache, and the truth of each of its attention layers by index; `window` of each linear-attention layer."""

    cache: Any
    layer_types: tuple[str, ...]
    batch: int = 2
    truths: dict[int, Truth] = field(default_factory=dict)
    windows: dict[int, torch.Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, layer_type in enumerate(self.layer_types):
            if layer_type != LINEAR:
                self.truths[index] = empty_truth(layer_type, self.batch)

    @property
    def length(self) -> int:
        return next(iter(self.truths.values())).length

    def feed(self, tokens: int) -> None:
        """Put tokens into every layer in its order, as a forward does, and check all that comes back."""
        for index, layer_type in enumerate(self.layer_types):
            if layer_type == LINEAR:
                self.feed_linear(index, tokens)
                continue
            truth = self.truths[index]
            start = truth.length
            columns, offset = mask_sizes(self.cache, index, start, tokens)
            keys, values = key_values(self.batch, tokens)
            truth.add(keys, values)
            truth.check(update(self.cache, index, keys, values, start), offset, start, columns)

    def feed_linear(self, index: int, tokens: int) -> None:
        """The first time a whole window, as models pad it; later the new tokens. The end of what comes back is the
        window: some releases return it alone, others what stood before it as well."""
        first = index not in self.windows
        new = random(self.batch, CHANNELS, WIDTH if first else tokens)
        before = new[..., :0] if first else self.windows[index]
        self.windows[index] = torch.cat([before, new], dim=-1)[..., -WIDTH:]
        returned = self.cache.update_conv_state(new, index)
        assert returned.shape[-1] <= WIDTH + (0 if first else tokens), "it holds more than the convolution window"
        assert same(returned[..., -WIDTH:], self.windows[index]), "the convolution window is not the last tokens"

    def select(self, indices: torch.Tensor) -> None:
        """What any operation on the batch comes to."""
        self.batch = len(indices)
        for truth in self.truths.values():
            truth.keys, truth.values = truth.keys[indices], truth.values[indices]
        self.windows = {index: window[indices] for index, window in self.windows.items()}

    def drop_last(self, tokens: int) -> None:
        """What a crop comes to."""
        for truth in self.truths.values():
            kept = max(0, truth.length - tokens)
            truth.keys, truth.values = truth.keys[..., :kept, :], truth.values[..., :kept, :]


def filled(kind: str, layer_types: tuple[str, ...], *chunks: int, batch: int = 2) -> Filled:
    """A cache with tokens in it, given in chunks."""
    made = Filled(cache_of(kind, layer_types), layer_types, batch)
    for tokens in chunks:
        made.feed(tokens)
    return made
