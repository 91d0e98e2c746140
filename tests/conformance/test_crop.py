# SPDX-License-Identifier: Apache-2.0
"""Cropping drops the last tokens and nothing else; a layer that cannot give older ones back refuses."""

import pytest
import transformers
from cachekit import CACHES, FULL, LINEAR, SLIDING, WINDOW, Filled, config, filled, needs, needs_values

REFUSALS = (ValueError, RuntimeError, NotImplementedError)


def crop(made: Filled, tokens: int) -> None:
    """Drop the last tokens: a negative number means that in every release."""
    for layer in made.cache.layers:
        needs(layer, "crop")
    made.cache.crop(-tokens)
    made.drop_last(tokens)


@pytest.mark.parametrize("dropped", [1, 2, 4])
@pytest.mark.parametrize("kind", CACHES)
def test_a_full_layer(kind: str, dropped: int) -> None:
    made = filled(kind, (FULL,), 5)
    crop(made, dropped)
    made.feed(2)
    made.feed(1)


@pytest.mark.parametrize("kind", CACHES)
def test_all_that_it_holds(kind: str) -> None:
    made = filled(kind, (FULL,), 5)
    crop(made, 5)
    made.feed(3)


def test_more_than_it_holds() -> None:
    """A dynamic layer is empty afterwards, or it refuses and is as it was."""
    made = filled("dynamic", (FULL,), 3)
    try:
        made.cache.crop(-5)
    except REFUSALS:
        made.feed(1)
        return
    made.drop_last(5)
    made.feed(2)


def test_nothing_at_all() -> None:
    made = filled("dynamic", (FULL,), 3)
    made.cache.crop(-0)
    # Up to 5.12.1 a number that is not negative was the length to keep, and 0 emptied the cache.
    if int(made.cache.get_seq_length()) == 0:
        pytest.skip("crop(0) means the length 0 in this release")
    made.feed(2)


@pytest.mark.parametrize("kept", [1, 3])
@pytest.mark.parametrize("layer_type", [FULL, SLIDING])
@pytest.mark.parametrize("kind", CACHES)
def test_a_positive_number_is_the_length_to_keep_or_is_refused(kind: str, layer_type: str, kept: int) -> None:
    """As it was up to 5.12.1, and has been refused since: it never drops that many tokens."""
    needs_values()
    made = filled(kind, (layer_type,), WINDOW - 1)
    needs(made.cache.layers[0], "crop")
    try:
        made.cache.crop(kept)
    except REFUSALS:
        kept = made.length
    made.drop_last(made.length - kept)
    assert int(made.cache.get_seq_length()) == kept
    made.feed(1)


@pytest.mark.parametrize("layer_type", [FULL, SLIDING])
def test_a_layer_that_saw_nothing(layer_type: str) -> None:
    made = filled("dynamic", (layer_type,))
    made.cache.crop(-2)
    made.feed(3)


@pytest.mark.parametrize("kind", CACHES)
def test_a_sliding_layer_within_its_window(kind: str) -> None:
    made = filled(kind, (SLIDING,), WINDOW - 1)
    if kind == "static":
        needs(made.cache, "is_croppable")
        if not made.cache.is_croppable:
            pytest.skip("a static sliding layer says that it cannot be cropped")
    crop(made, 2)
    made.feed(1)
    made.feed(4)


@pytest.mark.parametrize("chunks", [(WINDOW,), (WINDOW, 2)], ids=["full", "beyond"])
def test_a_sliding_layer_that_is_full_refuses_or_knows_the_older_tokens(chunks: tuple[int, ...]) -> None:
    made = filled("dynamic", (SLIDING,), *chunks)
    try:
        made.cache.crop(-2)
    except REFUSALS:
        made.feed(1)
        return
    made.drop_last(2)
    made.feed(1)


@pytest.mark.parametrize("layer_types", [(SLIDING,), (FULL, SLIDING)], ids=["sliding", "full-sliding"])
def test_a_recording_cache_gives_older_tokens_back(layer_types: tuple[str, ...]) -> None:
    made = filled("dynamic", layer_types, WINDOW)
    needs(made.cache, "activate_past_recording")
    made.cache.activate_past_recording()
    for drafted, dropped in ((3, 2), (4, 4), (2, 0), (1, 1)):
        made.feed(drafted)
        crop(made, dropped)
    made.feed(2)


def test_a_recording_cache_between_two_crops() -> None:
    """As in assisted decoding, where the assistant takes several steps before anything is dropped."""
    made = filled("dynamic", (SLIDING,), WINDOW)
    needs(made.cache, "activate_past_recording")
    made.cache.activate_past_recording()
    for _step in range(3):
        made.feed(1)
    crop(made, 2)
    made.feed(1)


def test_a_positive_number_drops_nothing_of_a_full_window_that_records() -> None:
    """How much of it is to be kept cannot be said: it refuses, and is as it was."""
    made = filled("dynamic", (SLIDING,), WINDOW)
    needs(made.cache, "activate_past_recording")
    made.cache.activate_past_recording()
    made.feed(1)
    with pytest.raises(REFUSALS):
        made.cache.crop(1)
    made.feed(1)


def test_a_recording_cache_does_not_grow_without_end() -> None:
    """A crop of nothing drops what no later query can see."""
    made = filled("dynamic", (SLIDING,), WINDOW)
    needs(made.cache, "activate_past_recording")
    made.cache.activate_past_recording()
    for _round in range(6):
        made.feed(WINDOW)
        crop(made, 0)
    for held in (made.cache.layers[0].keys, made.cache.layers[0].values):
        assert held.shape[-2] < 2 * WINDOW


@pytest.mark.parametrize("length", [WINDOW - 1, WINDOW])
def test_a_static_sliding_layer_that_never_slides_can_be_cropped(length: int) -> None:
    """With no room for more tokens than the window nothing old is ever overwritten."""
    cache = transformers.StaticCache(config=config((SLIDING,)), max_cache_len=length)
    needs(cache, "is_croppable")
    assert cache.is_croppable is True
    made = Filled(cache, (SLIDING,))
    made.feed(length - 1)
    crop(made, 2)
    made.feed(1)


def test_a_hybrid_cache_says_whether_a_crop_can_be_exact() -> None:
    """Where it says so, every layer is put back."""
    made = filled("static", (FULL, LINEAR), 5, 1)
    needs(made.cache, "is_croppable", "activate_past_recording")
    if not made.cache.is_croppable:
        pytest.skip("the cache says that it cannot be cropped")
    needs_values()
    window = made.windows[1].clone()
    made.cache.activate_past_recording()
    made.feed(1)
    made.cache.crop(-1)
    made.drop_last(1)
    made.windows[1] = window
    made.feed(1)
