# SPDX-License-Identifier: Apache-2.0
"""In which group's environment a commit runs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import Version

from headwater.core.environment_choice import choose_release, release_near
from headwater.core.errors import EnvironmentUnavailable
from headwater.core.pins import EnvironmentGroup, IndexFile, Pin, Pins

GROUPS = (("4.56.0", "4.57.6"), ("5.0.0", "5.15.1"), ("5.16.0", "5.24.0"))
RELEASES = ("4.56.0", "4.57.0", "4.57.6", "5.0.0", "5.4.0", "5.5.0", "5.15.1", "5.16.0", "5.24.0")
# One package by the group that has it in this version.
LOCKED = {"4": {"hub": Version("0.34")}, "5": {"hub": Version("1.3")}, "6": {"hub": Version("2.1")}}


def pins(groups: tuple[tuple[str, str], ...] = GROUPS) -> Pins:
    releases = tuple(
        Pin(Version(v), datetime(2026, 1, 1, tzinfo=UTC), ">=3.10", None, IndexFile("w", "0" * 64, 1), None)
        for v in RELEASES
    )
    named = tuple(EnvironmentGroup(str(4 + n), Version(a), Version(b), "l") for n, (a, b) in enumerate(groups))
    return Pins("transformers", Version("4.56.0"), "2.9.1", named, releases)


def chosen(requirement: str, near: str) -> str:
    return str(choose_release([Requirement(requirement)], Version(near), pins(), LOCKED))


@pytest.mark.parametrize(
    ("requirement", "near", "release"),
    [
        ("hub", "5.5.0", "5.5.0"),
        ("hub<2", "5.5.0", "5.5.0"),
        ("hub<1", "5.0.0", "4.57.6"),
        ("hub>=2", "5.5.0", "5.16.0"),
        ("hub!=1.3", "5.5.0", "4.57.6"),
        ("hub", "4.57.0", "4.57.0"),
        ("hub", "5.24.0", "5.24.0"),
        ("other; os_name == 'none'", "5.5.0", "5.5.0"),
    ],
)
def test_the_nearest_that_satisfies(requirement: str, near: str, release: str) -> None:
    assert chosen(requirement, near) == release


def test_none_satisfies() -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"hub>3") as caught:
        chosen("hub>3", "5.5.0")
    assert "5 lacks hub>3" in str(caught.value)


def test_no_groups() -> None:
    with pytest.raises(EnvironmentUnavailable, match="pins update --locks"):
        choose_release([], Version("5.5.0"), pins(()), {})


@given(
    st.sampled_from(["hub", "hub<1", "hub<2", "hub>=1", "hub>=2", "hub!=1.3", "hub==9"]),
    st.sampled_from(RELEASES),
)
def test_what_is_chosen_satisfies(text: str, near: str) -> None:
    requirement = Requirement(text)
    able = [name for name, lock in LOCKED.items() if lock["hub"] in requirement.specifier]
    try:
        version = choose_release([requirement], Version(near), pins(), LOCKED)
    except EnvironmentUnavailable:
        assert able == []
        return
    assert version in pins().versions
    group = pins().group_of(version)
    assert group.name in able
    own = pins().group_of(Version(near))
    assert own.name not in able or version == Version(near)


@pytest.mark.parametrize(
    ("version", "near"),
    [
        ("5.5.0.dev0", "5.5.0"), ("5.0.1.dev0", "5.0.0"), ("5.0.0rc1", "5.0.0"), ("6.0.0.dev0", "5.24.0"),
        ("4.0.0", "4.56.0"), ("5.4.0", "5.4.0"), ("5.4.0+local", "5.4.0"),
    ],
)  # fmt: skip
def test_the_release_near_a_version(version: str, near: str) -> None:
    assert release_near(Version(version), pins().versions) == Version(near)
