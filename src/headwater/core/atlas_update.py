# SPDX-License-Identifier: Apache-2.0
"""What measuring anew changes of an atlas, and whether a recorded one still holds.

A harness error and a device that is not there say nothing of the library, so they are never written; neither are
verdicts on which devices disagree. All of these are told. What is written although nothing could be judged
(`untestable`, other failures, `flaky`) is told as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange
from headwater.core.atlas_text import Cells, axis_of, cases_of, gathered, ordered_changes, ranges, spread
from headwater.core.results import INTERRUPTED, ProbeResult
from headwater.core.verdicts import Evidence, Verdict

UNWRITTEN = (Verdict.HARNESS_ERROR, Verdict.UNAVAILABLE)
_CLEAR = (Verdict.GOOD, Verdict.BAD, Verdict.ABSENT)


@dataclass(frozen=True)
class Difference:
    """A cell with another verdict than is recorded; `recorded` is None where nothing is, `device` where it was seen."""

    case: str
    release: Version
    recorded: Verdict | None
    seen: Verdict
    evidence: Evidence
    device: str


@dataclass(frozen=True)
class Unwritten:
    """A cell that was measured and is not written, and why."""

    case: str
    release: Version
    why: str
    harness: bool


@dataclass(frozen=True)
class Gap:
    """Releases, from `first` to `last`, on which a case has no verdict."""

    case: str
    first: Version
    last: Version

    def __str__(self) -> str:
        return f"{self.case}: {self.first}" + (f" to {self.last}" if self.last != self.first else "")


@dataclass(frozen=True)
class AtlasUpdate:
    """An atlas as it would be written, and how it differs: cells that change, those among all measured ones that are no
    clear verdict, those that are not written, what stays without one, and change-overs whose commit no longer fits."""

    atlas: Atlas
    differences: tuple[Difference, ...]
    unclear: tuple[Difference, ...]
    unwritten: tuple[Unwritten, ...]
    gaps: tuple[Gap, ...]
    dropped: tuple[AtlasChange, ...]


def take_in(atlas: Atlas, rows: Sequence[ProbeResult], known: Sequence[Version], cases: Sequence[str]) -> AtlasUpdate:
    """Take rows of releases into an atlas; `known` are the pinned releases, `cases` every case that there is, by id."""
    axis = axis_of(atlas, known)
    cells = spread(atlas, axis)
    seen, unwritten = _sorted_out(rows)
    differences = [one for one in (_against(cells, row) for row in seen) if one.recorded is not one.seen]
    unclear = [one for one in (_against(cells, row) for row in seen) if one.seen not in _CLEAR]
    cells |= {(row.case, Version(row.revision)): row.verdict for row in seen}
    order = [*cases_of(atlas), *sorted(set(cases) - set(cases_of(atlas)))]
    made = gathered(cells, axis, order)
    kept = [c for c in atlas.changes if c.release in made.turns(c.case, c.find)]
    dropped = tuple(change for change in atlas.changes if change not in kept)
    made = replace(made, changes=ordered_changes(kept, order))
    return AtlasUpdate(
        made, tuple(differences), tuple(unclear), tuple(unwritten), gaps_of(cells, known, cases), dropped
    )


def _sorted_out(rows: Sequence[ProbeResult]) -> tuple[list[ProbeResult], list[Unwritten]]:
    """One row for every cell whose devices agree, and what cannot be written."""
    by_cell: dict[tuple[str, str], list[ProbeResult]] = {}
    for row in rows:
        by_cell.setdefault((row.case, row.revision), []).append(row)
    seen, unwritten = [], []
    for (case, revision), some in by_cell.items():
        told = [row for row in some if row.verdict not in UNWRITTEN]
        if any(row.verdict is Verdict.HARNESS_ERROR for row in some) or not told:
            row = next((row for row in some if row.verdict is Verdict.HARNESS_ERROR), some[0])
            why = f"{row.verdict.words} on {row.device}: {row.evidence.message or row.evidence.type}"
            unwritten.append(Unwritten(case, Version(revision), why, row.verdict is Verdict.HARNESS_ERROR))
        elif len({row.verdict for row in told}) > 1:
            why = "the devices disagree: " + ", ".join(f"{row.verdict.words} on {row.device}" for row in told)
            unwritten.append(Unwritten(case, Version(revision), why, False))
        else:
            seen.append(told[0])
    return seen, unwritten


def _against(cells: Cells, row: ProbeResult) -> Difference:
    release = Version(row.revision)
    return Difference(row.case, release, cells.get((row.case, release)), row.verdict, row.evidence, row.device)


def gaps_of(cells: Cells, known: Sequence[Version], cases: Iterable[str]) -> tuple[Gap, ...]:
    """The releases on which cases have no verdict, as ranges."""
    found = []
    for case in cases:
        missing = {(case, v): Verdict.UNTESTABLE for v in known if (case, v) not in cells}
        found += [Gap(case, entry.first, entry.last) for entry in ranges(case, missing, sorted(known))]
    return tuple(found)


@dataclass(frozen=True)
class AtlasCheck:
    """What became of the recorded cells: how many were `held`, which are `broken`, which could not be measured, and
    where nothing is recorded."""

    held: int
    broken: tuple[Difference, ...]
    unmeasured: tuple[Unwritten, ...]
    gaps: tuple[Gap, ...]
    interrupted: bool = False

    @property
    def exit_status(self) -> int:
        """0 only where every recorded cell was seen again; a gap is told and breaks nothing."""
        if self.interrupted:
            return INTERRUPTED
        if any(one.harness for one in self.unmeasured):
            return 5
        return 1 if self.broken or self.unmeasured else 0


def compare(atlas: Atlas, rows: Sequence[ProbeResult]) -> AtlasCheck:
    """Compare rows, each of a recorded cell, with an atlas."""
    broken, unmeasured, held = [], [], 0
    for row in rows:
        release = Version(row.revision)
        recorded = atlas.expected(row.case, release)
        if row.verdict is recorded:
            held += 1
        elif row.verdict in UNWRITTEN:
            why = f"{row.verdict.words} on {row.device}: {row.evidence.message or row.evidence.type}"
            unmeasured.append(Unwritten(row.case, release, why, row.verdict is Verdict.HARNESS_ERROR))
        else:
            broken.append(Difference(row.case, release, recorded, row.verdict, row.evidence, row.device))
    return AtlasCheck(held, tuple(broken), tuple(unmeasured), ())
