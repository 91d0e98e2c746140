# SPDX-License-Identifier: Apache-2.0
"""`headwater test-patched`: every case before and after a series, and the patches' own tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.repro import choose_cases, find_subject, release_of
from headwater.core.cases import Case, read_case
from headwater.core.errors import BadInput
from headwater.core.releases import select
from headwater.core.results import ProbeResult, Surroundings, has_accelerator, parse_devices
from headwater.core.series import Patch, resolve_patch
from headwater.core.verdicts import Verdict
from headwater.effects.patching import read_file
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.effects.subjects import PatchedSubject
from headwater.effects.workspace import PACKAGED_CASES, Series


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
    drop: Sequence[str]
    drop_each: bool
    options: ProbeOptions


@dataclass(frozen=True)
class Comparison:
    """One line: a case, or a patch's tests, on one device, before and after."""

    title: str
    before: ProbeResult
    after: ProbeResult

    @property
    def as_expected(self) -> bool:
        """Whether both are what the atlas and the series say."""
        return self.before.as_expected and self.after.as_expected


@dataclass(frozen=True)
class PatchedRun:
    """All comparisons on one release with one set of patches."""

    release: str
    dropped: tuple[str, ...]
    applied: tuple[str, ...]
    lines: list[Comparison]
    surroundings: Surroundings


@dataclass(frozen=True)
class PatchedReport:
    """The runs, and how many probes were run for them."""

    series: str
    runs: list[PatchedRun]
    ran: int


def test_patched(context: Context, request: PatchedRequest) -> PatchedReport:
    """Apply the series on a copy and probe before and after.

    Raises:
        PatchFailed: a patch does not apply; the message says which and why.
        BadInput: no such series, release, patch, case or device.
    """
    series = context.workspace.series(request.series)
    subjects = _subjects(context, request, series)
    names = series.file.patches
    dropped = tuple(resolve_patch(word, names) for word in request.drop)
    if set(dropped) == set(names):
        raise BadInput("--drop leaves no patch of the series")
    variants = [dropped]
    if request.drop_each:
        variants += [(name,) for name in names if len(names) > 1]
    cases = context.workspace.cases()
    chosen = choose_cases(cases, request.cases)
    unknown = sorted({case for patch in series.patches for case in patch.cases} - set(cases))
    if unknown:
        raise BadInput(f"series {series.name} names the case {unknown[0]}, and there is none of that id")
    prober = context.prober(request.options)
    runs = [
        _run(
            context, prober, series, subject, release_of(context, subject, request.tree), drop, chosen, request.devices
        )
        for subject in subjects
        for drop in variants
    ]
    return PatchedReport(series.name, runs, prober.ran)


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
    context: Context, prober: Prober, series: Series, before: Subject, version: Version | None,
    drop: tuple[str, ...], cases: list[Case], devices: Sequence[str],
) -> PatchedRun:  # fmt: skip
    patched = context.subjects.patched(before, series, drop)
    lines = []
    for device in parse_devices(devices or ["cpu", "meta"]):
        for case in cases:
            first, second = prober.probe(before, case, device), prober.probe(patched.subject, case, device)
            expected = _expectations(context.workspace.atlas.expected(case.id, version), case, series, patched)
            lines.append(_comparison(case.id, first, second, expected))
        if device == "cpu" or has_accelerator(device):
            lines += _test_lines(context, prober, patched, before, device)
    surroundings = context.surroundings(patched.subject, [line.after for line in lines])
    applied = tuple(patch.file for patch in patched.patches)
    return PatchedRun(before.revision, drop, applied, lines, surroundings)


def _expectations(
    atlas: Verdict | None, case: Case, series: Series, patched: PatchedSubject
) -> tuple[Verdict | None, Verdict | None]:
    """The verdicts expected before and after. A patch shows its worth only where its case is bad without it."""
    before = Verdict.BAD if any(case.id in patch.cases for patch in series.patches) else atlas
    mended = any(case.id in patch.cases for patch in patched.patches)
    return before, Verdict.GOOD if mended else before


def _comparison(
    title: str, before: ProbeResult, after: ProbeResult, expected: tuple[Verdict | None, Verdict | None]
) -> Comparison:
    return Comparison(title, replace(before, expected=expected[0]), replace(after, expected=expected[1]))


def _test_lines(
    context: Context, prober: Prober, patched: PatchedSubject, before: Subject, device: str
) -> list[Comparison]:
    lines = []
    for patch in patched.patches:
        if not patch.tests:
            raise BadInput(f"patch {patch.file} brings no test file below tests/; it cannot be shown to work")
        case = _tests_of(context, patch, patched.commit)
        first, second = prober.probe(before, case, device), prober.probe(patched.subject, case, device)
        title = f"tests of {patch.file.partition('-')[0]}"
        lines.append(_comparison(title, first, second, (Verdict.BAD, Verdict.GOOD)))
    return lines


def _tests_of(context: Context, patch: Patch, commit: str) -> Case:
    """A patch's own test files as a case: the packaged runner, with the files beside it."""
    source = (PACKAGED_CASES / "patch_tests.py").read_bytes()
    case = read_case("patch_tests.py", source.decode(), {})
    files = {path.rpartition("/")[2]: read_file(context.mirror.git, commit, path) for path in patch.tests}
    return replace(case, id=f"tests:{patch.file.removesuffix('.patch')}", files={**case.files, **files})
