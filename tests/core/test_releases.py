# SPDX-License-Identifier: Apache-2.0
"""The words that select releases, on the real list of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.releases import is_on_main_line, nearest, parse_version, require_known, select

Known = tuple[Version, ...]


def words(versions: list[Version]) -> str:
    return " ".join(map(str, versions))


@pytest.mark.parametrize("text", ["", "latest", "5.10.x", "v-5", "5.10.1..5.10.2"])
def test_not_a_version(text: str) -> None:
    with pytest.raises(BadInput, match="is not a version"):
        parse_version(text)


@pytest.mark.parametrize(
    ("text", "main"),
    [("5.10.0", True), ("5.10", True), ("5.0.0", True), ("5.10.1", False), ("4.57.6", False)],
)
def test_main_line(text: str, main: bool) -> None:
    assert is_on_main_line(Version(text)) is main


def test_5_10_3_does_not_exist(known: Known) -> None:
    with pytest.raises(BadInput) as caught:
        require_known("5.10.3", known)
    message = str(caught.value)
    assert "5.10.3" in message and "5.10.2" in message and "5.10.4" in message
    assert "headwater pins update" in message


@pytest.mark.parametrize(
    ("wanted", "count", "expected"),
    [
        ("5.10.3", 2, "5.10.2 5.10.4"),
        ("5.10.3", 3, "5.10.1 5.10.2 5.10.4"),
        ("5.10.3", 4, "5.10.1 5.10.2 5.10.4 5.11.0"),
        ("5.25.0", 2, "5.23.0 5.24.0"),
        ("4.0.0", 2, "4.56.0 4.56.1"),
        ("5.10.3", 0, ""),
    ],
)
def test_nearest(known: Known, wanted: str, count: int, expected: str) -> None:
    assert words(nearest(Version(wanted), known, count)) == expected


@given(st.sets(st.integers(0, 30).map(lambda n: Version(f"5.{n}.0"))), st.integers(0, 30), st.integers(2, 6))
def test_nearest_names_both_neighbours(some: set[Version], minor: int, count: int) -> None:
    wanted = Version(f"5.{minor}.1")
    found = nearest(wanted, list(some), count)
    assert found == sorted(set(found)) and len(found) == min(count, len(some))
    assert {
        max((v for v in some if v < wanted), default=None),
        min((v for v in some if v > wanted), default=None),
    } - {None} <= set(found)


@pytest.mark.parametrize("text", ["5.10.1", "v5.10.1", " 5.10.1"])
def test_require_known(known: Known, text: str) -> None:
    assert require_known(text, known) == Version("5.10.1")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("5.10.1", "5.10.1"),
        (" 5.10.1 ", "5.10.1"),
        ("5.10.1,5.4.0 , 5.10.1", "5.4.0 5.10.1"),
        ("5.10.1..5.10.4", "5.10.1 5.10.2 5.10.4"),
        ("5.9.0..5.9.0", "5.9.0"),
        ("5.12.0..5.13.0,5.4.0", "5.4.0 5.12.0 5.12.1 5.13.0"),
        (">=5.10.2,<5.12", "5.10.2 5.10.4 5.11.0"),
        ("~=5.10.1", "5.10.1 5.10.2 5.10.4"),
        ("==5.10.*", "5.10.0 5.10.1 5.10.2 5.10.4"),
        ("!=5.10.1,>5.9,<=5.10.4", "5.10.0 5.10.2 5.10.4"),
    ],
)
def test_select(known: Known, spec: str, expected: str) -> None:
    assert words(select(spec, known)) == expected


def test_select_all(known: Known) -> None:
    assert select("all", known) == sorted(known)
    assert len(select("all", known)) == 55


def test_the_affected_range_has_what_was_published_late(known: Known) -> None:
    assert words(select("5.10.0..5.13.0", known)) == "5.10.0 5.10.1 5.10.2 5.10.4 5.11.0 5.12.0 5.12.1 5.13.0"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("5.10.3", "5.10.2.*5.10.4"),
        ("5.10.1..5.10.3", "no pinned release 5.10.3"),
        ("5.10.1,,5.10.2", "is not a version"),
        ("5.10.1..", "is not a version"),
        ("", "is not a version"),
        ("newest", "is not a version"),
        ("5.12.0..5.4.0", "5.12.0 comes after 5.4.0"),
        (">=five", "is not a specifier"),
        (">5.24.0", "the pins go from 4.56.0 to 5.24.0"),
    ],
)
def test_select_refuses(known: Known, spec: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        select(spec, known)


@pytest.mark.parametrize("spec", ["all", ">=5.0", "5.10.1"])
def test_select_of_nothing(spec: str) -> None:
    with pytest.raises(BadInput):
        select(spec, [])
