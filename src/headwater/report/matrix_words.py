# SPDX-License-Identifier: Apache-2.0
"""What a matrix says in words, for the terminal and for Markdown alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.core.hunting import short_name
from headwater.core.matrix import Cell, Row, ranges
from headwater.core.matrix_report import Look, MatrixReport
from headwater.core.results import Comparison, ProbeResult
from headwater.core.test_results import TestResults, counts
from headwater.core.verdicts import Verdict

_SHOWN = 5  # tests that are named before the rest is counted


def place_words(look: Look) -> str:
    """A place: the verdict, or those before and after the series; `!` where it is not as expected."""
    words = [
        one.words if one else "not run" for one in ([look.before, look.after] if look.is_patched else [look.before])
    ]
    return " > ".join(words) + ("!" if look.wrong else "")


def summary(report: MatrixReport) -> str:
    """How many cells have which verdict, and how long all took."""
    told = [f"{report.verdicts[verdict]} {verdict.words}" for verdict in Verdict if report.verdicts[verdict]]
    told += [f"{len(report.not_run)} not run"] if report.not_run else []
    return f"{len(report.cells)} cells: {', '.join(told)}. {report.seconds:.1f} s, {report.rate:.1f} cells a second."


def needless_lines(report: MatrixReport) -> list[str]:
    """Where the series is not needed, and why."""
    found: dict[str, set[str]] = {}
    for column in report.columns:
        if column.states:
            found.setdefault(" and ".join(state.words for state in column.states), set()).add(column.revision)
    return [f"{report.series} is not needed, {why}: {_where(report, chosen)}" for why, chosen in found.items()]


def wrong_lines(report: MatrixReport) -> list[str]:
    """What is not as expected: neighbours that show the same in one line."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for cell, result in report.wrong:
        what = f"{cell.row.name} on {cell.device}{' patched' if cell.series else ''}"
        found.setdefault((what, _verdict_words(cell, result, report), _first_line(result)), set()).add(cell.revision)
    return [
        f"not as expected: {what}, {_where(report, chosen)}: {verdict}{why and f'; {why}'}"
        for (what, verdict, why), chosen in found.items()
    ]


def _verdict_words(cell: Cell, result: ProbeResult, report: MatrixReport) -> str:
    if result.expected is not None and not result.as_expected:
        return f"{result.verdict.words} instead of {result.expected.words}"
    if result.as_expected:
        line = report.compared[cell.place]
        return f"tests ceased to hold ({changes_words(line)})"
    return result.verdict.words


def _first_line(result: ProbeResult) -> str:
    evidence = result.evidence
    if evidence.type is None:
        return ""
    return f"{evidence.type}: {((evidence.message or '').strip().splitlines() or [''])[0]}".rstrip(": ")


def not_run_line(report: MatrixReport) -> str:
    """What was not run, by revision."""
    chosen = {cell.revision for cell in report.not_run}
    return f"not run: {len(report.not_run)} cells, on {_where(report, chosen)}"


def _where(report: MatrixReport, chosen: set[str]) -> str:
    names = [short_name(column.revision) for column in report.columns]
    return ranges(names, {short_name(revision) for revision in chosen})


@dataclass(frozen=True)
class SuiteLine:
    """A suite on neighbouring revisions where its tests end alike: the counts, and after the series how they differ."""

    name: str
    device: str
    revisions: str
    result: str
    failures: tuple[str, ...]
    after: str


def suite_lines(report: MatrixReport) -> list[SuiteLine]:
    """What became of the tests of every suite, neighbours that are alike in one line."""
    found: list[SuiteLine] = []
    for row in report.rows:
        if row.is_suite:
            for device in report.devices:
                found += _lines_of(report, row, device)
    return found


def _lines_of(report: MatrixReport, row: Row, device: str) -> list[SuiteLine]:
    runs: list[tuple[list[str], tuple[str, tuple[str, ...], str]]] = []
    for column in report.columns:
        before, after = report.at(row, column, device)
        if before is None:
            continue
        line = report.compared.get((row, column.revision, device))
        told = _counts(before), _failures(before.tests), _after(line, after)
        name = short_name(column.revision)
        if runs and runs[-1][1] == told:
            runs[-1][0].append(name)
        else:
            runs.append(([name], told))
    return [SuiteLine(row.name, device, ranges(names, names), *told) for names, told in runs]


def _counts(result: ProbeResult) -> str:
    """How many tests ended how; where none did, why."""
    if not result.tests:
        return f"{result.verdict.words}: {result.evidence.message or result.evidence.type}"
    words = {"needs-hub": "need the hub"}
    told = [f"{number} {words.get(what, what)}" for what, number in counts(result.tests).items() if number]
    return ", ".join(told)


def _failures(tests: TestResults) -> tuple[str, ...]:
    return tuple(f"{one.name}: {one.reason}" for one in tests if one.result == "failed")


def _after(line: Comparison | None, after: ProbeResult | None) -> str:
    if line is None or after is None:
        return ""
    return changes_words(line) if line.changes is not None else _counts(after)


def changes_words(line: Comparison) -> str:
    """How a suite's tests differ after the series: what ceased to hold by name, the rest as counts."""
    changes = line.changes
    assert changes is not None
    told = [f"fails anew: {one.name}" for one in changes.new_failures]
    told += [f"no longer runs: {one.name}" for one in changes.lost]
    told = told or ["no new failure"]
    told += [f"newly passing: {one}" for one in few([one.name for one in changes.newly_passing])]
    return "; ".join(told)


def few(names: Sequence[str]) -> list[str]:
    """Some names, and how many more there are."""
    more = len(names) - _SHOWN
    return [*names[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
