# SPDX-License-Identifier: Apache-2.0
"""What several probes of one revision come to, and on which side of a change that stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.marks import Marks, side
from headwater.core.verdicts import Verdict

GOOD, BAD, ABSENT, FAULT = Verdict.GOOD, Verdict.BAD, Verdict.ABSENT, Verdict.HARNESS_ERROR


def marked(*verdicts: Verdict) -> Marks[str]:
    marks: Marks[str] = Marks()
    for verdict in verdicts:
        marks.add("5.10.1", verdict)
    return marks


@pytest.mark.parametrize("verdict", Verdict)
def test_only_bad_blames_and_absent_is_no_fix(verdict: Verdict) -> None:
    assert side(verdict, "introduced") == {GOOD: False, ABSENT: False, BAD: True}.get(verdict)
    assert side(verdict, "fixed") == {BAD: False, GOOD: True}.get(verdict)
    assert side(None, "introduced") is None


@pytest.mark.parametrize(
    ("verdicts", "standing", "support"),
    [
        ((), None, 0),
        ((GOOD,), GOOD, 1),
        ((BAD, BAD), BAD, 2),
        ((GOOD, BAD), Verdict.FLAKY, 0),
        ((GOOD, ABSENT), Verdict.FLAKY, 0),
        ((FAULT,), FAULT, 0),
        ((FAULT, FAULT, BAD), BAD, 1),
        ((BAD, FAULT), BAD, 1),
        ((BAD, FAULT, FAULT), FAULT, 1),
        ((BAD, FAULT, FAULT, BAD), BAD, 2),
        ((BAD, BAD, FAULT, FAULT), BAD, 2),
    ],
)
def test_standing(verdicts: tuple[Verdict, ...], standing: Verdict | None, support: int) -> None:
    marks = marked(*verdicts)
    assert (marks.standing("5.10.1"), marks.support("5.10.1")) == (standing, support)
    assert marks.repetitions("5.10.1") == len(verdicts)


@given(st.lists(st.sampled_from(Verdict)))
def test_asking_ends(verdicts: list[Verdict]) -> None:
    """However probes end, no revision is asked for more often than two proofs and two faults before each of them."""
    marks = marked()
    for asked, verdict in enumerate(verdicts):
        if not marks.may_be_proved("5.10.1", 2):
            break
        assert asked < 4
        marks.add("5.10.1", verdict)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Verdict))))
def test_forgetting_leaves_no_trace(entries: list[tuple[str, Verdict]]) -> None:
    marks: Marks[str] = Marks()
    without: Marks[str] = Marks()
    for key, verdict in entries:
        marks.add(key, verdict)
        if key != "b":
            without.add(key, verdict)
    marks.forget("b")
    assert marks.log == without.log
    assert marks.seen == without.seen
    assert [marks.standing(key) for key in "abc"] == [without.standing(key) for key in "abc"]
