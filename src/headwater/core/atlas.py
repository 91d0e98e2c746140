# SPDX-License-Identifier: Apache-2.0
"""The atlas: what is known of every case over every release, checked in and re-checkable.

A range stands for those of its releases that the atlas lists as measured: a maintenance release that is published
later, and lies inside a range by its number, is not covered before it was measured. An atlas without such a list
covers whatever lies in its ranges.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.releases import parse_version
from headwater.core.toml_text import Table, parse
from headwater.core.verdicts import Verdict

SCHEMA = 1
ChangeKind = Literal["introduced", "fixed"]
_WITHOUT = (Verdict.GOOD, Verdict.ABSENT)


@dataclass(frozen=True)
class AtlasEntry:
    """A case has this verdict on the releases from `first` to `last`, both included, in version order."""

    case: str
    verdict: Verdict
    first: Version
    last: Version


@dataclass(frozen=True)
class AtlasChange:
    """The commit that introduced or fixed a bug: `release` is the first release with it, or the first without;
    `commit` a whole id on the first-parent line of the main branch; `pull` the number of its pull request, if any."""

    case: str
    find: ChangeKind
    release: Version
    commit: str
    pull: int | None = None


@dataclass(frozen=True)
class Atlas:
    """Every entry and every known commit of a change-over, in the order of the file; `releases` are those that were
    measured, in version order, or empty where the file does not list them."""

    entries: tuple[AtlasEntry, ...]
    changes: tuple[AtlasChange, ...] = ()
    releases: tuple[Version, ...] = ()

    def expected(self, case: str, version: Version | None) -> Verdict | None:
        """The verdict the atlas has for a case on a release, or None where it says nothing."""
        if version is None or (self.releases and version not in self.releases):
            return None
        for entry in self.entries:
            if entry.case == case and entry.first <= version <= entry.last:
                return entry.verdict
        return None

    def of(self, case: str) -> list[AtlasEntry]:
        """The entries of a case, in version order."""
        return sorted((entry for entry in self.entries if entry.case == case), key=lambda entry: entry.first)

    def change(self, case: str, find: ChangeKind, release: Version) -> AtlasChange | None:
        """What is known of the commit of a change-over."""
        return next((c for c in self.changes if (c.case, c.find, c.release) == (case, find, release)), None)

    def change_overs(self, case: str) -> list[tuple[ChangeKind, AtlasEntry, AtlasEntry]]:
        """The change-overs of a case, in version order, each with the entries before and after it: it becomes bad after
        releases without the bug, or is without it after bad ones."""
        found: list[tuple[ChangeKind, AtlasEntry, AtlasEntry]] = []
        for before, after in pairwise(self.of(case)):
            if before.verdict in _WITHOUT and after.verdict is Verdict.BAD:
                found.append(("introduced", before, after))
            elif before.verdict is Verdict.BAD and after.verdict in _WITHOUT:
                found.append(("fixed", before, after))
        return found

    def turns(self, case: str, find: ChangeKind) -> list[Version]:
        """The releases at which a case becomes bad after one without the bug, or is without it after a bad one."""
        return [after.first for kind, _before, after in self.change_overs(case) if kind == find]


def read_atlas(text: str, origin: str) -> Atlas:
    """Read an atlas.

    Raises:
        BadInput: unknown keys or verdicts, ranges that are empty or overlap, the commit of a change-over that the
            entries do not have; with the line.
    """
    top = Table(parse(text, origin), text, origin)
    schema = top.take("schema", int)
    if schema != SCHEMA:
        raise top.error("schema", f"is {schema}, and this Headwater reads {SCHEMA}; update Headwater")
    releases = _read_releases(top)
    tables, change_tables = top.tables("entry", []), top.tables("change", [])
    top.close()
    entries = tuple(_read_entry(table, releases) for table in tables)
    _refuse_overlaps(tables, entries)
    changes = tuple(_read_change(table) for table in change_tables)
    atlas = Atlas(entries, changes, releases)
    for n, change in enumerate(changes):
        if change.release not in atlas.turns(change.case, change.find):
            side = "bad" if change.find == "introduced" else "without the bug"
            raise change_tables[n].error("release", f"is {change.release}, where {change.case} does not become {side}")
        if any((c.case, c.find, c.release) == (change.case, change.find, change.release) for c in changes[:n]):
            raise change_tables[n].error("release", f"has two commits for {change.case}: {change.release}")
    return atlas


def _read_releases(top: Table) -> tuple[Version, ...]:
    try:
        releases = tuple(parse_version(text) for text in top.texts("releases", ()))
    except BadInput as error:
        raise top.error("releases", f"must be versions: {error}") from error
    for before, after in pairwise(releases):
        if before >= after:
            raise top.error("releases", f"must be in version order, each once, and {after} follows {before}")
    return releases


def _refuse_overlaps(tables: Sequence[Table], entries: Sequence[AtlasEntry]) -> None:
    for n, entry in enumerate(entries):
        for other in entries[:n]:
            if other.case == entry.case and entry.first <= other.last and other.first <= entry.last:
                raise tables[n].error(
                    "first",
                    f"makes two entries of {entry.case} overlap: {other.first} to {other.last} and "
                    f"{entry.first} to {entry.last}",
                )


def _read_entry(table: Table, releases: Sequence[Version]) -> AtlasEntry:
    word = table.text("verdict")
    if word not in {v.value for v in Verdict}:
        raise table.error("verdict", f"must be one of {', '.join(v.value for v in Verdict)}, not {word!r}")
    entry = AtlasEntry(
        table.text("case"),
        Verdict(word),
        table.version("first"),
        table.version("last"),
    )
    if entry.first > entry.last:
        raise table.error("last", f"comes before first: {entry.first} to {entry.last}")
    for key, release in (("first", entry.first), ("last", entry.last)):
        if releases and release not in releases:
            raise table.error(key, f"is {release}, which `releases` does not list as measured")
    table.close()
    return entry


def _read_change(table: Table) -> AtlasChange:
    case, find, commit = table.text("case"), table.text("find"), table.text("commit")
    if find not in ("introduced", "fixed"):
        raise table.error("find", f"must be introduced or fixed, not {find!r}")
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise table.error("commit", f"must be 40 hexadecimal digits, not {commit!r}")
    pull = table.take("pull", int, None)
    if pull is not None and pull < 1:
        raise table.error("pull", f"must be the number of a pull request, not {pull}")
    change = AtlasChange(case, find, table.version("release"), commit, pull)
    table.close()
    return change
