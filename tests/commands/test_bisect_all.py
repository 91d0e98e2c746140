# SPDX-License-Identifier: Apache-2.0
"""`--find all`: every change over a tree of releases, or over commits; and hunts into maintenance lines."""

from __future__ import annotations

import math

import pytest
from hunting_ground import COMMITS, MAIN, RELEASES, Ground, Ran


def told(done: Ran) -> list[tuple[str, str]]:
    """What changed, and in which revision."""
    return [(change["find"], change["candidates"][-1]) for change in done.json["changes"]]


def test_a_bug_that_was_fixed_and_brought_back(ground: Ground) -> None:
    done = ground.hunt("again", "--find", "all")
    assert done.status == 0, done.err
    assert told(done) == [("introduced", "5.2.0"), ("fixed", "5.5.0"), ("introduced", "5.6.0")]
    assert set(MAIN) <= set(done.verdicts())
    # Both maintenance lines are looked at from their last releases, and what that leaves open is said.
    assert set(done.verdicts()) - set(MAIN) == {"5.2.2", "5.4.1"}
    assert "5.2.1 was not probed" in done.notes


def test_a_repository_is_for_hunts_over_commits(ground: Ground) -> None:
    done = ground.hunt("early", "--find", "all", "--repo", ground.repo)
    assert told(done) == [("introduced", "5.1.0")]
    assert "with --find all a hunt over releases stays there" in done.notes
    assert "stays there" not in ground.hunt("early", "--find", "all").notes


def test_nothing_changes(ground: Ground) -> None:
    done = ground.hunt("never", "--find", "all")
    assert (done.status, done.json["result"], done.json["changes"]) == (0, "found", [])
    assert "no change of verdict was seen" in ground.run("bisect", "never", "--find", "all").out


def test_a_feature_that_arrived(ground: Ground) -> None:
    done = ground.hunt("arrived", "--find", "all")
    assert told(done) == [("introduced", "5.4.0")]
    assert done.change["verdicts"] == ["absent", "bad"]


@pytest.mark.parametrize(("case", "change"), [("maintained", ("introduced", "5.2.2")), ("undone", ("fixed", "5.4.1"))])
def test_changes_in_maintenance_lines(ground: Ground, case: str, change: tuple[str, str]) -> None:
    assert change in told(ground.hunt(case, "--find", "all"))


def test_a_grid(ground: Ground) -> None:
    done = ground.hunt("early", "--find", "all", "--grid", "2")
    assert told(done) == [("introduced", "5.1.0")]
    on_main = [revision for revision in done.verdicts() if revision in MAIN]
    assert len(on_main) <= 2 + math.ceil(math.log2(len(MAIN) - 1)) + 2


def test_everything(ground: Ground) -> None:
    done = ground.hunt("undone", "--find", "all", "--exhaustive")
    assert sorted(done.verdicts()) == sorted(RELEASES)
    assert "not probed" not in done.notes


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["--good", "5.1.0", "--bad", "5.3.0"], {"5.1.0", "5.2.0", "5.3.0", "5.2.2"}),
        (["--good", "5.6.0"], {"5.6.0", "5.7.0"}),
    ],
)
def test_a_part_of_the_range(ground: Ground, words: list[str], seen: set[str]) -> None:
    assert set(ground.hunt("again", "--find", "all", *words).verdicts()) == seen


def test_all_changes_over_commits(ground: Ground) -> None:
    words = ("--find", "all", "--history", "commits", "--repo", ground.repo)
    done = ground.between("again", "5.0.0", "5.7.0", *words, "--grid", "8")
    assert done.status == 0, done.err
    found = [(change["find"], ground.number(change["candidates"][0])) for change in done.json["changes"]]
    assert found == [("introduced", 6), ("fixed", 17), ("introduced", 22)]
    gap = math.ceil((COMMITS - 1) / 7)
    assert len(done.json["probes"]) <= 8 + 3 * (math.ceil(math.log2(gap)) + 2)
    assert done.change["commit"]["pull_request"] == 122


@pytest.mark.parametrize(
    ("case", "good", "bad", "find", "change"),
    [
        ("maintained", "5.2.0", "5.2.2", "introduced", ("introduced", "5.2.2")),
        ("undone", "5.4.1", "5.4.0", "fixed", ("fixed", "5.4.1")),
        # The ends lie on different lines. 5.2.0, from which both grew, is good: 5.2.2 brought the bug by itself.
        ("maintained", "5.3.0", "5.2.2", "introduced", ("introduced", "5.2.2")),
        # 5.4.0 is bad: what is on the way to 5.4.1 is the mending.
        ("undone", "5.4.1", "5.7.0", "introduced", ("fixed", "5.4.1")),
    ],
)
def test_into_a_maintenance_line(
    ground: Ground, case: str, good: str, bad: str, find: str, change: tuple[str, str]
) -> None:
    done = ground.between(case, good, bad, "--find", find, "--repo", ground.repo)
    assert done.status == 0, done.out
    assert told(done) == [change]
    assert "maintenance release" in done.notes
    if (good, bad) in (("5.3.0", "5.2.2"), ("5.4.1", "5.7.0")):
        assert "common ancestor" in done.notes
