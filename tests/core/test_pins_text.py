# SPDX-License-Identifier: Apache-2.0
"""Changing a pins file: what a person wrote stays, and what comes out can be read again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.pins import EnvironmentGroup, IndexFile, Pin, Pins, read_pins
from headwater.core.pins_text import add_releases, set_groups, set_values

HEAD = """\
# Written by a person.
schema = 1
package = "transformers" # kept
first = "5.0.0"
torch = "2.9.1"
"""
GROUPS = (
    EnvironmentGroup("old", Version("5.0.0"), Version("5.15.0"), "locks/old.txt"),
    EnvironmentGroup("new", Version("5.16.0"), Version("5.24.0"), "locks/new.txt"),
)


def pin(version: str) -> Pin:
    return Pin(
        version=Version(version),
        uploaded=datetime(2026, 5, 1, 10, tzinfo=UTC),
        requires_python=">=3.10.0",
        yanked=None,
        wheel=IndexFile(f"transformers-{version}-py3-none-any.whl", "a" * 64, 10),
        sdist=IndexFile(f"transformers-{version}.tar.gz", "b" * 64, 20),
    )


def read(text: str) -> Pins:
    return read_pins(text, "transformers.toml")


@given(st.lists(st.sampled_from(range(12)), unique=True), st.integers(0, 12))
def test_releases_are_added_where_they_belong(minors: list[int], cut: int) -> None:
    added = [pin(f"5.{minor}.0") for minor in minors]
    text = add_releases(add_releases(HEAD, added[:cut]), added[cut:])
    assert read(text).releases == tuple(sorted(added, key=lambda p: p.version))
    assert text.startswith(HEAD)


def test_every_key_of_a_new_release() -> None:
    yanked = replace(pin("5.10.0"), yanked='a "week" old', sdist=None)
    assert read(add_releases(HEAD, [yanked])).releases == (yanked,)


def test_comments_and_what_was_measured_stay() -> None:
    text = add_releases(HEAD, [pin("5.10.1"), pin("5.12.0")])
    text = text.replace('version = "5.12.0"', f'# published late\nversion = "5.12.0" # main\ntree = "{"1" * 40}"')
    text = add_releases(text, [pin("5.10.4"), pin("5.13.0")])
    assert [str(v) for v in read(text).versions] == ["5.10.1", "5.10.4", "5.12.0", "5.13.0"]
    assert f'# published late\nversion = "5.12.0" # main\ntree = "{"1" * 40}"\n' in text
    assert read(text).find("5.12.0").tree == "1" * 40
    assert "\n\n\n" not in text
    assert text.count("\n\n[[release]]\n") == 4


def test_set_values() -> None:
    text = add_releases(HEAD, [pin("5.10.1"), pin("5.10.2")])
    values = {"tree": "1" * 40, "mirror_commit": "2" * 40, "differing_files": 0}
    text = set_values(text, {Version("5.10.2"): values})
    assert read(text).releases == (
        pin("5.10.1"),
        replace(pin("5.10.2"), tree="1" * 40, mirror_commit="2" * 40, differing_files=0),
    )
    text = set_values(text, {Version("5.10.2"): {"tree": None, "nearest_commit": None, "differing_files": 3}})
    assert read(text).releases[1] == replace(pin("5.10.2"), mirror_commit="2" * 40, differing_files=3)


@pytest.mark.parametrize("releases_first", [True, False])
def test_set_groups(releases_first: bool) -> None:
    text = add_releases(HEAD, [pin("5.10.1")]) if releases_first else HEAD
    text = set_groups(set_groups(text, GROUPS[:1]), GROUPS)
    text = text if releases_first else add_releases(text, [pin("5.10.1")])
    assert read(text).groups == GROUPS
    assert read(text).releases == (pin("5.10.1"),)
    assert text.startswith(HEAD)
    assert set_groups(text, GROUPS) == text
    assert read(set_groups(text, [])).groups == ()


def test_nothing_to_change_changes_nothing() -> None:
    text = set_groups(add_releases(HEAD, [pin("5.10.1")]), GROUPS)
    assert add_releases(text, []) == set_values(text, {}) == text
    assert add_releases(HEAD, []) == set_values(HEAD, {}) == set_groups(HEAD, []) == HEAD
    assert add_releases(text.replace("\n\n", "\n\n\n\n"), []) == text


def test_empty_arrays_are_filled() -> None:
    text = set_groups(add_releases(HEAD + "environment = []\nrelease = []\n", [pin("5.10.1")]), GROUPS)
    assert read(text).versions == (Version("5.10.1"),)
    assert read(text).groups == GROUPS
    assert text.startswith(HEAD)


def test_groups_come_back_after_none() -> None:
    text = add_releases(HEAD, [pin("5.10.1")])
    text = set_groups(set_groups(set_groups(text, GROUPS), []), GROUPS)
    assert read(text).groups == GROUPS
    assert text.count("\n\n[[environment]]\n") == 2
    assert text.startswith(HEAD)


@given(st.permutations("abcd"), st.integers(0, 4), st.permutations("abcd"), st.integers(0, 4), st.integers(0, 1))
def test_any_groups_can_be_set_after_any_others(was: list[str], few: int, names: list[str], many: int, by: int) -> None:
    """Whichever stay, come, go, change places or get another range."""

    def groups(names: list[str], by: int) -> tuple[EnvironmentGroup, ...]:
        ends = [(Version(f"5.{2 * n}.0"), Version(f"5.{2 * n + by}.0")) for n in range(len(names))]
        return tuple(EnvironmentGroup(name, *end, f"locks/{name}.txt") for name, end in zip(names, ends, strict=True))

    first, second = groups(was[:few], 0), groups(names[:many], by)
    text = set_groups(set_groups(HEAD, first), second)
    assert read(text).groups == second
    assert set_groups(text, second) == text and text.startswith(HEAD)


def test_whose_comments_are_whose() -> None:
    """One right below a table's last key is that table's, one right above a table is the other's."""
    text = add_releases(HEAD, [pin("5.10.1"), pin("5.12.0")])
    above, below = text[: text.rindex("[[release]]")], text[text.rindex("[[release]]") :]
    text = add_releases(f"{above.rstrip()}\n# of 5.10.1\n\n# of 5.12.0\n{below}", [pin("5.11.0")])
    assert [str(v) for v in read(text).versions] == ["5.10.1", "5.11.0", "5.12.0"]
    assert text.count('\n# of 5.10.1\n\n[[release]]\nversion = "5.11.0"\n') == 1
    assert text.count('\n\n# of 5.12.0\n[[release]]\nversion = "5.12.0"\n') == 1


def test_a_comment_at_the_end_stays_with_the_table_above_it() -> None:
    text = add_releases(add_releases(HEAD, [pin("5.10.1")]) + "# of 5.10.1\n", [pin("5.12.0")])
    assert '\n# of 5.10.1\n\n[[release]]\nversion = "5.12.0"\n' in text
    assert [str(v) for v in read(text).versions] == ["5.10.1", "5.12.0"]
