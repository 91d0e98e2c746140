# SPDX-License-Identifier: Apache-2.0
"""Caches and layers without a model.

Like casekit, this module imports torch and the library inside its functions alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import casekit

if TYPE_CHECKING:
    import torch

FULL, LINEAR = "full_attention", "linear_attention"
WINDOW = 4


def append(cache: Any, keys: torch.Tensor, values: torch.Tensor, start: int, layer_idx: int = 0) -> Any:
    """Add tokens at the positions from `start` on; what attention would get back."""
    import torch

    # Up to 5.3.0 a static layer has to be told the positions; later releases take the argument and leave it.
    positions = torch.arange(start, start + keys.shape[-2], device=keys.device)
    return cache.update(keys, values, layer_idx, {"cache_position": positions})


def fill(cache: Any, batch_size: int, tokens: int, device: str, start: int = 0, layer_idx: int = 0) -> Any:
    """Add `tokens` numbered tokens to an attention layer; what attention would get back."""
    return append(cache, *casekit.key_values(batch_size, tokens, device), start, layer_idx)


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
