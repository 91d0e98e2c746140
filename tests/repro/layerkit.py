# SPDX-License-Identifier: Apache-2.0
"""Caches and layers without a model.

This module imports torch and the library inside its functions alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import casekit

if TYPE_CHECKING:
    import torch
    from transformers import StaticCache

HEADS, HEAD_DIM, MAX_CACHE_LEN = 2, 8, 16
# Channels and width of a convolution state. The width differs from HEAD_DIM, as it does in real models.
CONV_CHANNELS, CONV_WIDTH = 6, 4
HYBRID_LAYERS = ("full_attention", "linear_attention", "full_attention")
ATTENTION_LAYERS, LINEAR_LAYER = (0, 2), 1
FULL, LINEAR = "full_attention", "linear_attention"
WINDOW = 4


def static_cache(layer_types: Iterable[str]) -> StaticCache:
    """A StaticCache for MAX_CACHE_LEN tokens, holding nothing yet, with a layer for each of `layer_types`."""
    import transformers

    # 5.0.0 renamed the class.
    config_class = getattr(transformers, "PreTrainedConfig", None) or transformers.PretrainedConfig
    layer_types = list(layer_types)
    config = config_class(num_hidden_layers=len(layer_types), layer_types=layer_types)
    return transformers.StaticCache(config=config, max_cache_len=MAX_CACHE_LEN)


def hybrid_static_cache() -> StaticCache:
    """A StaticCache of HYBRID_LAYERS, holding nothing yet; absent where it has no linear-attention layer."""
    cache = static_cache(HYBRID_LAYERS)
    layer = cache.layers[LINEAR_LAYER]
    if not hasattr(layer, "update_conv_state"):
        casekit.absent(f"StaticCache has no linear-attention layers: it puts a {type(layer).__name__} in their place")
    return cache


def numbered(shape: tuple[int, ...], device: str) -> torch.Tensor:
    """Float32 values 1, 2, 3, ... in `shape`: all different, and none the zero that an empty cache holds."""
    import torch

    return torch.arange(1, math.prod(shape) + 1, dtype=torch.float32, device=device).reshape(shape)


def key_values(batch_size: int, tokens: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values for one attention layer, each of shape (batch_size, HEADS, tokens, HEAD_DIM)."""
    keys = numbered((batch_size, HEADS, tokens, HEAD_DIM), device)
    return keys, -keys


def conv_state(batch_size: int, tokens: int, device: str) -> torch.Tensor:
    """Convolution inputs for one linear-attention layer, of shape (batch_size, CONV_CHANNELS, tokens)."""
    return numbered((batch_size, CONV_CHANNELS, tokens), device)


def fill_attention(cache: StaticCache, layer_idx: int, batch_size: int, device: str) -> None:
    """Put three tokens into the attention layer `layer_idx`, which initialises it for `batch_size`."""
    cache.update(*key_values(batch_size, 3, device), layer_idx)


def same(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether both have one shape and, where the device keeps values, one content."""
    if found.shape != expected.shape or found.is_meta or expected.is_meta:
        return found.shape == expected.shape and found.is_meta == expected.is_meta
    return bool((found == expected).all())


def batch_size_names(cache: StaticCache) -> list[str]:
    """The properties by which this release tells a cache's batch size: max_batch_size, batch_size or both."""
    # Asked of the class, because reading the property of an instance may be what fails.
    names = [name for name in ("max_batch_size", "batch_size") if hasattr(type(cache), name)]
    if not names:
        casekit.absent("a cache has neither max_batch_size nor batch_size")
    return names


def append(cache: Any, keys: torch.Tensor, values: torch.Tensor, start: int, layer_idx: int = 0) -> Any:
    """Add tokens at the positions from `start` on; what attention would get back."""
    import torch

    # Up to 5.3.0 a static layer has to be told the positions; later releases take the argument and leave it.
    positions = torch.arange(start, start + keys.shape[-2], device=keys.device)
    return cache.update(keys, values, layer_idx, {"cache_position": positions})


def fill(cache: Any, batch_size: int, tokens: int, device: str, start: int = 0, layer_idx: int = 0) -> Any:
    """Add `tokens` numbered tokens to an attention layer; what attention would get back."""
    return append(cache, *key_values(batch_size, tokens, device), start, layer_idx)


def dynamic_cache(layer_types: Iterable[str]) -> Any:
    """A DynamicCache with a layer for each of `layer_types`; absent where linear-attention layers are none of it."""
    import transformers

    layer_types = list(layer_types)
    # 5.0.0 renamed the class.
    config_class = getattr(transformers, "PreTrainedConfig", None) or transformers.PretrainedConfig
    config = config_class(num_hidden_layers=len(layer_types), layer_types=layer_types, sliding_window=WINDOW)
    cache = transformers.DynamicCache(config=config)
    for layer, layer_type in zip(cache.layers, layer_types, strict=True):
        if layer_type == LINEAR and not hasattr(layer, "update_conv_state"):
            casekit.absent(f"DynamicCache has no linear-attention layers: {type(layer).__name__} takes their place")
    return cache


def quantized_cache(residual_length: int) -> Any:
    """A cache of one QuantizedLayer of the library, whose quantisation, a clone, loses nothing.

    The library leaves two methods to its back ends, which may not be installed; all else is its own code.
    """
    from transformers import cache_utils

    class Layer(cache_utils.QuantizedLayer):
        def _quantize(self, tensor: torch.Tensor, axis: int) -> torch.Tensor:
            return tensor.clone()

        def _dequantize(self, q_tensor: torch.Tensor) -> torch.Tensor:
            return q_tensor

    return cache_utils.Cache(layers=[Layer(residual_length=residual_length)])
