# SPDX-License-Identifier: Apache-2.0
"""Walking outward for an end that nobody gave."""

from __future__ import annotations

import random
from typing import Literal

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.bisection import Bisection
from headwater.core.marks import Find
from headwater.core.outward import Outward
from headwater.core.verdicts import Verdict

GOOD, BAD, ABSENT, UNTESTABLE = Verdict.GOOD, Verdict.BAD, Verdict.ABSENT, Verdict.UNTESTABLE
Toward = Literal["older", "newer"]


def walk(outward: Outward, history: list[Verdict], workers: int = 1, seed: int = 0) -> list[int]:
    """Probe until nothing is asked for; replies come in any order."""
    rng, pending, probed = random.Random(seed), list[int](), list[int]()
    while True:
        steps = outward.next_steps(workers - len(pending), pending) if len(pending) < workers else []
        assert not set(steps) & set(pending + probed) and len(steps) == len(set(steps)), "none is probed twice"
        pending += steps
        if not pending:
            return probed
        position = pending.pop(rng.randrange(len(pending)))
        probed.append(position)
        outward.mark(position, history[position])


def test_steps_double() -> None:
    outward = Outward(100, 90, "older")
    assert walk(outward, [BAD] * 100) == [89, 88, 86, 82, 74, 58, 26, 0]
    assert outward.found is None and outward.nearest == 0, "not found, and that is certain for one change-over"


@pytest.mark.parametrize(
    ("find", "toward", "history", "known", "found", "nearest"),
    [
        ("introduced", "older", [GOOD] * 5 + [BAD] * 15, 19, 3, 11),
        ("introduced", "older", [ABSENT] * 5 + [BAD] * 15, 19, 3, 11),
        ("introduced", "newer", [ABSENT, GOOD] + [BAD] * 15, 0, 2, 1),
        ("fixed", "newer", [BAD] * 4 + [GOOD] * 9, 0, 4, 2),
        ("fixed", "older", [BAD] * 4 + [GOOD] * 9, 12, 0, 4),
        ("fixed", "newer", [BAD] * 4 + [ABSENT] * 5, 0, None, 3),
    ],
)
def test_each_end_of_each_hunt(
    find: Find, toward: Toward, history: list[Verdict], known: int, found: int | None, nearest: int
) -> None:
    outward = Outward(len(history), known, toward, find)
    walk(outward, history)
    assert (outward.found, outward.nearest) == (found, nearest)


@st.composite
def walks(draw: st.DrawFn) -> tuple[list[Verdict], int, Toward]:
    """good* bad* with holes, and a known end on one of the two sides."""
    culprit, rest = draw(st.integers(0, 80)), draw(st.integers(0, 80))
    history = [GOOD] * culprit + [BAD] * (rest + (culprit + rest == 0))
    known = draw(st.integers(0, len(history) - 1))
    for position in draw(st.sets(st.integers(0, len(history) - 1))) - {known}:
        history[position] = draw(st.sampled_from([UNTESTABLE, Verdict.OTHER_FAILURE, Verdict.HARNESS_ERROR]))
    return history, known, "older" if history[known] is BAD else "newer"


@examples(300)
@given(walks(), st.integers(1, 5), st.integers(0, 5))
def test_an_end_is_found_where_there_is_one(drawn: tuple[list[Verdict], int, Toward], workers: int, seed: int) -> None:
    history, known, toward = drawn
    outward = Outward(len(history), known, toward)
    probed = walk(outward, history, workers, seed)
    wanted = GOOD if toward == "older" else BAD
    beyond = history[:known] if toward == "older" else history[known + 1 :]
    assert (outward.found is not None) == (wanted in beyond)
    assert history[outward.nearest] is history[known]
    if outward.found is not None:
        assert history[outward.found] is wanted
        between = range(*sorted((outward.found, outward.nearest)))
        assert all(history[p] is not wanted for p in probed if p in between and p != outward.found)
    elif UNTESTABLE not in beyond:
        assert len(probed) <= len(beyond)


@given(st.integers(1, 500), st.integers(1, 500))
def test_the_walk_and_the_hunt_after_it_are_logarithmic_in_the_way(distance: int, rest: int) -> None:
    """The end is at most twice as far as it must be, and the hunt that follows is told what the walk saw."""
    history = [GOOD] * rest + [BAD] * distance
    outward = Outward(len(history), len(history) - 1, "older")
    probed = walk(outward, history)
    assert outward.found is not None
    assert len(history) - 1 - outward.found <= 2 * distance
    assert len(probed) <= distance.bit_length() + 1
    low = outward.found
    bisection = Bisection(len(history) - low, proofs=1, confirm=False)
    bisection.mark(len(history) - 1 - low, BAD)
    for position, verdict in outward.log:
        bisection.mark(position - low, verdict)
    more = 0
    while steps := bisection.next_steps():
        bisection.mark(steps[0], history[steps[0] + low])
        more += 1
    assert bisection.answer().after + low == rest
    assert more <= distance.bit_length()


def test_nowhere_to_go() -> None:
    outward = Outward(3, 0, "older")
    assert outward.next_steps() == [] and outward.found is None and outward.nearest == 0
    for position in (0, 1, -1):
        with pytest.raises(IndexError, match="not beyond"):
            outward.mark(position, GOOD)
    with pytest.raises(ValueError, match="outside"):
        Outward(3, 3, "older")
