# SPDX-License-Identifier: Apache-2.0
"""The hunt, on simulated histories whose answer is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.core.bisection import Answer, Bisection
from headwater.core.verdicts import Verdict

GOOD, BAD, ABSENT, UNTESTABLE = Verdict.GOOD, Verdict.BAD, Verdict.ABSENT, Verdict.UNTESTABLE
UNJUDGEABLE = sorted(set(Verdict) - {GOOD, BAD, ABSENT}, key=lambda verdict: verdict.value)
History = list[Verdict]


def monotone(absent: int, good: int, bad: int) -> History:
    return [ABSENT] * absent + [GOOD] * good + [BAD] * bad


@st.composite
def histories(draw: st.DrawFn, *, holes: bool) -> tuple[History, int]:
    """absent* good* bad+ with judged ends, and where bad begins; with `holes`, some are not judged."""
    absent, good = draw(st.integers(0, 60)), draw(st.integers(0, 60))
    history = monotone(absent, good + (absent + good == 0), draw(st.integers(1, 60)))
    first_bad = history.index(BAD)
    if holes and len(history) > 2:
        inner = st.integers(1, len(history) - 2)
        low, high = sorted((draw(inner), draw(inner)))
        clustered = st.sets(st.integers(low, high))
        for position in draw(st.sets(inner)) | draw(clustered):
            history[position] = draw(st.sampled_from(UNJUDGEABLE))
    return history, first_bad


def hunt(history: History) -> tuple[Bisection, list[int]]:
    """Run a hunt to its end, checking at every step what must hold at every step."""
    bisection = Bisection(len(history))
    probed: list[int] = []
    while (position := bisection.next_step()) is not None:
        assert 0 <= position < len(history)
        assert position not in probed, "nothing that is known is probed again"
        before = bisection.answer() if bisection.ends_differ else None
        if before is not None:
            assert before.last_good < position < before.first_bad, "only what can change the answer is probed"
        probed.append(position)
        bisection.mark(position, history[position])
        if before is not None:
            after = bisection.answer()
            assert set(after.candidates) <= set(before.candidates)
            if history[position] in UNJUDGEABLE:
                assert after == before, "what could not be judged never narrows the answer"
    return bisection, probed


@given(histories(holes=False))
@example((monotone(0, 1, 1), 1))
@example((monotone(0, 1, 200), 1))
def test_the_first_bad_is_found_exactly(drawn: tuple[History, int]) -> None:
    history, first_bad = drawn
    bisection, probed = hunt(history)
    assert bisection.answer() == Answer(first_bad - 1, first_bad)
    assert bisection.answer().found
    assert list(bisection.answer().candidates) == [first_bad]
    assert len(probed) <= math.ceil(math.log2(len(history))) + 2


@given(histories(holes=True))
@example(([UNTESTABLE if n in (6, 7, 9) else v for n, v in enumerate(monotone(0, 12, 2))], 12))
def test_holes_widen_the_answer_and_cost_one_probe_each(drawn: tuple[History, int]) -> None:
    history, first_bad = drawn
    bisection, probed = hunt(history)
    answer = bisection.answer()
    assert first_bad in answer.candidates
    assert answer.last_good in probed and history[answer.last_good] in (GOOD, ABSENT)
    assert answer.first_bad in probed and history[answer.first_bad] is BAD, "only bad may blame"
    between = range(answer.last_good + 1, answer.first_bad)
    assert all(history[p] in UNJUDGEABLE and p in probed for p in between), "nothing is left to learn"
    assert answer.found == (len(between) == 0)
    unjudgeable = sum(verdict in UNJUDGEABLE for verdict in history)
    assert len(probed) <= math.ceil(math.log2(len(history))) + 2 + unjudgeable


ENDS_THAT_DIFFER = {(GOOD, BAD), (ABSENT, BAD)}


@pytest.mark.parametrize("last", Verdict)
@pytest.mark.parametrize("first", Verdict)
def test_both_ends_are_proved_first(first: Verdict, last: Verdict) -> None:
    bisection, probed = hunt([first, GOOD, GOOD, GOOD, BAD, BAD, last])
    assert bisection.ends == (first, last)
    assert bisection.ends_differ == ((first, last) in ENDS_THAT_DIFFER)
    if not bisection.ends_differ:
        assert len(probed) <= 2
        assert bisection.next_step() is None
        with pytest.raises(ValueError, match="ends do not differ"):
            bisection.answer()


def test_one_revision_alone_has_no_answer() -> None:
    for verdict in Verdict:
        bisection, probed = hunt([verdict])
        assert probed == [0]
        assert not bisection.ends_differ


def test_nothing_is_known_before_the_ends_are() -> None:
    bisection = Bisection(5)
    assert bisection.ends == (None, None)
    assert not bisection.ends_differ
    with pytest.raises(ValueError, match="ends"):
        bisection.answer()


def test_an_interrupted_hunt_has_the_best_so_far_and_goes_on_from_what_is_stored() -> None:
    history = monotone(3, 10, 20)
    _, probed = hunt(history)
    for count in range(2, len(probed)):
        resumed = Bisection(len(history))
        for position in sorted(probed[:count]):
            resumed.mark(position, history[position])
        assert 13 in resumed.answer().candidates
        assert resumed.next_step() == probed[count]


def test_known_verdicts_spare_probes() -> None:
    bisection = Bisection(100)
    for position, verdict in ((0, GOOD), (99, BAD), (40, ABSENT), (43, BAD)):
        bisection.mark(position, verdict)
    assert bisection.answer() == Answer(40, 43)
    assert bisection.next_step() in (41, 42)


def test_a_bug_that_comes_again_is_hunted_where_it_came_last() -> None:
    bisection = Bisection(10)
    for position, verdict in ((0, GOOD), (2, BAD), (5, GOOD), (9, BAD)):
        bisection.mark(position, verdict)
    assert bisection.answer() == Answer(5, 9)


def test_positions_outside_are_refused() -> None:
    for position in (-1, 3):
        with pytest.raises(IndexError, match="outside"):
            Bisection(3).mark(position, GOOD)
    with pytest.raises(ValueError, match="at least one"):
        Bisection(0)
