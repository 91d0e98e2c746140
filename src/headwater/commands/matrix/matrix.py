# SPDX-License-Identifier: Apache-2.0
"""`headwater matrix`: which cells there are, running them, and what was expected of each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from packaging.version import Version

from headwater.commands.conformance import as_it_is, comparison, note_missing_suite
from headwater.commands.context import Context
from headwater.commands.matrix.course import Course
from headwater.commands.matrix.naming import name_cells, unless_named
from headwater.commands.matrix.request import MatrixRequest
from headwater.commands.matrix.runner import CellRunner
from headwater.commands.matrix.threads import Threads
from headwater.commands.patch.choosing import needless_patches, probed_needless
from headwater.commands.remote.hands import hands, workers_of
from headwater.commands.repro import choose_cases, on_device
from headwater.core.commits import Commit
from headwater.core.errors import BadInput
from headwater.core.matrix import Cell, Column, Executor, Row, cells_of
from headwater.core.matrix_report import MatrixReport
from headwater.core.releases import select
from headwater.core.results import Comparison, ProbeResult, also_mended, parse_devices
from headwater.core.revisions import Revision, name_of
from headwater.core.states import PatchState
from headwater.core.verdicts import Verdict
from headwater.effects.nearest_commit import nearest_commit
from headwater.effects.probe import ProbeOptions, Prober
from headwater.effects.series_folder import Series
from headwater.effects.upstream_words import resolve

TESTS = ("conformance", "upstream")
NO_CASES = "none"


def matrix(context: Context, request: MatrixRequest) -> MatrixReport:
    """Run every cell. Interrupted, it returns what is done.

    Raises:
        BadInput: no such release, commit, case, device, series or repository; nothing to run.
        ToldToStop: a case ended with an exit status from 128 on.
    """
    runner = CellRunner(context, request.repo, request.cases_dir)
    planner = _Planner(context, request, runner)
    plan = planner.plan()
    workers = workers_of(context, request.way, request.series is not None)
    probing = hands(context, request.options, request.way, workers, request.repo)
    executor: Executor = Threads(runner, probing, one_machine=workers is None)
    course = Course(plan.cells, f"running {len(plan.cells)} cells", context.emit)
    began = time.monotonic()
    interrupted = not course.run(executor)
    seconds = time.monotonic() - began
    results, compared = _judged(context, request, plan, course.results)
    namings = name_cells(context, results, lambda cell: _mended(plan, cell))
    return MatrixReport(
        plan.columns, plan.rows, plan.devices, request.series, plan.cells, unless_named(results, namings), compared,
        seconds, executor.ran + planner.ran, interrupted, request.command, workers.report if workers else None, namings,
    )  # fmt: skip


@dataclass(frozen=True)
class _Plan:
    """What is to be run."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    devices: tuple[str, ...]
    series: Series | None
    cells: tuple[Cell, ...]


