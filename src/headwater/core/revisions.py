# SPDX-License-Identifier: Apache-2.0
"""Revisions: releases and commits alike, their names and their order."""

from __future__ import annotations

from packaging.version import Version

from headwater.core.commits import Commit

Revision = Version | Commit


def name_of(revision: Revision) -> str:
    """A revision's name: the version, or the whole commit id."""
    return revision.sha if isinstance(revision, Commit) else str(revision)


def sort_key(revision: Revision) -> tuple[bool, str, Version]:
    """By which revisions are listed: releases in version order, then commits as they were made."""
    if isinstance(revision, Version):
        return False, "", revision
    return True, revision.date.isoformat(), Version("0")


def short_name(name: str) -> str:
    """A name as people read it: of a commit id the first twelve digits."""
    return name[:12] if len(name) == 40 else name
