# SPDX-License-Identifier: Apache-2.0
"""Every change of a verdict over a tree of releases."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.changes import Changes, T
from headwater.core.history import lines
from headwater.core.marks import JUDGED
from headwater.core.verdicts import Verdict

GOOD, BAD, ABSENT, UNTESTABLE = Verdict.GOOD, Verdict.BAD, Verdict.ABSENT, Verdict.UNTESTABLE
Known = tuple[Version, ...]


def search(changes: Changes[T], truth: dict[T, Verdict], workers: int = 1, seed: int = 0) -> list[T]:
    """Probe until nothing is asked for; replies come in any order."""
    rng, pending, probed = random.Random(seed), list[T](), list[T]()
    while True:
        steps = changes.next_steps(workers - len(pending), pending) if len(pending) < workers else []
        assert len(steps) == len(set(steps)) and not set(steps) & set(pending), "none is probed twice at a time"
        pending += steps
        if not pending:
            assert changes.done
            return probed
        node = pending.pop(rng.randrange(len(pending)))
        probed.append(node)
        changes.mark(node, truth[node])


def words(changes: Changes[Version]) -> list[str]:
    return [f"{c.kind} {c.before}>{' '.join(map(str, c.candidates))}" for c in changes.changes()]


def t5gemma(version: Version) -> Verdict:
    bad = version < Version("5") or Version("5.1") <= version < Version("5.10")
    return BAD if bad else GOOD


def test_a_bug_that_was_fixed_and_brought_back(known: Known) -> None:
    changes = Changes(lines(Version("4.56.0"), Version("5.24.0"), known))
    probed = search(changes, {v: t5gemma(v) for v in known})
    assert words(changes) == ["fixed 4.57.0>5.0.0", "introduced 5.0.0>5.1.0", "fixed 5.9.0>5.10.0"]
    assert all(change.found and change.line == 0 for change in changes.changes())
    assert len(probed) == changes.grid_size + 5, "every end of a change was seen twice; 5.0.0 is one of two"


def test_the_main_bug(known: Known) -> None:
    affected = {v: ABSENT if v < Version("5.5") else BAD if v < Version("5.13") else GOOD for v in known}
    tree = lines(Version("5.0.0"), Version("5.24.0"), known)
    changes = Changes(tree)
    probed = search(changes, affected, workers=3)
    assert words(changes) == ["introduced 5.4.0>5.5.0", "fixed 5.12.0>5.13.0"]
    assert changes.changes()[0].verdicts == (ABSENT, BAD)
    tips = sum(len(line) > 1 for line in tree[1:])
    assert changes.grid_size == len(tree[0]) + tips
    assert len(probed) == changes.grid_size + 4
    hidden = {str(v) for gap in changes.unseen() for v in gap.unprobed}
    assert hidden == {"5.5.1", "5.5.2", "5.5.3", "5.6.1", "5.10.1", "5.10.2", "5.20.1", "5.22.1"}, "and it says so"


def test_a_fix_that_was_carried_to_a_maintenance_line(known: Known) -> None:
    truth = {v: BAD if v < Version("5.13") else GOOD for v in known}
    truth |= {Version("5.5.3"): GOOD, Version("5.5.4"): GOOD, Version("5.10.4"): ABSENT}
    tree = lines(Version("5.4.0"), Version("5.24.0"), known)
    changes = Changes(tree)
    search(changes, truth)
    assert words(changes) == ["fixed 5.12.0>5.13.0", "fixed 5.5.2>5.5.3", "removed 5.10.2>5.10.4"]
    assert [tree[change.line][0] for change in changes.changes()] == [
        Version("5.4.0"),
        Version("5.5.0"),
        Version("5.10.0"),
    ]


def test_what_lies_between_equal_neighbours_is_unseen_unless_all_is_probed(known: Known) -> None:
    truth = {v: BAD if v in (Version("5.7.0"), Version("5.10.2")) else GOOD for v in known}
    tree = lines(Version("5.4.0"), Version("5.14.0"), known)
    coarse, fine = Changes(tree, grid=3), Changes(tree, exhaustive=True)
    search(coarse, truth)
    search(fine, truth)
    assert words(coarse) == []
    assert Version("5.7.0") in coarse.unseen()[0].unprobed and coarse.unseen()[0].verdict is GOOD
    assert words(fine) == [
        "introduced 5.6.0>5.7.0",
        "fixed 5.7.0>5.8.0",
        "introduced 5.10.1>5.10.2",
        "fixed 5.10.2>5.10.4",
    ]
    assert fine.unseen() == []


def test_no_ends_are_needed_and_none_are_made_up() -> None:
    changes = Changes([list("abcdef")])
    search(changes, dict(zip("abcdef", [UNTESTABLE, GOOD, UNTESTABLE, BAD, UNTESTABLE, BAD], strict=True)))
    [change] = changes.changes()
    assert (change.kind, change.before, change.after) == ("introduced", "b", "d")
    assert change.candidates == ("c", "d") and not change.found
    start, between = changes.unseen()
    assert (start.before, start.after, start.unjudged) == (None, "b", ("a",))
    assert (between.before, between.after, between.unjudged, between.verdict) == ("d", "f", ("e",), BAD)


def test_a_change_that_wavers_is_not_named() -> None:
    changes = Changes([list("abcd")])
    for node, verdict in zip("abcdb", [GOOD, GOOD, BAD, BAD, BAD], strict=True):
        changes.mark(node, verdict)
    assert changes.standing("b") is Verdict.FLAKY
    assert changes.next_steps(9) == ["a", "c"]
    search(changes, dict(zip("abcd", [GOOD, GOOD, BAD, BAD], strict=True)))
    [change] = changes.changes()
    assert change.candidates == ("b", "c") and change.confirmed


KINDS = {
    (GOOD, BAD): "introduced",
    (ABSENT, BAD): "introduced",
    (BAD, GOOD): "fixed",
    (ABSENT, GOOD): "arrived",
    (GOOD, ABSENT): "removed",
    (BAD, ABSENT): "removed",
}


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[list[Version]], dict[Version, Verdict]]:
    """A main line and maintenance lines, with runs of verdicts along each."""
    minors = draw(st.integers(1, 25))
    micros = [draw(st.integers(0, 4)) for _ in range(minors)]
    known = [Version(f"5.{y}.{z}") for y in range(minors) for z in range(micros[y] + 1)]
    truth: dict[Version, Verdict] = {}
    verdict = draw(st.sampled_from(JUDGED))
    for version in sorted(known, key=lambda v: (v.micro != 0, v)):
        if version.micro:
            verdict = truth[Version(f"5.{version.minor}.{version.micro - 1}")]
        if draw(st.integers(0, 5)) == 0:
            verdict = draw(st.sampled_from(JUDGED))
        truth[version] = verdict
    for version in draw(st.sets(st.sampled_from(known))) if draw(st.booleans()) else ():
        truth[version] = UNTESTABLE
    return lines(known[0], max(known), known), truth


@examples(200)
@given(trees(), st.sampled_from([None, 2, 3, 5]), st.booleans(), st.integers(1, 6), st.integers(0, 3))
def test_what_is_reported_is_true_and_what_is_not_is_unseen(
    drawn: tuple[list[list[Version]], dict[Version, Verdict]],
    grid: int | None,
    exhaustive: bool,
    workers: int,
    seed: int,
) -> None:
    tree, truth = drawn
    changes = Changes(tree, grid=grid, exhaustive=exhaustive)
    probed = search(changes, truth, workers, seed)
    assert all(probed.count(v) <= 2 for v in set(probed))
    for change in changes.changes():
        assert change.verdicts == (truth[change.before], truth[change.after]) and change.confirmed
        assert change.kind == KINDS[change.verdicts]
        assert change.candidates[-1] == change.after
        assert all(truth[v] is UNTESTABLE for v in change.candidates[:-1]), "the smallest range that is certain"
    reported = {(c.line, c.before, c.after) for c in changes.changes()}
    for number, line in enumerate(tree):
        hidden = [{*gap.unprobed, *gap.unjudged} for gap in changes.unseen() if gap.line == number]
        judged = [v for v in line if truth[v] in JUDGED]
        for a, b in itertools.pairwise(judged):
            if truth[a] != truth[b] and (number, a, b) not in reported:
                assert any({a, b} & stretch for stretch in hidden), "what is not reported lies where it did not look"
    if exhaustive:
        assert not any(gap.unprobed for gap in changes.unseen())


@given(trees(), st.sampled_from([None, 2, 4]))
def test_what_it_costs(drawn: tuple[list[list[Version]], dict[Version, Verdict]], grid: int | None) -> None:
    tree, truth = drawn
    truth = {version: GOOD if verdict is UNTESTABLE else verdict for version, verdict in truth.items()}
    changes = Changes(tree, grid=grid)
    probed = search(changes, truth)
    gap = max(map(len, tree))
    assert len(probed) <= changes.grid_size + (math.ceil(math.log2(gap)) + 2) * len(changes.changes())


@given(trees(), st.data())
def test_it_resumes(drawn: tuple[list[list[Version]], dict[Version, Verdict]], data: st.DataObject) -> None:
    tree, truth = drawn
    changes = Changes(tree, grid=3)
    probed = search(changes, truth)
    resumed = Changes(tree, grid=3)
    cutoff = data.draw(st.integers(0, len(probed)))
    for node, verdict in changes.log[:cutoff]:
        resumed.mark(node, verdict)
    assert resumed.next_steps() == probed[cutoff : cutoff + 1]


def test_bad_arguments_are_refused() -> None:
    for empty in ([], [["a"], []]):
        with pytest.raises(ValueError, match="at least one revision"):
            Changes[str](empty)
    with pytest.raises(ValueError, match="two points"):
        Changes([["a", "b"]], grid=1)
    with pytest.raises(KeyError):
        Changes([["a"]]).mark("b", GOOD)
