# SPDX-License-Identifier: Apache-2.0
"""What a matrix says in words, for the terminal and for Markdown alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headwater.core.known_failures import Naming
from headwater.core.matrix import ranges
from headwater.core.matrix_report import Look, MatrixReport
from headwater.core.results import Comparison, ProbeResult
from headwater.core.revisions import short_name
from headwater.core.test_results import TestResults, counts
from headwater.core.verdicts import Verdict


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
        found.setdefault((what, _verdict_words(result), _first_line(result)), set()).add(cell.revision)
    return [
        f"not as expected: {what}, {_where(report, chosen)}: {verdict}{why and f'; {why}'}"
        for (what, verdict, why), chosen in found.items()
    ]


def _verdict_words(result: ProbeResult) -> str:
    if result.expected is not None and not result.as_expected:
        return f"{result.verdict.words} instead of {result.expected.words}"
    if result.as_expected:
        return "tests ceased to hold"
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


def suite_entries(report: MatrixReport) -> list[list[str]]:
    """What became of the tests of every suite, revisions that are alike in one entry: a line of counts, and below it
    what failed, and how they differ after the series."""
    found: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for row in report.rows:
        if row.is_suite:
            for device in report.devices:
                for column in report.columns:
                    before, after = report.at(row, column, device)
                    if before is not None:
                        first, *second = report.namings_at(row, column, device)
                        line = report.compared.get((row, column.revision, device))
                        told = (_counts(before), *_failed(before.tests, first), *_after(line, after, *second))
                        found.setdefault((row.name, device, told), set()).add(column.revision)
    return [
        [f"{name} on {device}, {_where(report, chosen)}: {told[0]}", *told[1:]]
        for (name, device, told), chosen in found.items()
    ]


def _counts(result: ProbeResult) -> str:
    """How many tests ended how; where none did, why."""
    if not result.tests:
        return f"{result.verdict.words}: {result.evidence.message or result.evidence.type}"
    words = {"needs-hub": "need the hub"}
    return ", ".join(f"{number} {words.get(what, what)}" for what, number in counts(result.tests).items() if number)


def _failed(tests: TestResults, naming: Naming | None) -> list[str]:
    """What failed: by the cases that it belongs to, where that is known."""
    if naming is not None:
        return named_words(naming)
    failed = [one.name for one in tests if one.result == "failed"]
    return [f"failed: {', '.join(by_function(failed))}"] if failed else []


def named_words(naming: Naming) -> list[str]:
    """The failures by case, and in full those that belong to none."""
    told = [f"{case}: {', '.join(by_function([one.name for one in tests]))}" for case, tests in naming.by_case.items()]
    return [*told, *(f"unnamed, of no case in the atlas: {one.name}: {one.reason}" for one in naming.unnamed)]


def _after(line: Comparison | None, after: ProbeResult | None, naming: Naming | None = None) -> list[str]:
    if line is None or after is None:
        return []
    if line.changes is None:
        return [f"after the series: {_counts(after)}"]
    still = named_words(naming) if naming is not None else []
    return [f"after the series: {words}" for words in [*changes_words(line), *still]]


def changes_words(line: Comparison) -> list[str]:
    """How a suite's tests differ after the series: what ceased to hold by name and why, what was mended by function."""
    changes = line.changes
    assert changes is not None
    told = [f"fails anew: {one.name}: {one.reason}" for one in changes.new_failures]
    told += [f"no longer runs: {one.name}: {one.reason}" for one in changes.lost]
    told = told or ["no new failure"]
    mended = by_function([one.name for one in changes.newly_passing])
    return [*told, *([f"newly passing: {', '.join(mended)}"] if mended else [])]


def by_function(tests: Sequence[str]) -> list[str]:
    """Tests by the functions that they are of, each with the number of its parameters where there are several."""
    functions = Counter(name.partition("[")[0] for name in tests)
    return [f"{name} ({number})" if number > 1 else name for name, number in functions.items()]
