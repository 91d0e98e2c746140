# SPDX-License-Identifier: Apache-2.0
"""Tiny models with random weights, made without a download, and what the cases do with them.

Like casekit, this module imports torch and the library inside its functions alone.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

import casekit

if TYPE_CHECKING:
    import torch

# What models call the cache that they take and return: one of the first two, or from 5.24.0 on the last.
CACHE_NAMES = ("past_key_values", "cache_params", "cache")
VOCABULARY = 53
# Large weights, so that what a cache gets wrong shows in the logits, and no token that ends a text.
DECODER: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": None,
    "pad_token_id": 0,
    "attn_implementation": "eager",
}


def library_class(name: str) -> Any:
    """A class of the library; absent where this release has none of that name."""
    import transformers

    if not hasattr(transformers, name):
        casekit.absent(f"there is no {name}")
    return getattr(transformers, name)


def config_of(family: str, **values: Any) -> Any:
    """The config of a family of decoders (`Llama`), DECODER's values overridden by `values`."""
    return library_class(f"{family}Config")(**{**DECODER, **values})


def seeded(model_class: str, config: Any, device: str) -> Any:
    """The model of that class with the same random weights each time, ready to be asked on the device."""
    import torch

    kind = library_class(model_class)
    torch.manual_seed(7)
    model = kind(config).eval().to(device)
    # Configs do not hand all of these on in every release; random weights have no reason to end a text.
    model.generation_config.eos_token_id = model.generation_config.forced_eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model


def decoder(family: str, device: str, **values: Any) -> Any:
    """A tiny decoder with a head for the next token."""
    return seeded(f"{family}ForCausalLM", config_of(family, **values), device)


def tokens(batch: int, length: int, device: str) -> torch.Tensor:
    """Random tokens, none of them special, and the same each time."""
    import torch

    generator = torch.Generator().manual_seed(11)
    return torch.randint(3, VOCABULARY, (batch, length), generator=generator).to(device)


def forward(model: Any, ids: torch.Tensor, cache: Any = None, start: int = 0, **more: Any) -> tuple[torch.Tensor, Any]:
    """Logits of all `ids`, and the cache, which held `start` tokens before.

    The model is told the positions by each name that it takes; `more` may say otherwise.
    """
    import torch

    parameters = inspect.signature(model.forward).parameters
    positions = torch.arange(start, start + ids.shape[1], device=ids.device)
    # Up to 5.3.0 models of the mamba family know by cache_position alone where they stand.
    told = {"cache_position": positions, "position_ids": positions[None]}
    more = {name: value for name, value in told.items() if name in parameters} | more
    name = next(name for name in CACHE_NAMES if name in parameters)
    cache = cache if cache is not None else _own_cache(model, len(ids))
    with torch.no_grad():
        output = model(ids, use_cache=True, **({} if cache is None else {name: cache}), **more)
    return output.logits, cache_in(output)


def _own_cache(model: Any, batch_size: int) -> Any:
    """An empty cache of the class that hybrid models bring themselves up to 5.4.0, and do not all make themselves."""
    made_by = getattr(sys.modules[type(model).__module__], "HybridMambaAttentionDynamicCache", None)
    return None if made_by is None else made_by(model.config, batch_size, model.dtype, model.device)


def greedy(model: Any, ids: torch.Tensor, new_tokens: int, **options: Any) -> torch.Tensor:
    """The logits of each token that greedy generation adds, of shape (batch, new tokens, vocabulary)."""
    import torch

    options |= {"max_new_tokens": new_tokens, "do_sample": False}
    made = model.generate(ids, output_logits=True, return_dict_in_generate=True, **options)
    return torch.stack(made.logits, dim=1)


def cache_in(output: Any) -> Any:
    """The cache in what a model or generate returned, by the name that it has there."""
    return next(output[name] for name in CACHE_NAMES if output.get(name) is not None)


def difference(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference between logits, in units of the spread of the wanted ones."""
    return float((found - wanted).abs().max() / wanted.std())


def continued(model: Any, ids: torch.Tensor, held: int) -> tuple[float, float]:
    """How far the logits of the tokens after the first `held` are from those of one forward over all: when they are
    given one at a time to a cache that holds the first ones, and when they are given all at once."""
    import torch

    wanted, _ = forward(model, ids)
    singly = []
    _, cache = forward(model, ids[:, :held])
    for start in range(held, ids.shape[1]):
        logits, cache = forward(model, ids[:, start : start + 1], cache, start)
        singly.append(logits)
    _, cache = forward(model, ids[:, :held])
    together, _ = forward(model, ids[:, held:], cache, held)
    return difference(torch.cat(singly, dim=1), wanted[:, held:]), difference(together, wanted[:, held:])


# Above this, in the units of `difference`, logits differ by more than the order of sums can explain.
ROUNDING = 1e-2
