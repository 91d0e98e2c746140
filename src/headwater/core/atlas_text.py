# SPDX-License-Identifier: Apache-2.0
"""The one form in which an atlas is written, so that an unchanged atlas comes out byte for byte the same.

Cases stand in the order in which the file had them, new ones behind, by id; the ranges of a case are in version order
and joined where nothing lies between them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from packaging.version import Version

from headwater.core.atlas import SCHEMA, Atlas, AtlasChange, AtlasEntry
from headwater.core.verdicts import Verdict

Cells = Mapping[tuple[str, Version], Verdict]
HEADER = """\
# The atlas: what every case says on every release. `first` and `last` are both included, in version order.
# `headwater atlas update --write` writes it, `headwater atlas check` verifies it.
"""


def axis_of(atlas: Atlas, known: Iterable[Version]) -> list[Version]:
    """Every release that an atlas or the pins speak of, in version order."""
    ends = [version for entry in atlas.entries for version in (entry.first, entry.last)]
    return sorted({*known, *atlas.releases, *ends})


def spread(atlas: Atlas, axis: Sequence[Version]) -> dict[tuple[str, Version], Verdict]:
    """The verdict of every case on every release of which the atlas says one."""
    cells = {}
    for case in cases_of(atlas):
        for version in axis:
            verdict = atlas.expected(case, version)
            if verdict is not None:
                cells[case, version] = verdict
    return cells


def cases_of(atlas: Atlas) -> list[str]:
    """The cases of an atlas, in its order."""
    return list(dict.fromkeys(entry.case for entry in atlas.entries))


def gathered(cells: Cells, axis: Sequence[Version], cases: Sequence[str]) -> Atlas:
    """The atlas that says of each of `cases`, in this order, what `cells` do; the releases of `axis` are its list."""
    entries = [entry for case in cases for entry in ranges(case, cells, axis)]
    return Atlas(tuple(entries), (), tuple(axis))


def ranges(case: str, cells: Cells, axis: Sequence[Version]) -> list[AtlasEntry]:
    """The cells of one case as ranges: neighbours with one verdict are joined, and a release without one parts them."""
    found: list[AtlasEntry] = []
    open_range = False
    for version in axis:
        verdict = cells.get((case, version))
        if verdict is None:
            open_range = False
            continue
        if open_range and found[-1].verdict is verdict:
            found[-1] = AtlasEntry(case, verdict, found[-1].first, version)
        else:
            found.append(AtlasEntry(case, verdict, version, version))
        open_range = True
    return found


def ordered_changes(changes: Iterable[AtlasChange], cases: Sequence[str]) -> tuple[AtlasChange, ...]:
    """Changes in the order of their cases, then of their releases."""
    return tuple(sorted(changes, key=lambda change: (cases.index(change.case), change.release)))


def atlas_text(atlas: Atlas, header: str = HEADER) -> str:
    """The text of an atlas. `header` are the comments that stand above it."""
    parts = [f"{header}schema = {SCHEMA}\n"]
    if atlas.releases:
        listed = textwrap.wrap(", ".join(f'"{version}"' for version in atlas.releases), 108)
        parts[0] += "releases = [\n" + "".join(f"  {line.rstrip(',')},\n" for line in listed) + "]\n"
    parts += [entry_text(entry) for entry in atlas.entries]
    parts += [_change_text(change) for change in atlas.changes]
    return "\n".join(parts)


def entry_text(entry: AtlasEntry) -> str:
    """The text of one entry."""
    return (
        f'[[entry]]\ncase = "{entry.case}"\nverdict = "{entry.verdict.value}"\n'
        f'first = "{entry.first}"\nlast = "{entry.last}"\n'
    )


def _change_text(change: AtlasChange) -> str:
    pull = f"pull = {change.pull}\n" if change.pull is not None else ""
    return (
        f'[[change]]\ncase = "{change.case}"\nfind = "{change.find}"\n'
        f'release = "{change.release}"\ncommit = "{change.commit}"\n{pull}'
    )


def header_of(text: str) -> str:
    """The comments above an atlas' first key; the usual ones where it has none."""
    lines = text.splitlines(keepends=True)
    end = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    return "".join(lines[:end]) or HEADER


def comments_below(text: str) -> list[int]:
    """The lines, counted from 1, of comments that stand below an atlas' header, where they are not kept."""
    start = text.count("\n", 0, len(header_of(text))) if text.startswith("#") else 0
    return [n for n, line in enumerate(text.splitlines(), 1) if n > start and line.lstrip().startswith("#")]
