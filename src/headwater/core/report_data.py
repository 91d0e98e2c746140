# SPDX-License-Identifier: Apache-2.0
"""What a report shows, as plain data: the atlas cell by cell with its evidence, every case's history, every release's
known bugs. Pure, and in one order whatever the order of what it is made from."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from headwater.core.answers import HuntAnswer, ReductionAnswer
from headwater.core.atlas import Atlas, AtlasChange
from headwater.core.auditing import Audit
from headwater.core.cases import Case
from headwater.core.history import parent
from headwater.core.marks import JUDGED
from headwater.core.patch_results import ReleaseStatus, SeriesStatus
from headwater.core.pins import Pin, Pins
from headwater.core.releases import is_on_main_line
from headwater.core.states import PatchState
from headwater.core.verdicts import Evidence, Verdict

# The atlas is measured there.
MEASURED_ON = "cpu"


@dataclass(frozen=True)
class Seen:
    """What the store knows of a case on a release's tree and a device.

    `current` where the same probe would be answered by it today; otherwise it was recorded with other packages, on
    another machine, or with an earlier text of the case. `environment` is a key, `recorded` a time in ISO 8601.
    """

    case: str
    tree: str
    device: str
    verdict: Verdict
    evidence: Evidence
    environment: str
    recorded: str
    current: bool


@dataclass(frozen=True)
class CellData:
    """A case on a release: the atlas' verdict, None where it has none, and what the store knows, by device."""

    release: Version
    expected: Verdict | None
    seen: tuple[Seen, ...]

    @property
    def verdict(self) -> Verdict | None:
        """The verdict to show: the atlas', else that of the store where the atlas would be measured."""
        here = next((one for one in self.seen if one.device == MEASURED_ON and one.current), None)
        return self.expected or (here.verdict if here else None)

    @property
    def disputed(self) -> bool:
        """Whether the store, where the atlas is measured, says otherwise than the atlas."""
        here = [one for one in self.seen if one.device == MEASURED_ON and one.current]
        return self.expected is not None and any(one.verdict is not self.expected for one in here)


TurnKind = Literal["introduced", "arrived", "fixed", "removed"]
_KINDS: Mapping[tuple[Verdict, Verdict], TurnKind] = {
    (Verdict.GOOD, Verdict.BAD): "introduced",
    (Verdict.ABSENT, Verdict.BAD): "introduced",
    (Verdict.BAD, Verdict.GOOD): "fixed",
    (Verdict.ABSENT, Verdict.GOOD): "arrived",
    (Verdict.BAD, Verdict.ABSENT): "removed",
    (Verdict.GOOD, Verdict.ABSENT): "removed",
}


@dataclass(frozen=True)
class Turn:
    """A change of verdict between a release and the nearest judged one that it grew from; `unjudged` lie between them,
    so that it may have come in any of these. `change` is its commit, where the atlas has one."""

    kind: TurnKind
    before: Version
    after: Version
    verdicts: tuple[Verdict, Verdict]
    unjudged: tuple[Version, ...]
    change: AtlasChange | None


@dataclass(frozen=True)
class EvidenceRun:
    """Neighbouring releases on which a device showed the same; `frame` has no line number where that differs."""

    first: Version
    last: Version
    count: int
    device: str
    verdict: Verdict
    type: str | None
    message: str | None
    frame: str | None
    recorded: str
    current: bool


@dataclass(frozen=True)
class StateRun:
    """Neighbouring releases on which a patch has one state, served by one variant (None: by the series itself)."""

    first: Version
    last: Version
    state: PatchState
    variant: str | None
    reason: str


@dataclass(frozen=True)
class Mending:
    """A patch that mends a case; `runs` is empty where no release is at hand to say where it applies. `seen` is what
    the store knows of the case on releases with the whole series."""

    series: str
    patch: str
    subject: str
    base: str
    runs: tuple[StateRun, ...]
    seen: tuple[EvidenceRun, ...]