@dataclass
class _Planner:
    """From a request to a plan."""

    context: Context
    request: MatrixRequest
    runner: CellRunner

    def plan(self) -> _Plan:
        """Every cell."""
        request = self.request
        rows = self._rows()
        devices = tuple(parse_devices(request.devices or ["cpu"]))
        series = self.context.workspace.series(request.series) if request.series is not None else None
        columns = tuple(self._column(revision, series) for revision in self._revisions())
        cells = cells_of(columns, rows, devices, request.series)
        return _Plan(columns, rows, devices, series, tuple(cells))

    def _rows(self) -> tuple[Row, ...]:
        request = self.request
        tests = [word.strip() for words in request.tests for word in words.split(",")]
        unknown = [word for word in tests if word not in TESTS]
        if unknown:
            raise BadInput(f"--tests {unknown[0]}: there are {' and '.join(TESTS)}")
        rows = []
        if list(request.cases) != [NO_CASES]:
            cases = self.context.workspace.cases(request.cases_dir)
            rows = [Row("case", case.id) for case in choose_cases(cases, request.cases)]
        if "conformance" in tests:
            note_missing_suite(self.context)
            if self.context.workspace.conformance() is not None:
                rows.append(Row("conformance", "conformance"))
        if "upstream" in tests:
            rows += [Row("upstream", path) for path in self._own_tests()]
        if not rows:
            raise BadInput(f"nothing to run: --cases {NO_CASES} goes with --tests {' or '.join(TESTS)}")
        return tuple(rows)

    def _own_tests(self) -> tuple[str, ...]:
        """The library's own tests; without a repository also those that sdists hold."""
        pins = self.context.workspace.pins
        found = pins.tests if self.request.repo else (*pins.tests, *pins.sdist_tests)
        if not found:
            raise BadInput(f"--tests upstream: upstream/{pins.package}.toml names no `tests` of {pins.package}")
        return found

    @property
    def ran(self) -> int:
        """How many probes planning took."""
        return self._prober.ran if "_prober" in self.__dict__ else 0

    def _revisions(self) -> list[Revision]:
        request, pins = self.request, self.context.workspace.pins
        spec = request.releases or (None if request.commits else "all")
        releases: list[Revision] = list(select(spec, pins.versions)) if spec else []
        words = [word.strip() for given in request.commits for word in given.split(",")]
        upstream = self.runner.upstream if words else None
        return list(dict.fromkeys([*releases, *(resolve(upstream, word, pins.versions) for word in words)]))

    def _column(self, revision: Revision, series: Series | None) -> Column:
        skipped = self._needless(revision, series) if series else {}
        return Column(
            name_of(revision), self._group(revision), self._tests_at(revision), tuple(skipped.items()),
            series is not None and len(skipped) < len(series.patches),
        )  # fmt: skip

    def _needless(self, revision: Revision, series: Series) -> Mapping[str, PatchState]:
        """The patches that a revision does not need; where the atlas does not know, their cases are probed."""
        context = self.context
        cases = [case for patch in series.patches for case in patch.cases]
        release = None if isinstance(revision, Commit) else revision
        if release is not None and all(context.workspace.atlas.expected(case, release) for case in cases):
            return needless_patches(context, series, release)
        known = context.workspace.cases(self.request.cases_dir)
        subject = self.runner.subject_of(name_of(revision))
        return probed_needless(self._prober, series, subject, known, "cpu")

    @cached_property
    def _prober(self) -> Prober:
        return self.context.prober(ProbeOptions())

    def _group(self, revision: Revision) -> str:
        """The name of the environment; what has none is its own."""
        if isinstance(revision, Commit):
            return self.context.group_name(self.runner.subject_of(revision.sha).pin.version)
        return self.context.group_name(revision)

    def _tests_at(self, revision: Revision) -> str | None:
        """The commit whose tests a revision is held against: its own, or the nearest of a release."""
        if not any("upstream" in words for words in self.request.tests) or self.request.repo is None:
            return None
        if isinstance(revision, Commit):
            return revision.sha
        context = self.context
        pin, package = context.workspace.pins.pin(revision), context.workspace.pins.package
        return nearest_commit(self.runner.upstream, context.mirror, pin, package, context.emit).commit.sha


def _judged(
    context: Context, request: MatrixRequest, plan: _Plan, results: Mapping[Cell, ProbeResult]
) -> tuple[dict[Cell, ProbeResult], dict[tuple[Row, str, str], Comparison]]:
    """The results with what was expected of each, and the suites compared before and after the series."""
    cases = context.workspace.cases(request.cases_dir) if any(row.kind == "case" for row in plan.rows) else {}
    judged = {}
    for cell, result in results.items():
        judged[cell] = _expecting(context, plan, cell, result)
        if not cell.row.is_suite:
            expected = on_device(cases[cell.row.name], cell.device, bool(request.cases), judged[cell].expected)
            judged[cell] = replace(judged[cell], expected=expected)
            if cell.series and plan.series is not None and not plan.series.names(cell.row.name):
                judged[cell] = also_mended(judged[cell])
    compared = {}
    before = {cell.place: cell for cell in results if cell.series is None}
    for cell in results:
        first = before.get(cell.place)
        if cell.row.is_suite and cell.series is not None and first is not None:
            line = comparison(results[first], results[cell], cell.row.name)
            compared[cell.place] = line
            judged[first], judged[cell] = line.before, line.after
    return judged, compared


def _expecting(context: Context, plan: _Plan, cell: Cell, result: ProbeResult) -> ProbeResult:
    """A result with what was expected: what the atlas says; `bad` before and `good` after a patch that is for the case;
    of a suite that it runs to its end."""
    if cell.row.is_suite:
        return as_it_is(result)
    column = next(column for column in plan.columns if column.revision == cell.revision)
    needed = _needed(plan.series, column) if column.patched else []
    if cell.row.name in needed:
        return replace(result, expected=Verdict.GOOD if cell.series else Verdict.BAD)
    release = Version(cell.revision) if len(cell.revision) < 40 else None
    return replace(result, expected=context.workspace.atlas.expected(cell.row.name, release))


def _mended(plan: _Plan, cell: Cell) -> Sequence[str]:
    """The cases that the patches mend which are on a cell's tree."""
    column = next(column for column in plan.columns if column.revision == cell.revision)
    return _needed(plan.series, column) if cell.series else []


def _needed(series: Series | None, column: Column) -> Sequence[str]:
    """The cases that the patches mend which the revision needs."""
    skipped = {patch for patch, _state in column.skipped}
    patches = series.patches if series else ()
    return [case for patch in patches if patch.file not in skipped for case in patch.cases]
