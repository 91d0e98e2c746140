# SPDX-License-Identifier: Apache-2.0
"""Where a hunt cuts its range: evenly, and away from what could not be judged."""

from __future__ import annotations

import itertools
import math
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.core.cuts import cut


@st.composite
def ranges(draw: st.DrawFn) -> tuple[int, int, set[int], set[int]]:
    """A range with silent and pending positions, some of them outside."""
    low = draw(st.integers(0, 20))
    high = low + draw(st.integers(1, 80))
    positions = st.sets(st.integers(low - 5, high + 5))
    silent = draw(positions)
    return low, high, silent, draw(positions) - silent


@given(ranges(), st.integers(1, 12))
def test_cuts_are_untried_distinct_and_as_many_as_can_be(
    drawn: tuple[int, int, set[int], set[int]], count: int
) -> None:
    low, high, silent, pending = drawn
    untried = set(range(low + 1, high)) - silent - pending
    cuts = cut(low, high, silent, pending, count)
    assert cuts == sorted(set(cuts)) and set(cuts) <= untried
    assert len(cuts) == min(count, len(untried)), "every position is tried before a hunt gives up"
    assert cuts == cut(low, high, sorted(silent, reverse=True), sorted(pending), count), "deterministic"


@given(st.integers(0, 50), st.integers(1, 400), st.integers(1, 10))
def test_parts_are_even(low: int, length: int, count: int) -> None:
    high = low + length
    cuts = cut(low, high, (), (), count)
    parts = [b - a - 1 for a, b in itertools.pairwise([low, *cuts, high])]
    assert max(parts) <= math.ceil((length - 1) / (count + 1)), "no part is larger than an even share"


@given(st.integers(0, 300), st.integers(1, 5), st.integers(1, 5))
def test_what_is_pending_counts_as_cut(length: int, first: int, second: int) -> None:
    before = cut(0, length + 1, (), (), first)
    added = cut(0, length + 1, (), before, second)
    parts = [b - a - 1 for a, b in itertools.pairwise([0, *sorted(before + added), length + 1])]
    largest = max(b - a - 1 for a, b in itertools.pairwise([0, *before, length + 1]))
    assert (
        max(parts) < largest
        or largest == 0
        or second < sum(b - a - 1 == largest for a, b in itertools.pairwise([0, *before, length + 1]))
    )


def escape(length: int, block: range) -> int:
    """How many probes fall into an unjudgeable block before one falls outside."""
    silent: list[int] = []
    while (position := cut(0, length, silent)[0]) in block:
        silent.append(position)
    return len(silent)


@pytest.mark.parametrize("length", [100, 1000, 10_000])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_block_is_left_behind_after_about_its_binary_digits(length: int, share: float, place: float) -> None:
    size = max(1, int(length * share))
    # `place` says which part of the block lies before the middle.
    start = max(1, length // 2 - int(size * place))
    block = range(start, min(length, start + size))
    # And where only one in r positions lies outside, half on each side, about 2r more are needed to meet one.
    assert escape(length, block) <= len(block).bit_length() + 2 * length // (length - len(block))
    if share <= 0.3 and place == 0.5:
        assert escape(length, block) > 0, "the block is in the way"


@cache
def dearest(length: int, silent: frozenset[int], holes: int) -> int:
    """The most probes that any history makes necessary in an open range of `length` steps, `holes` more of them
    silent: the game of hunter against history, played to its end."""
    cuts = cut(0, length, silent)
    if not cuts:
        return 0
    [place] = cuts
    after = dearest(place, frozenset(p for p in silent if p < place), holes)
    before = dearest(length - place, frozenset(p - place for p in silent if p > place), holes)
    unjudged = dearest(length, silent | {place}, holes - 1) if holes else 0
    return 1 + max(after, before, unjudged)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 15, 16, 20, 24, 31, 32, 64])
def test_each_silent_probe_costs_one_more_at_most(length: int) -> None:
    assert dearest(length, frozenset(), 0) == math.ceil(math.log2(length))
    for holes in range(1, 5 if length < 32 else 3):
        assert dearest(length, frozenset(), holes) <= math.ceil(math.log2(length)) + 2 * holes


@given(st.sets(st.integers(1, 99)))
@example(set(range(30, 70)))
def test_nothing_is_cut_twice_until_all_is_tried(silent: set[int]) -> None:
    tried = set(silent)
    while cuts := cut(0, 100, tried):
        assert not tried & set(cuts)
        tried |= set(cuts)
    assert tried == set(range(1, 100))
