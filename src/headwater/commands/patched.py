# SPDX-License-Identifier: Apache-2.0
"""`headwater test-patched`: every case before and after a series, and the patches' own tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from headwater.commands.conformance import conformance_lines, note_missing_suite
from headwater.commands.context import Context
from headwater.commands.patch.choosing import probed_needless
from headwater.commands.patch.probing import own_tests, require_known_cases
from headwater.commands.repro import choose_cases, find_subject, on_device, release_of
from headwater.core.cases import Case
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.events import Note
from headwater.core.releases import select
from headwater.core.results import (
    Comparison,
    PatchedReport,
    PatchedRun,
    ProbeResult,
    also_mended,
    devices_of_patches,
    has_accelerator,
    parse_devices,
)
from headwater.core.series import resolve_patch
from headwater.core.states import PatchState
from headwater.core.verdicts import Verdict
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.effects.series_folder import Series
from headwater.effects.subjects import PatchedSubject


@dataclass(frozen=True)
class PatchedRequest:
    """What to test.

    `releases` is a SPEC and `tree` a folder to test instead; both None for the series' base. `drop` are the patches to
    leave out; `drop_each` tests once more for each patch without it, to show that it is needed.
    """

    series: str
    releases: str | None
    tree: Path | None
    devices: Sequence[str]
    cases: Sequence[str]
    cases_dir: Path | None
    drop: Sequence[str]
    drop_each: bool
    options: ProbeOptions


def test_patched(context: Context, request: PatchedRequest) -> PatchedReport:
    """Apply the series on a copy and probe before and after.

    A release that the series does not apply to has a run of its own that says which patch and why.

    Raises:
        BadInput: no such series, release, patch, case or device; a patch that brings no test.
    """
    series = context.workspace.series(request.series)
    _require_tests(series)
    subjects = _subjects(context, request, series)
    names = series.file.patches
    dropped = tuple(resolve_patch(word, names) for word in request.drop)
    if set(dropped) == set(names):
        raise BadInput("--drop leaves no patch of the series")
    variants = [dropped]
    if request.drop_each:
        variants += [(name,) for name in names if len(names) > 1]
    cases = context.workspace.cases(request.cases_dir)
    chosen = choose_cases(cases, request.cases)
    require_known_cases(series, cases)
    devices = parse_devices(request.devices or devices_of_patches(context.workspace.pins.torch))
    request = replace(request, devices=devices)
    if "cpu" not in devices and not any(has_accelerator(device) for device in devices):
        context.emit(Note("the patches' own tests need real numbers: they do not run on meta alone", warning=True))
    note_missing_suite(context)
    prober = context.prober(request.options)
    runs: list[PatchedRun] = []
    interrupted = False
    try:
        for subject in subjects:
            release = release_of(context, subject, request.tree)
            for drop in variants:
                runs.append(_run(context, prober, request, series, subject, release, drop, chosen, cases))
    except KeyboardInterrupt:
        interrupted = True
    return PatchedReport(series.name, runs, prober.ran, interrupted)


def _require_tests(series: Series) -> None:
    """Refuse a patch that cannot be shown to work. Upstream's own fix, taken back, is shown by its case."""
    for patch in series.patches:
        names = [path.rpartition("/")[2] for path in patch.tests]
        if not names and not (patch.cases and patch.is_backport):
            raise BadInput(f"patch {patch.file} brings no test file below tests/; it cannot be shown to work")
        if len(set(names)) < len(names):
            raise BadInput(f"patch {patch.file} brings two test files of one name: {', '.join(sorted(patch.tests))}")


def _subjects(context: Context, request: PatchedRequest, series: Series) -> list[Subject]:
    """What the series is applied to."""
    if request.tree is not None:
        if request.releases is not None:
            raise BadInput("--tree and --releases exclude one another")
        return [find_subject(context, None, request.tree)]
    pins = context.workspace.pins
    versions = select(request.releases, pins.versions) if request.releases else [series.file.base]
    return [context.subjects.release(pins.find(str(version))) for version in versions]


