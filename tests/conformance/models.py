# SPDX-License-Identifier: Apache-2.0
"""Tiny models with random weights, one for each way of attending, made without a download."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import pytest
import torch
import transformers
from cachekit import DEVICE, FULL, LINEAR, SLIDING, WINDOW, needs_values

VOCABULARY = 53
_COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    # Large weights, so that what a cache got wrong shows in the logits.
    "initializer_range": 0.3,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}
_LINEAR_HEADS: dict[str, Any] = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 4,
}
_EXPERTS: dict[str, Any] = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
}
_ENCODER_DECODER: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "init_std": 0.3,
    "bos_token_id": 1,
    "decoder_start_token_id": 1,
    "eos_token_id": None,
    "forced_eos_token_id": None,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}


def _layers(*layer_types: str) -> dict[str, Any]:
    return {"num_hidden_layers": len(layer_types), "layer_types": list(layer_types)}


# By name: the module and the prefix of its classes, the class's ending, the config's values.
MODELS: Mapping[str, tuple[str, str, str, dict[str, Any]]] = {
    "llama": ("llama", "Llama", "ForCausalLM", {**_COMMON, "num_hidden_layers": 2}),
    "mistral": ("mistral", "Mistral", "ForCausalLM", {**_COMMON, "num_hidden_layers": 2, "sliding_window": WINDOW}),
    "gemma2": ("gemma2", "Gemma2", "ForCausalLM", {**_COMMON, **_layers(SLIDING, FULL), "sliding_window": WINDOW}),
    "qwen3-next": (
        "qwen3_next",
        "Qwen3Next",
        "ForCausalLM",
        {**_COMMON, **_layers(LINEAR, FULL, LINEAR), **_LINEAR_HEADS, **_EXPERTS},
    ),
    "lfm2": ("lfm2", "Lfm2", "ForCausalLM", {**_COMMON, **_layers("conv", FULL, "conv"), "conv_L_cache": 3}),
    "bart": ("bart", "Bart", "ForConditionalGeneration", _ENCODER_DECODER),
}
DECODERS = tuple(name for name in MODELS if name != "bart")
_made: dict[str, Any] = {}


def model(name: str) -> Any:
    """The model of a family, made once; the test is skipped where the release has not got the family."""
    needs_values()
    if name not in _made:
        family, prefix, ending, values = MODELS[name]
        if not hasattr(transformers, f"{prefix}{ending}"):
            pytest.skip(f"there is no {prefix}{ending} in this release")
        configuration = importlib.import_module(f"transformers.models.{family}.configuration_{family}")
        modeling = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
        torch.manual_seed(7)
        made = getattr(modeling, f"{prefix}{ending}")(getattr(configuration, f"{prefix}Config")(**values))
        # A model of random weights has no reason to end.
        made.generation_config.eos_token_id = made.generation_config.forced_eos_token_id = None
        _made[name] = made.to(DEVICE).eval()
    return _made[name]


def tokens(batch: int, length: int) -> torch.Tensor:
    """Random tokens, none of them the padding."""
    return torch.randint(2, VOCABULARY, (batch, length)).to(DEVICE)


def close(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Whether logits are the same but for the order of sums, measured by the spread of the wanted ones."""
    return bool((found - wanted).abs().max() < 1e-3 * wanted.std())
