# SPDX-License-Identifier: Apache-2.0
"""`headwater atlas update` and `headwater atlas check`: measure anew, and compare with what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from headwater.commands.atlas.measure import CaseAt, measure
from headwater.commands.atlas.writing import draft
from headwater.commands.atlas.writing import write as write_draft
from headwater.commands.context import Context
from headwater.commands.repro import choose_cases
from headwater.core.atlas_text import axis_of, spread
from headwater.core.atlas_update import AtlasCheck, AtlasUpdate, compare, gaps_of, take_in
from headwater.core.cases import Case
from headwater.core.errors import BadInput
from headwater.core.releases import select
from headwater.core.results import INTERRUPTED, ProbeResult, parse_devices
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class AtlasRequest:
    """Which cells to measure: of `cases` (ids, with commas; all without) on `releases` (a SPEC) and `devices`; `new`:
    only those of which the atlas says nothing. `jobs` probes run at a time."""

    cases: Sequence[str]
    releases: str
    devices: Sequence[str]
    new: bool
    jobs: int
    options: ProbeOptions


@dataclass(frozen=True)
class UpdateReport:
    """What `atlas update` found: the rows, what they change, and the text that the atlas would have; `written` that the
    file has it now. `lost_comments` are lines of the file whose comments that text does not have."""

    rows: tuple[ProbeResult, ...]
    update: AtlasUpdate
    text: str
    changed: bool
    written: bool
    lost_comments: tuple[int, ...]
    ran: int
    interrupted: bool

    @property
    def exit_status(self) -> int:
        """0 where every cell could be measured, whether or not something changes."""
        if self.interrupted:
            return INTERRUPTED
        unwritten = self.update.unwritten
        return 5 if any(one.harness for one in unwritten) else 1 if unwritten or self.update.dropped else 0


def update(context: Context, request: AtlasRequest, write: bool) -> UpdateReport:
    """Measure, and take what was seen into the atlas; the file is written with `write` alone, and never by a run that
    was interrupted.

    Raises:
        BadInput: no such case, release or device.
    """
    workspace = context.workspace
    known = workspace.pins.versions
    cases, releases, devices = _chosen(context, request)
    cells = [
        CaseAt(case, release, device)
        for case in cases
        for release in releases
        if not (request.new and workspace.atlas.expected(case.id, release) is not None)
        for device in devices
    ]
    measured = measure(context, cells, request.options, request.jobs)
    taken = take_in(workspace.atlas, measured.rows, known, list(workspace.atlas_cases()))
    made = draft(workspace, taken.atlas)
    written = write and made.changed and not measured.interrupted
    if written:
        write_draft(workspace, made)
    return UpdateReport(
        measured.rows, taken, made.text, made.changed, written, made.lost_comments, measured.ran, measured.interrupted
    )


@dataclass(frozen=True)
class CheckReport:
    """What `atlas check` found, with the rows that it saw."""

    check: AtlasCheck
    rows: tuple[ProbeResult, ...]
    ran: int


def check(context: Context, request: AtlasRequest) -> CheckReport:
    """Measure every recorded cell of the chosen cases and releases, and compare.

    Raises:
        BadInput: no such case or release, or nothing is recorded of them.
    """
    workspace = context.workspace
    cases, releases, devices = _chosen(context, request)
    recorded = spread(workspace.atlas, axis_of(workspace.atlas, workspace.pins.versions))
    cells = [
        CaseAt(case, release, device)
        for case in cases
        for release in releases
        if (case.id, release) in recorded
        for device in devices
    ]
    if not cells:
        raise BadInput("the atlas records nothing of these; `headwater atlas update` shows what it would record")
    measured = measure(context, cells, request.options, request.jobs)
    gaps = gaps_of(recorded, releases, [case.id for case in cases])
    found = compare(workspace.atlas, measured.rows)
    return CheckReport(replace(found, gaps=gaps, interrupted=measured.interrupted), measured.rows, measured.ran)


def _chosen(context: Context, request: AtlasRequest) -> tuple[list[Case], list[Version], list[str]]:
    workspace = context.workspace
    cases = choose_cases(workspace.atlas_cases(), request.cases)
    return cases, select(request.releases, workspace.pins.versions), parse_devices(request.devices or ["cpu"])
