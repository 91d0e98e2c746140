# SPDX-License-Identifier: Apache-2.0
"""The atlas: what is known of every case over every release, checked in and re-checkable."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from headwater.core.toml_text import Table, parse
from headwater.core.verdicts import Verdict

SCHEMA = 1


@dataclass(frozen=True)
class AtlasEntry:
    """A case has this verdict on the releases from `first` to `last`, both included, in version order."""

    case: str
    verdict: Verdict
    first: Version
    last: Version


@dataclass(frozen=True)
class Atlas:
    """Every entry, in the order of the file."""

    entries: tuple[AtlasEntry, ...]

    def expected(self, case: str, version: Version | None) -> Verdict | None:
        """The verdict the atlas has for a case on a release, or None where it says nothing."""
        if version is None:
            return None
        for entry in self.entries:
            if entry.case == case and entry.first <= version <= entry.last:
                return entry.verdict
        return None


def read_atlas(text: str, origin: str) -> Atlas:
    """Read an atlas.

    Raises:
        BadInput: unknown keys or verdicts, ranges that are empty or overlap; with the line.
    """
    top = Table(parse(text, origin), text, origin)
    schema = top.take("schema", int)
    if schema != SCHEMA:
        raise top.error("schema", f"is {schema}, and this Headwater reads {SCHEMA}; update Headwater")
    tables = top.tables("entry", [])
    top.close()
    entries = tuple(_read_entry(table) for table in tables)
    for n, entry in enumerate(entries):
        for other in entries[:n]:
            if other.case == entry.case and entry.first <= other.last and other.first <= entry.last:
                raise tables[n].error(
                    "first",
                    f"makes two entries of {entry.case} overlap: {other.first} to {other.last} and "
                    f"{entry.first} to {entry.last}",
                )
    return Atlas(entries)


def _read_entry(table: Table) -> AtlasEntry:
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
    table.close()
    return entry
