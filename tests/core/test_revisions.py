# SPDX-License-Identifier: Apache-2.0
"""Releases and commits in one list."""

from __future__ import annotations

from datetime import UTC, datetime

from packaging.version import Version

from headwater.core.commits import Commit
from headwater.core.revisions import Revision, short_name, sort_key


def commit(digit: str, day: int) -> Commit:
    return Commit(digit * 40, datetime(2026, 5, day, tzinfo=UTC), "mend", None, None)


def test_releases_are_listed_before_commits() -> None:
    revisions: list[Revision] = [commit("a", 2), Version("5.10.0"), commit("b", 1), Version("5.9.0")]
    assert sorted(revisions, key=sort_key) == [Version("5.9.0"), Version("5.10.0"), commit("b", 1), commit("a", 2)]


def test_a_commit_id_is_shortened_and_a_version_is_not() -> None:
    assert (short_name("a" * 40), short_name("5.10.1")) == ("a" * 12, "5.10.1")
