# SPDX-License-Identifier: Apache-2.0
"""What a crossing of code and packages says, and how a hunt ends."""

from __future__ import annotations

import pytest

from headwater.core.hunting import Crossing, HuntReport, Obstacle, obstacle_of
from headwater.core.results import HuntResult
from headwater.core.verdicts import Verdict

GOOD, BAD = Verdict.GOOD, Verdict.BAD


@pytest.mark.parametrize(
    ("verdicts", "culprit"),
    [
        (((GOOD, GOOD), (BAD, BAD)), "library"),
        (((GOOD, BAD), (GOOD, BAD)), "packages"),
        (((GOOD, GOOD), (GOOD, BAD)), "both"),
        (((GOOD, GOOD), (GOOD, GOOD)), "unclear"),
        (((BAD, BAD), (BAD, BAD)), "unclear"),
        (((GOOD, GOOD), (BAD, Verdict.OTHER_FAILURE)), "unclear"),
    ],
)
def test_only_a_change_that_shows_has_a_culprit(
    verdicts: tuple[tuple[Verdict, Verdict], tuple[Verdict, Verdict]], culprit: str
) -> None:
    assert Crossing(("1", "2"), ("a", "b"), verdicts).culprit == culprit


@pytest.mark.parametrize(
    ("result", "obstacle", "status"),
    [
        ("found", "ends", 0),
        ("range", "ends", 4),
        ("bad-endpoints", "ends", 3),
        ("bad-endpoints", "machine", 5),
        ("inconclusive", "ends", 3),
        ("inconclusive", "contradiction", 4),
        ("inconclusive", "machine", 5),
    ],
)
def test_the_status_says_what_stood_in_the_way(result: HuntResult, obstacle: Obstacle, status: int) -> None:
    for interrupted in (False, True):
        report = HuntReport("case", "introduced", "cpu", result, (), (), 0, interrupted, obstacle=obstacle)
        assert report.exit_status == (130 if interrupted else status)


def test_only_a_harness_error_is_the_machines() -> None:
    assert {verdict for verdict in Verdict if obstacle_of([GOOD, None, verdict]) == "machine"} == {
        Verdict.HARNESS_ERROR
    }
