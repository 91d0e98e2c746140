# SPDX-License-Identifier: Apache-2.0
"""What `test-patched` shows: before and after, in full for a few releases and as an overview of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from headwater.core.results import Comparison, PatchedReport, PatchedRun, Surroundings
from headwater.core.test_results import Changes
from headwater.core.verdicts import Verdict
from headwater.report.terminal import (
    evidence_text,
    judgement,
    plain_table,
    probes_sentence,
    surroundings_line,
    verdict_text,
)

# From so many runs on, those that are in order are shown as one line a device.
_MANY = 4


def print_patched(console: Console, report: PatchedReport) -> None:
    """A table for each release and set of patches, and a closing sentence. Of many runs an overview, and in full those
    that are not in order."""
    many = len(report.runs) >= _MANY
    if many:
        _print_overview(console, report)
    for run in report.runs:
        if many and run.in_order:
            continue
        without = f" without {', '.join(run.dropped)}" if run.dropped else ""
        console.print(f"{report.series} on {run.release}{without}", style="bold", markup=False)
        if run.failure is not None:
            console.print(f"not applied {run.failure}", style="red", markup=False, highlight=False, soft_wrap=True)
        for patch, state in run.skipped.items():
            console.print(f"{state.words}: {patch}", style="cyan", markup=False, highlight=False, soft_wrap=True)
        if run.surroundings is not None:
            _print_comparisons(console, run.lines, run.surroundings)
        console.print()
    failed = sum(run.failure is not None for run in report.runs)
    words = [probes_sentence(report.ran, report.rows), judgement(report.rows)] if report.rows else []
    if failed:
        words.append(f"The series does not apply to {failed} of {len(report.runs)}.")
    unsound = sum(not line.sound for run in report.runs for line in run.lines)
    if unsound:
        words.append(f"Tests of the conformance suite ceased to hold in {unsound} of its runs.")
    console.print(" ".join(words), highlight=False, soft_wrap=True)


def _print_comparisons(console: Console, lines: Sequence[Comparison], around: Surroundings) -> None:
    """One row a case and device: before, after, and what speaks for it."""
    table = plain_table()
    for name in ("case", "device", "before", "after", "evidence"):
        table.add_column(name, overflow="fold", no_wrap=name != "evidence")
    for line in lines:
        before, after = line.before, line.after
        shown = before.evidence if after.verdict in (Verdict.GOOD, Verdict.ABSENT) else after.evidence
        marks = [verdict_text(row.verdict) for row in (before, after)]
        for mark, row in zip(marks, (before, after), strict=True):
            if not row.as_expected and row.expected is not None:
                mark.append(f"\nexpected {row.expected.words}", "bold yellow")
        told = evidence_text(shown) if line.changes is None else changes_text(line.changes)
        table.add_row(line.title, before.device, *marks, told)
    console.print(table)
    console.print()
    console.print(surroundings_line(around), style="dim", highlight=False, soft_wrap=True)


def changes_text(changes: Changes) -> Text:
    """How a suite's tests differ: what ceased to hold by name, the rest as counts."""
    text = Text()
    for what, tests in (("fails anew", changes.new_failures), ("no longer runs", changes.lost)):
        for one in tests:
            text.append(f"{what}: {one.name}", "bold red")
            text.append(f"\n{one.reason}\n" if one.reason else "\n")
    counts = {"failing before and after": changes.still_failing, "newly passing": changes.newly_passing}
    told = [f"{len(tests)} {what}" for what, tests in counts.items() if tests]
    return text.append(", ".join([*([] if text else ["no new failure"]), *told]))


def _print_overview(console: Console, report: PatchedReport) -> None:
    """One line a run and device: what became of the cases, of the patches' own tests, and of the conformance suite."""
    table = plain_table()
    for name in ("release", "device", "cases", "patches' tests", "conformance", ""):
        table.add_column(name, overflow="fold", no_wrap=name in ("release", "device"))
    for run in report.runs:
        mark = Text("in order", "green") if run.in_order else Text("look below", "bold red")
        for device in dict.fromkeys(line.before.device for line in run.lines):
            lines = [line for line in run.lines if line.before.device == device]
            table.add_row(_title(run), device, *_overview(lines), mark)
        if not run.lines:
            table.add_row(_title(run), "", "", "", "", mark)
    console.print(f"{report.series} on {len(report.runs)} releases", style="bold", markup=False, highlight=False)
    console.print(table)
    console.print()


def _title(run: PatchedRun) -> str:
    if run.skipped and not run.applied:
        return f"{run.release} ({' and '.join(sorted({state.words for state in run.skipped.values()}))})"
    return f"{run.release} without {', '.join(run.dropped)}" if run.dropped else run.release


def _overview(lines: Sequence[Comparison]) -> list[Text]:
    suites = [line for line in lines if line.changes is not None]
    own = [line for line in lines if line.title.startswith("tests of ")]
    cases = [line for line in lines if line not in suites and line not in own]
    told = [changes_text(line.changes) for line in suites if line.changes is not None]
    return [_ways(cases), _ways(own), told[0] if told else Text("-", "dim")]


def _ways(lines: Sequence[Comparison]) -> Text:
    """How many went which way: "4 bad to good, 1 good"."""
    ways = Counter((line.before.verdict, line.after.verdict) for line in lines)
    words = [
        f"{count} {before.words}" + ("" if before is after else f" to {after.words}")
        for (before, after), count in ways.items()
    ]
    return Text(", ".join(words) or "-")
