# SPDX-License-Identifier: Apache-2.0
"""Releases are a tree: a hunt goes along the main line first, then into a maintenance line."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.history import parent, path
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