@dataclass(frozen=True)
class CaseData:
    """Everything about one case; `cells` are over all releases in version order."""

    case: Case
    cells: tuple[CellData, ...]
    turns: tuple[Turn, ...]
    evidence: tuple[EvidenceRun, ...]
    mendings: tuple[Mending, ...]
    hunts: tuple[HuntAnswer, ...]
    reductions: tuple[ReductionAnswer, ...]

    def bad(self) -> list[Version]:
        """The releases that have the bug."""
        return [cell.release for cell in self.cells if cell.verdict in (Verdict.BAD, Verdict.FLAKY)]


@dataclass(frozen=True)
class ReleaseData:
    """Everything about one release; `children` are the next of its line, and the next of the main line. `beside` is
    the main line's next, where a release of a maintenance line did not lead there."""

    pin: Pin
    parent: Version | None
    children: tuple[Version, ...]
    beside: Version | None
    audit: Audit


@dataclass(frozen=True)
class ReportData:
    """A whole report."""

    package: str
    releases: tuple[ReleaseData, ...]
    cases: tuple[CaseData, ...]
    devices: tuple[str, ...]


@dataclass(frozen=True)
class PatchOf:
    """A patch of a series, and the ids of the cases that it mends."""

    series: str
    patch: str
    subject: str
    base: str
    cases: tuple[str, ...]


def report_data(
    pins: Pins, atlas: Atlas, cases: Mapping[str, Case], trees: Mapping[Version, str], seen: Iterable[Seen],
    patches: Sequence[PatchOf], statuses: Sequence[SeriesStatus], audits: Mapping[Version, Audit],
    answers: Sequence[HuntAnswer | ReductionAnswer], patched: Mapping[str, Mapping[Version, str]],
) -> ReportData:  # fmt: skip
    """Put a report together. `trees` are those of the releases, and `patched`, by the name of a series, those of
    releases with all of it, as far as they are known; `seen` may tell of other trees and cases, which are left out."""
    released = set(trees.values())
    found: dict[tuple[str, str], list[Seen]] = {}
    for one in seen:
        if one.case in cases:
            found.setdefault((one.case, one.tree), []).append(one)
    devices = _devices(one for (_, tree), rows in found.items() if tree in released for one in rows)
    every = []
    for case in cases.values():
        cells = tuple(
            CellData(version, atlas.expected(case.id, version), _by_device(found, case.id, trees.get(version), devices))
            for version in pins.versions
        )
        told = sorted((one for one in answers if one.case == case.id), key=lambda one: one.device)
        hunts = tuple(one for one in told if isinstance(one, HuntAnswer))
        reductions = tuple(one for one in told if isinstance(one, ReductionAnswer))
        history, evidence = turns(case.id, cells, atlas), evidence_runs(cells, devices)
        mended = {name: _patched_runs(case.id, of, found, pins.versions) for name, of in patched.items()}
        mendings = _mendings(case.id, patches, statuses, mended)
        every.append(CaseData(case, cells, history, evidence, mendings, hunts, reductions))
    releases = tuple(_release(pin, pins.versions, audits[pin.version]) for pin in pins.releases)
    return ReportData(pins.package, releases, tuple(every), tuple(devices))


def _devices(seen: Iterable[Seen]) -> list[str]:
    """The devices that something was seen on, the one that the atlas is measured on first."""
    return sorted({one.device for one in seen}, key=lambda name: (name != MEASURED_ON, name))


def _release(pin: Pin, known: Sequence[Version], audit: Audit) -> ReleaseData:
    children = tuple(version for version in known if parent(version, known) == pin.version)
    ahead = () if is_on_main_line(pin.version) else (v for v in known if v > pin.version and is_on_main_line(v))
    return ReleaseData(pin, parent(pin.version, known), children, min(ahead, default=None), audit)


def _by_device(
    found: Mapping[tuple[str, str], Sequence[Seen]], case: str, tree: str | None, devices: Sequence[str]
) -> tuple[Seen, ...]:
    """One a device: what answers today's probe, else what was recorded last."""
    rows = found.get((case, tree), ()) if tree else ()
    best = []
    for device in devices:
        here = [one for one in rows if one.device == device]
        if here:
            best.append(max(here, key=lambda one: (one.current, one.recorded, one.verdict.value, repr(one))))
    return tuple(best)


