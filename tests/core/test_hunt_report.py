# SPDX-License-Identifier: Apache-2.0
"""What a crossing of code and packages says, and how a hunt ends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from packaging.version import Version

from headwater.core.commits import Commit
from headwater.core.hunt_report import Crossing, HuntReport, Obstacle, change_between, obstacle_of, overall
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


def commit(digit: str, day: int) -> Commit:
    return Commit(digit * 40, datetime(2026, 5, day, tzinfo=UTC), "mend", None, None)


def test_a_change_between_neighbours_names_its_commit() -> None:
    revisions = [commit("a", 1), commit("b", 2)]
    change = change_between("introduced", "commits", revisions, (GOOD, BAD))
    assert change.found and change.commit == revisions[1] and (change.before, change.after) == ("a" * 40, "b" * 40)
    assert change_between("introduced", "commits", revisions, (GOOD, BAD), confirmed=False).commit is None


def test_a_range_names_no_commit_and_the_finest_level_counts() -> None:
    releases = change_between("introduced", "releases", [Version("5.4.0"), Version("5.5.0")], (GOOD, BAD))
    wide = change_between("introduced", "commits", [commit(d, 1) for d in "abc"], (GOOD, BAD))
    assert (releases.found, wide.found, wide.commit) == (True, False, None)
    assert (overall([releases]), overall([releases, wide])) == ("found", "range")
