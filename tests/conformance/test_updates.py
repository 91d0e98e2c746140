# SPDX-License-Identifier: Apache-2.0
"""What an update hands to attention: the right tokens at the announced places, however they were split into chunks."""

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
    WINDOW,
    Filled,
    cache_of,
    empty_truth,
    filled,
    key_values,
    mask_sizes,
    needs_values,
    random,
    state_of,
    update,
)

KINDS = (FULL, SLIDING)
# Up to the window and beyond it; one token at a time; bursts before, at and after the point where the window is full.
SPLITS = {
    "whole": (9,),
    "within": (3,),
    "exactly": (WINDOW,),
    "tokens": (1,) * 9,
    "one-then-burst": (1, 5, 2),
    "prefill-then-tokens": (6, 1, 1, 1),
    "short-then-tokens": (2, 1, 1, 1, 1, 1),
    "bursts": (2, 3, 2, 2),
    "burst-when-full": (WINDOW, 3, 2),
    "long-burst-when-full": (5, 6),
    "burst-that-fills": (2, 2, 1),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_every_query_sees_its_tokens_where_the_mask_says(kind: str, layer_type: str, split: str) -> None:
    filled(kind, (layer_type,), *SPLITS[split])


@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_a_static_cache_can_be_filled_to_the_last_place(kind: str, layer_type: str) -> None:
    filled(kind, (layer_type,), MAX_LENGTH - 2, 1, 1)


@pytest.mark.parametrize("split", SPLITS)
def test_a_sliding_layer_hands_out_no_more_than_the_window(split: str) -> None:
    """The tokens before a chunk that it returns are those that the first query of the chunk attends to."""
    made = Filled(cache_of("dynamic", (SLIDING,)), (SLIDING,))
    for tokens in SPLITS[split]:
        before = min(made.length, WINDOW - 1)
        assert mask_sizes(made.cache, 0, made.length, tokens)[0] == before + tokens
        made.feed(tokens)


@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("split", SPLITS)
def test_static_equals_dynamic(layer_type: str, split: str) -> None:
    caches = [cache_of(kind, (layer_type,)) for kind in CACHES]
    truth, position = empty_truth(layer_type, 2), 0
    for tokens in SPLITS[split]:
        keys, values = key_values(2, tokens)
        truth.add(keys, values)
        for cache in caches:
            _columns, offset = mask_sizes(cache, 0, position, tokens)
            truth.check(update(cache, 0, keys, values, position), offset, position)
        position += tokens


@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_what_is_put_in_is_not_changed(kind: str, layer_type: str) -> None:
    needs_values()
    cache = cache_of(kind, (layer_type,))
    keys, values = key_values(2, 3)
    before = keys.clone(), values.clone()
    update(cache, 0, keys, values, 0)
    update(cache, 0, *key_values(2, 1), 3)
    cache.reset()
    assert torch.equal(keys, before[0]) and torch.equal(values, before[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_type_and_device_are_those_of_what_is_put_in(kind: str, layer_type: str, dtype: torch.dtype) -> None:
    keys, values = (tensor.to(dtype) for tensor in key_values(2, 3))
    for found in update(cache_of(kind, (layer_type,)), 0, keys, values, 0):
        assert (found.dtype, found.device) == (dtype, torch.empty(0, device=DEVICE).device)


@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_keys_and_values_may_differ_in_type(kind: str, layer_type: str) -> None:
    cache = cache_of(kind, (layer_type,))
    keys, values = key_values(2, 3)
    update(cache, 0, keys, values, 0)
    if hasattr(cache.layers[0], "dtype"):
        pytest.skip("a layer has one type, that of its keys, in this release")
    cache = cache_of(kind, (layer_type,))
    found = update(cache, 0, keys, values.to(torch.bfloat16), 0)
    assert [tensor.dtype for tensor in found] == [torch.float32, torch.bfloat16]


@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_a_single_number_is_a_token(kind: str, layer_type: str) -> None:
    """One head of width one, and a batch of one."""
    needs_values()
    cache = cache_of(kind, (layer_type,))
    update(cache, 0, random(1, 1, 1, 1), random(1, 1, 1, 1), 0)
    assert int(cache.get_seq_length()) == 1


@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_keys_and_values_may_differ_in_width(kind: str, layer_type: str) -> None:
    """As in models with latent attention."""
    cache, wide = cache_of(kind, (layer_type,)), HEAD_DIM + 3
    for start, tokens in ((0, 3), (3, 1), (4, 1)):
        keys, _ = key_values(2, tokens)
        values = torch.randn(2, HEADS, tokens, wide).to(DEVICE)
        found = update(cache, 0, keys, values, start)
        assert [tensor.shape[-1] for tensor in found] == [HEAD_DIM, wide]


@pytest.mark.parametrize("layer_type", KINDS)
@pytest.mark.parametrize("kind", CACHES)
def test_layers_do_not_share_what_they_hold(kind: str, layer_type: str) -> None:
    filled(kind, (layer_type,) * 3, 3, 1, 1, 1)


@pytest.mark.parametrize("layer_type", KINDS)
def test_a_static_layer_stays_where_it_is(layer_type: str) -> None:
    """Compiled code and CUDA graphs go on writing to the memory that they saw first."""
    needs_values()
    made = filled("static", (layer_type,), 3)
    layer = made.cache.layers[0]
    first = layer.keys.data_ptr(), layer.values.data_ptr()
    for _token in range(3):
        made.feed(1)
        assert (layer.keys.data_ptr(), layer.values.data_ptr()) == first
    made.cache.reset()
    Filled(made.cache, (layer_type,)).feed(3)
    assert (layer.keys.data_ptr(), layer.values.data_ptr()) == first


@pytest.mark.parametrize("layer_type", [*KINDS, LINEAR])
def test_what_stays_in_place_is_marked_for_cuda_graphs(layer_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch records no CUDA graph that writes to memory which nobody said to be static."""
    marked: list[torch.Tensor] = []
    monkeypatch.setattr(torch._dynamo, "mark_static_address", lambda tensor, **_options: marked.append(tensor))
    made = filled("static", (FULL, layer_type), 3)
    layer = made.cache.layers[1]
    if layer_type == LINEAR:
        made.cache.update_recurrent_state(random(*STATE), 1)
        held = [state_of(layer, "conv_states"), state_of(layer, "recurrent_states")]
    else:
        held = [layer.keys, layer.values]
        length = getattr(layer, "cumulative_length", None)
        # A layer that counts in whole numbers has nothing else to mark.
        held += [length] if isinstance(length, torch.Tensor) else []
    for tensor in held:
        assert any(tensor is one for one in marked)


def test_a_cache_without_a_config_makes_its_layers_as_they_come() -> None:
    made = Filled(transformers.DynamicCache(), (FULL,) * 3)
    assert len(made.cache) == 0
    for tokens in (3, 1, 2):
        made.feed(tokens)
    assert len(made.cache) == 3


def test_a_cache_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        transformers.Cache()
    kind = type(cache_of("dynamic").layers[0])
    with pytest.raises(ValueError):
        transformers.Cache(layers=[kind()], layer_class_to_replicate=kind)
