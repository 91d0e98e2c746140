# SPDX-License-Identifier: Apache-2.0
"""The real history of upstream, where HEADWATER_TEST_REPO names a clone of it, which is only read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from packaging.version import Version

from headwater.core.commits import Commit
from headwater.core.pins import read_pins
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.subjects import Subjects
from headwater.effects.upstream_git import Upstream, open_upstream
from headwater.effects.upstream_words import resolve
from headwater.effects.workspace import Cache, Workspace

INTRODUCED = "2dba8e0495974930af02274d75bd182d22cc1686"
FIXED = "e7835fba01322488d685a3b2e75273361f3100f5"


@pytest.fixture
def upstream(machine: Mapping[str, str], cache: Cache) -> Upstream:
    if "HEADWATER_TEST_REPO" not in machine:
        pytest.skip("HEADWATER_TEST_REPO names no clone of the upstream repository")
    return open_upstream(cache, machine["HEADWATER_TEST_REPO"])


def commit(upstream: Upstream, word: str) -> Commit:
    return cast(Commit, resolve(upstream, word, ()))


def test_the_line_from_the_bug_to_its_fix(upstream: Upstream) -> None:
    old, new = commit(upstream, INTRODUCED[:10]), commit(upstream, FIXED)
    assert (old.sha, old.pull, new.pull) == (INTRODUCED, 44950, 46446)
    line = upstream.first_parent(old, new)
    assert len(line) == 682
    assert sum(entry.pull is not None for entry in line) > 600
    assert commit(upstream, "2026-04-01") in upstream.first_parent(old, upstream.main())


def test_every_setup_py_since_5_0_can_be_read(upstream: Upstream, root: Path) -> None:
    """Each of the first-parent commits from 5.0.0's nearest day on has an environment, the one of its time."""
    workspace = Workspace(root)
    pins = read_pins(workspace.pins_file.read_text(encoding="utf-8"), "pins")

    class Names(Subjects):
        def __init__(self) -> None: ...

        def held_by(self, other: Any, tree: str, revision: str, pin: Any, untestable: str | None = None) -> Any:
            return pin.version, untestable

    subjects = CommitSubjects(upstream, Names(), pins, workspace.lock_text)
    line = upstream.first_parent(commit(upstream, "2026-02-01"), commit(upstream, FIXED))
    seen = cast(list[tuple[Version, str | None]], [subjects.subject(entry) for entry in line])
    assert {untestable for _version, untestable in seen} == {None}
    versions = [version for version, _untestable in seen]
    assert versions == sorted(versions)
    assert (str(versions[0]), str(versions[-1])) == ("5.0.0", "5.13.0")
