# SPDX-License-Identifier: Apache-2.0
"""`headwater repro`: every case, or some, on one release or folder, patched or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.patch.choosing import needless_patches, require_some
from headwater.core.cases import Case
from headwater.core.errors import BadInput
from headwater.core.naming import no_such
from headwater.core.results import ProbeResult, ReproReport, also_mended, parse_devices
from headwater.core.verdicts import Verdict
from headwater.effects.probe import ProbeOptions, Subject
from headwater.effects.series_folder import Series


@dataclass(frozen=True)
class ReproRequest:
    """What to reproduce. `revision` and `tree` may both stand: then `revision` names the environment."""

    revision: str | None
    tree: Path | None
    series: str | None
    cases: Sequence[str]
    cases_dir: Path | None
    devices: Sequence[str]
    options: ProbeOptions


def choose_cases(cases: dict[str, Case], wanted: Sequence[str]) -> list[Case]:
    """The cases that the user named, by ids and commas, or all.

    Raises:
        BadInput: an id that no case has; the cases there are are named.
    """
    ids = [part.strip() for word in wanted for part in word.split(",")]
    unknown = [case_id for case_id in ids if case_id not in cases]
    if unknown:
        raise no_such("case", unknown[0], cases)
    if not cases:
        raise BadInput("there are no cases in the workspace; --cases-dir names a folder with some")
    return [cases[case_id] for case_id in dict.fromkeys(ids)] if ids else list(cases.values())


def repro(context: Context, request: ReproRequest) -> ReproReport:
    """Probe every chosen case on the subject and compare with the atlas.

    Raises:
        BadInput: no such release, case, device or folder.
    """
    cases = context.workspace.cases(request.cases_dir)
    chosen = choose_cases(cases, request.cases)
    devices = parse_devices(request.devices or ["cpu"])
    series = context.workspace.series(request.series) if request.series is not None else None
    subject = find_subject(context, request.revision, request.tree)
    version = release_of(context, subject, request.tree)
    if series is not None:
        skipped = needless_patches(context, series, version)
        require_some(series, skipped, subject.revision)
        subject = context.subjects.patched(subject, series, skipped).subject
    prober = context.prober(request.options)
    rows: list[ProbeResult] = []
    interrupted = False
    try:
        for device in devices:
            for case in chosen:
                row = prober.probe(subject, case, device)
                expected = on_device(case, device, bool(request.cases), _expected(context, case, version, series))
                row = replace(row, expected=expected)
                rows.append(also_mended(row) if series is not None and not series.names(case.id) else row)
    except KeyboardInterrupt:
        interrupted = True
    return ReproReport(rows, context.surroundings(subject, rows), prober.ran, interrupted)


def find_subject(context: Context, revision: str | None, tree: Path | None) -> Subject:
    """What `REVISION` and `--tree PATH` name; with both, the revision says which environment the folder needs.

    Raises:
        BadInput: neither is given, there is no such release, or the library is not in the folder.
    """
    if revision is None and tree is None:
        raise BadInput("name a release, e.g. `headwater repro 5.10.1`, or a checkout with --tree PATH")
    pin = context.workspace.pins.find(revision) if revision is not None else None
    if tree is not None:
        if not tree.is_dir():
            raise BadInput(f"--tree {tree}: no such folder")
        return context.subjects.folder(tree, pin)
    assert pin is not None
    return context.subjects.release(pin)


def release_of(context: Context, subject: Subject, tree: Path | None) -> Version | None:
    """The release whose expectations hold for an unpatched subject: for a folder, the one with the same files."""
    return subject.pin.version if tree is None else context.workspace.pins.release_of_tree(subject.tree)


def on_device(case: Case, device: str, named: bool, expected: Verdict | None) -> Verdict | None:
    """What to expect on a device of a case from which one expects `expected` where it can tell.

    Where it cannot, `unavailable` is as it should be, unless the case was `named`: then it was to be tested.
    """
    if case.tells_on(device):
        return expected
    return None if named else Verdict.UNAVAILABLE


def _expected(context: Context, case: Case, version: Version | None, series: Series | None) -> Verdict | None:
    """What the atlas says; for the cases of a series that is applied, `good`."""
    if series is not None and series.names(case.id):
        return Verdict.GOOD
    return context.workspace.atlas.expected(case.id, version)