def _run(
    context: Context, prober: Prober, request: PatchedRequest, series: Series, before: Subject,
    version: Version | None, drop: tuple[str, ...], cases: list[Case], known: Mapping[str, Case],
) -> PatchedRun:  # fmt: skip
    skipped = {} if version in series.bases else probed_needless(prober, series, before, known, request.devices[0])
    if len(skipped) == len(series.patches):
        return _untouched_run(context, prober, request, before, version, drop, cases, skipped)
    try:
        patched = context.subjects.patched(before, series, {*drop, *skipped})
    except PatchFailed as error:
        return PatchedRun(before.revision, drop, (), [], None, f"on {before.revision}: {error}")
    lines = []
    for device in request.devices:
        for case in cases:
            first, second = prober.probe(before, case, device), prober.probe(patched.subject, case, device)
            atlas = context.workspace.atlas.expected(case.id, version)
            before_it, after_it = (
                on_device(case, device, bool(request.cases), expected)
                for expected in _expectations(atlas, case, series, patched, skipped)
            )
            line = _comparison(case.id, first, second, (before_it, after_it))
            lines.append(line if series.names(case.id) else _unnamed(context, line))
        if device == "cpu" or has_accelerator(device):
            lines += _test_lines(context, prober, patched, before, device)
            lines += conformance_lines(context, prober, before, patched.subject, device)
    surroundings = context.surroundings(patched.subject, [line.after for line in lines])
    applied = tuple(patch.file for patch in patched.patches)
    return PatchedRun(before.revision, drop, applied, lines, surroundings, skipped=skipped)


def _untouched_run(
    context: Context, prober: Prober, request: PatchedRequest, before: Subject, version: Version | None,
    drop: tuple[str, ...], cases: list[Case], skipped: dict[str, PatchState],
) -> PatchedRun:  # fmt: skip
    """A release that needs no patch: what its cases say without one is all there is to see."""
    lines = []
    for device in request.devices:
        for case in cases:
            row = prober.probe(before, case, device)
            atlas = context.workspace.atlas.expected(case.id, version)
            expected = on_device(case, device, bool(request.cases), atlas)
            lines.append(_comparison(case.id, row, row, (expected, expected)))
    surroundings = context.surroundings(before, [line.before for line in lines])
    return PatchedRun(before.revision, drop, (), lines, surroundings, skipped=skipped)


def _unnamed(context: Context, line: Comparison) -> Comparison:
    """The line of a case that no patch names. That it is mended is no failure, and worth a word."""
    after = also_mended(line.after)
    if after is not line.after:
        words = f"{line.title} is mended besides: the patch that does it may say `Headwater-Also: {line.title}`"
        context.emit(Note(f"on {after.revision} ({after.device}) {words}"))
    return replace(line, after=after)


def _expectations(
    atlas: Verdict | None, case: Case, series: Series, patched: PatchedSubject, skipped: Collection[str]
) -> tuple[Verdict | None, Verdict | None]:
    """The verdicts expected before and after. A patch shows its worth only where its case is bad without it."""
    needed = [patch for patch in series.patches if patch.file not in skipped]
    before = Verdict.BAD if any(case.id in patch.cases for patch in needed) else atlas
    mended = any(case.id in patch.cases for patch in patched.patches)
    besides = before is Verdict.BAD and any(case.id in patch.also for patch in patched.patches)
    return before, Verdict.GOOD if mended or besides else before


def _comparison(
    title: str, before: ProbeResult, after: ProbeResult, expected: tuple[Verdict | None, Verdict | None]
) -> Comparison:
    return Comparison(title, replace(before, expected=expected[0]), replace(after, expected=expected[1]))


def _test_lines(
    context: Context, prober: Prober, patched: PatchedSubject, before: Subject, device: str
) -> list[Comparison]:
    lines = []
    # A backport may bring none: its case is what shows it.
    for patch in [patch for patch in patched.patches if patch.tests]:
        case = own_tests(context, patch, patched.commit)
        first, second = prober.probe(before, case, device), prober.probe(patched.subject, case, device)
        title = f"tests of {patch.file.partition('-')[0]}"
        lines.append(_comparison(title, first, second, (Verdict.BAD, Verdict.GOOD)))
    return lines
