# SPDX-License-Identifier: Apache-2.0
"""Releases are a tree: a hunt goes along the main line first, then into a maintenance line."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.history import Line, common_ancestor, lines, parent, path, plan
from headwater.core.marks import Find
from headwater.core.releases import is_on_main_line

Known = tuple[Version, ...]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("5.10.4", "5.10.2"),
        ("5.10.1", "5.10.0"),
        ("5.10.0", "5.9.0"),
        ("5.11.0", "5.10.0"),
        ("5.5.0", "5.4.0"),
        ("5.0.0", "4.57.0"),
        ("4.56.1", "4.56.0"),
        ("4.56.0", None),
    ],
)
def test_parent(known: Known, version: str, expected: str | None) -> None:
    assert parent(Version(version), known) == (Version(expected) if expected else None)


def test_a_maintenance_release_whose_start_is_unknown_has_no_parent() -> None:
    assert parent(Version("5.10.1"), [Version("5.9.0"), Version("5.10.1")]) is None


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("5.4.0", "5.10.1", "5.4.0 5.5.0 5.6.0 5.7.0 5.8.0 5.9.0 5.10.0 5.10.1"),
        ("5.10.0", "5.10.4", "5.10.0 5.10.1 5.10.2 5.10.4"),
        ("5.10.1", "5.10.4", "5.10.1 5.10.2 5.10.4"),
        ("5.10.0", "5.13.1", "5.10.0 5.11.0 5.12.0 5.13.0 5.13.1"),
        ("4.57.0", "5.1.0", "4.57.0 5.0.0 5.1.0"),
        ("5.10.4", "5.10.4", "5.10.4"),
        ("4.56.0", "4.56.2", "4.56.0 4.56.1 4.56.2"),
    ],
)
def test_path(known: Known, old: str, new: str, expected: str) -> None:
    assert " ".join(map(str, path(Version(old), Version(new), known))) == expected


@pytest.mark.parametrize(
    ("old", "new", "instead"),
    [
        ("5.10.4", "5.12.0", "5.11.0"),
        ("5.10.1", "5.11.0", "5.11.0"),
        ("5.12.1", "5.13.0", "5.13.0"),
        ("5.10.3", "5.10.4", "5.10.4"),
        ("4.57.6", "5.10.1", "5.0.0"),
        ("4.55.0", "5.10.1", "4.56.0"),
    ],
)
def test_no_ancestor(known: Known, old: str, new: str, instead: str) -> None:
    with pytest.raises(BadInput, match=f"{old} is no ancestor of {new}.*{instead}"):
        path(Version(old), Version(new), known)


@pytest.mark.parametrize(("old", "new"), [("5.12.0", "5.10.1"), ("5.13.0", "5.4.0")])
def test_ends_the_wrong_way_round(known: Known, old: str, new: str) -> None:
    with pytest.raises(BadInput) as caught:
        path(Version(old), Version(new), known)
    # The reason must be the true one: an x.y.0 release is no maintenance release, it is only newer.
    assert "maintenance" not in str(caught.value)
    assert old in str(caught.value) and new in str(caught.value)


@given(st.data())
def test_each_step_is_the_parent_of_the_next(data: st.DataObject) -> None:
    every = [Version(f"5.{y}.{z}") for y in range(5) for z in range(4)]
    drawn = data.draw(st.sets(st.sampled_from(every)))
    known = sorted(drawn | {Version(f"5.{y}.0") for y in range(5)})
    old, new = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(known))
    is_ancestor = old <= new and (is_on_main_line(old) or old.release[:2] == new.release[:2])
    if not is_ancestor:
        with pytest.raises(BadInput):
            path(old, new, known)
        return
    steps = path(old, new, known)
    assert (steps[0], steps[-1]) == (old, new)
    assert all(parent(b, known) == a for a, b in itertools.pairwise(steps))
    off_main = [not is_on_main_line(v) for v in steps]
    assert off_main == sorted(off_main)


def shown(line: Line) -> str:
    needs = "" if line.needs is None else f" if {line.releases[0]} is {line.needs}"
    return f"{line.find} {line.releases[0]}..{line.releases[-1]} ({len(line.releases)}){needs}"


@pytest.mark.parametrize(
    ("good", "bad", "find", "expected"),
    [
        ("5.4.0", "5.10.1", "introduced", ["introduced 5.4.0..5.10.1 (8)"]),
        (
            "5.10.4",
            "5.12.1",
            "introduced",
            ["introduced 5.10.0..5.12.1 (4) if 5.10.0 is good", "fixed 5.10.0..5.10.4 (4) if 5.10.0 is bad"],
        ),
        (
            "5.13.1",
            "5.10.2",
            "fixed",
            ["fixed 5.10.0..5.13.1 (5) if 5.10.0 is bad", "introduced 5.10.0..5.10.2 (3) if 5.10.0 is good"],
        ),
        ("5.13.0", "5.5.0", "fixed", ["fixed 5.5.0..5.13.0 (9)"]),
        ("5.10.4", "5.10.0", "fixed", ["fixed 5.10.0..5.10.4 (4)"]),
        ("5.10.1", "5.10.4", "introduced", ["introduced 5.10.1..5.10.4 (3)"]),
    ],
)
def test_plan(known: Known, good: str, bad: str, find: Find, expected: list[str]) -> None:
    assert [shown(line) for line in plan(Version(good), Version(bad), known, find)] == expected


@pytest.mark.parametrize(
    ("good", "bad", "find", "message"),
    [
        ("5.13.0", "5.5.0", "introduced", "bad 5.5.0 is before good 5.13.0.*--find fixed"),
        ("5.4.0", "5.10.1", "fixed", "good 5.4.0 is before bad 5.10.1.*--find introduced"),
        ("5.4.0", "5.4.0", "fixed", "5.4.0 is given as good and as bad"),
    ],
)
def test_plan_refuses(known: Known, good: str, bad: str, find: Find, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan(Version(good), Version(bad), known, find)


def test_lines_without_a_known_beginning_have_no_common_ancestor() -> None:
    known = [Version(text) for text in ("5.9.0", "5.10.1", "5.10.2")]
    with pytest.raises(BadInput, match=r"5.9.0 and 5.10.2 have no common ancestor.*pins update"):
        common_ancestor(known[0], known[2], known)
    assert common_ancestor(known[1], known[2], known) == known[1]


def test_lines(known: Known) -> None:
    tree = [" ".join(map(str, line)) for line in lines(Version("5.8.0"), Version("5.12.1"), known)]
    assert tree == ["5.8.0 5.9.0 5.10.0 5.11.0 5.12.0", "5.8.0 5.8.1", "5.10.0 5.10.1 5.10.2 5.10.4", "5.12.0 5.12.1"]
    inside = [" ".join(map(str, line)) for line in lines(Version("5.10.1"), Version("5.11.0"), known)]
    assert inside == ["5.11.0", "5.10.1 5.10.2 5.10.4"]
    assert lines(Version("5.10.1"), Version("5.10.2"), known) == [[Version("5.10.1"), Version("5.10.2")]]
    with pytest.raises(BadInput, match="no pinned release"):
        lines(Version("5.12.0"), Version("5.10.0"), known)


@given(st.data())
def test_lines_hold_every_release_of_the_range_and_plans_meet(data: st.DataObject) -> None:
    every = [Version(f"5.{y}.{z}") for y in range(5) for z in range(4)]
    known = sorted(data.draw(st.sets(st.sampled_from(every))) | {Version(f"5.{y}.0") for y in range(5)})
    one, other = data.draw(st.sampled_from(known)), data.draw(st.sampled_from(known))
    old, new = min(one, other), max(one, other)
    tree = lines(old, new, known)
    assert {v for line in tree for v in line} == {v for v in known if old <= v <= new}
    for line in tree[1:]:
        assert all(parent(b, known) == a for a, b in itertools.pairwise(line))
    ancestor = common_ancestor(one, other, known)
    assert ancestor == common_ancestor(other, one, known) <= old
    if ancestor in (one, other):
        return
    first, second = plan(one, other, known)
    assert first.releases[0] == second.releases[0] == ancestor
    assert (first.releases[-1], second.releases[-1]) == (other, one)
    assert set(first.releases) & set(second.releases) == {ancestor}, "only the common ancestor is on both"