def turns(case: str, cells: Sequence[CellData], atlas: Atlas) -> tuple[Turn, ...]:
    """Every change of verdict along the tree of releases, in version order."""
    verdicts = {cell.release: cell.verdict for cell in cells}
    known = list(verdicts)
    found = []
    for version, verdict in verdicts.items():
        before, unjudged = parent(version, known), list[Version]()
        while before is not None and verdicts[before] not in JUDGED:
            unjudged.append(before)
            before = parent(before, known)
        old = verdicts[before] if before is not None else None
        if old is None or before is None or verdict is None or verdict not in JUDGED or old is verdict:
            continue
        # The atlas calls it fixed too where the feature went with the bug.
        commit = atlas.change(case, "introduced" if verdict is Verdict.BAD else "fixed", version)
        kind = _KINDS[old, verdict]
        found.append(Turn(kind, before, version, (old, verdict), tuple(unjudged[::-1]), commit))
    return tuple(found)


def without_line(frame: str | None) -> str | None:
    """A frame without its line number, which moves from release to release."""
    return re.sub(r":\d+ in ", " in ", frame) if frame else frame


def evidence_runs(cells: Sequence[CellData], devices: Sequence[str]) -> tuple[EvidenceRun, ...]:
    """What was recorded, device by device, neighbouring releases with the same evidence as one."""
    runs = []
    for device in devices:
        pairs = [(cell.release, next((one for one in cell.seen if one.device == device), None)) for cell in cells]
        for _, group in itertools.groupby(pairs, key=lambda pair: pair[1] and _sameness(pair[1])):
            together = [(release, row) for release, row in group if row is not None]
            if together:
                runs.append(_run(together))
    return tuple(runs)


def _run(rows: Sequence[tuple[Version, Seen]]) -> EvidenceRun:
    """Neighbours that showed the same as one."""
    shown = rows[0][1]
    said, frames = shown.evidence, {row.evidence.frame for _, row in rows}
    frame = said.frame if len(frames) == 1 else without_line(said.frame)
    recorded = max(row.recorded for _, row in rows)
    return EvidenceRun(
        rows[0][0], rows[-1][0], len(rows), shown.device, shown.verdict, said.type, said.message, frame, recorded,
        shown.current,
    )  # fmt: skip


def _patched_runs(
    case: str, trees: Mapping[Version, str], found: Mapping[tuple[str, str], Sequence[Seen]], known: Sequence[Version]
) -> tuple[EvidenceRun, ...]:
    """What was seen of a case on patched releases."""
    devices = _devices(one for tree in trees.values() for one in found.get((case, tree), ()))
    cells = [CellData(version, None, _by_device(found, case, trees.get(version), devices)) for version in known]
    return evidence_runs(cells, devices)


def _sameness(row: Seen) -> tuple[object, ...]:
    said = row.evidence
    return row.verdict, said.type, said.message, without_line(said.frame), row.current


def _mendings(
    case: str, patches: Sequence[PatchOf], statuses: Sequence[SeriesStatus], seen: Mapping[str, tuple[EvidenceRun, ...]]
) -> tuple[Mending, ...]:
    by_name = {status.name: status for status in statuses}
    found = []
    for patch in patches:
        if case in patch.cases:
            status = by_name.get(patch.series)
            runs = state_runs(patch.patch, status.releases) if status else ()
            rows = seen.get(patch.series, ())
            found.append(Mending(patch.series, patch.patch, patch.subject, patch.base, runs, rows))
    return tuple(found)


def state_runs(patch: str, releases: Sequence[ReleaseStatus]) -> tuple[StateRun, ...]:
    """Where a patch applies: neighbouring releases with the same state, and by the same variant, as one."""
    cells = [(status, cell) for status in releases for cell in status.cells if cell.patch == patch]
    runs = []
    for (state, variant, reason), group in itertools.groupby(
        cells, key=lambda pair: (pair[1].state, pair[0].variant, pair[1].reason)
    ):
        versions = [Version(status.release) for status, _ in group]
        runs.append(StateRun(versions[0], versions[-1], state, variant, reason))
    return tuple(runs)
