# SPDX-License-Identifier: Apache-2.0
"""What `reduce` and `backport` show: how the difference narrowed, the hunks that are left, and what rests on each."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from headwater.core.reduction_report import BackportReport, KeptHunk, ReductionReport, Step
from headwater.core.revisions import short_name
from headwater.report.machine import probe_object
from headwater.report.terminal import evidence_text, plain_table, verdict_text


def print_reduction(console: Console, report: ReductionReport) -> None:
    """The stages, the hunks with the probe that each rests on, the diff."""
    old, new = map(short_name, report.ends)
    seen = f"{report.case}: {old} is {report.verdicts[0].words}, {new} is {report.verdicts[1].words}"
    if report.result == "bad-endpoints":
        console.print(
            f"{seen}; they must differ, and both be good, bad or absent.", style="bold yellow", highlight=False
        )
        for row in report.rows:
            if row.evidence.type is not None:
                console.print(Text.assemble(f"{short_name(row.revision)}: ", evidence_text(row.evidence)))
        _print_notes(console, report)
        return
    console.print(f"{seen}.", style="bold", highlight=False)
    table = plain_table()
    for name in ("stage", "files", "hunks", "lines", "probes"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for stage in report.stages:
        table.add_row(stage.name, str(stage.files), str(stage.hunks), str(stage.lines), str(stage.probes))
    console.print(table)
    console.print()
    _print_hunks(console, report)
    # Whole lines, however wide the terminal is: it is a patch.
    console.print(Text(report.diff), soft_wrap=True)
    for line in reduction_sentences(report):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    _print_notes(console, report)


def _print_hunks(console: Console, report: ReductionReport) -> None:
    table = plain_table()
    for name in ("hunk", "lines", "without it"):
        table.add_column(name, overflow="fold")
    for hunk in report.hunks:
        title = Text(f"{hunk.file}\n{hunk.header}")
        if hunk.commit:
            title.append(f"\ncommit {hunk.commit[:12]}", "dim")
        table.add_row(title, str(hunk.lines), _without(hunk))
    console.print(table)
    console.print()


def _without(hunk: KeptHunk) -> Text:
    if hunk.needed_by is None:
        return Text(hunk.without.value if hunk.without else "not probed", "yellow")
    return Text.assemble(verdict_text(hunk.needed_by.verdict), "\n", evidence_text(hunk.needed_by.evidence))


def reduction_sentences(report: ReductionReport) -> list[str]:
    """How small the answer is, and how sure that is."""
    whole = report.whole
    lines = []
    if whole is not None:
        lines.append(
            f"{len(report.hunks)} of {whole.hunks} hunks in {whole.files} files; {whole.files - whole.kept_files} "
            f"files and {whole.hunks - whole.kept_hunks} hunks were set aside, since nothing of them ran."
        )
    lines.append(_how_small(report))
    if report.minimal and not report.line_minimal:
        lines.append("Not by lines: --lines N allows more probes for leaving out single lines.")
    if report.interrupted:
        lines.append("It was stopped: the same command goes on, and what is known is not run again.")
    lines.append(f"{report.asked} probes of parts, {report.ran} probes run in all.")
    return lines


def _how_small(report: ReductionReport) -> str:
    if not report.minimal and report.interrupted:
        return "Not minimal: this is the best so far."
    if not report.minimal:
        return "Not known to be minimal: not every hunk's absence could be judged."
    if report.pair_minimal:
        return "Minimal: without any hunk, or any two, the verdict does not flip."
    return "Minimal: without any hunk the verdict does not flip. Pairs were not all tried."


def _print_notes(console: Console, report: ReductionReport) -> None:
    for note in report.notes:
        console.print(f"{note}.", highlight=False, markup=False, soft_wrap=True)


def reduction_object(report: ReductionReport) -> dict[str, Any]:
    """A reduction for machines."""
    return {
        "case": report.case,
        "device": report.device,
        "from": report.ends[0],
        "to": report.ends[1],
        "verdicts": [verdict.value for verdict in report.verdicts],
        "result": report.result,
        "minimal": report.minimal,
        "pair_minimal": report.pair_minimal,
        "line_minimal": report.line_minimal,
        "hunks": [_hunk_object(hunk) for hunk in report.hunks],
        "diff": report.diff,
        "files": report.whole.files if report.whole else None,
        "of_hunks": report.whole.hunks if report.whole else None,
        "stages": [
            {"name": s.name, "files": s.files, "hunks": s.hunks, "lines": s.lines, "probes": s.probes}
            for s in report.stages
        ],
        "events": [_event_object(step, len(report.rows) + number) for number, step in enumerate(report.steps)],
        "asked": report.asked,
        "probes": [probe_object(row) for row in (*report.rows, *(step.row for step in report.steps))],
        "probes_run": report.ran,
        "interrupted": report.interrupted,
        "notes": list(report.notes),
    }


def _event_object(step: Step, probe: int) -> dict[str, Any]:
    """One step of the search: how large the part was, what it showed, and what was left; `probe` counts in `probes`."""
    return {
        "stage": step.stage,
        **step.size._asdict(),
        "outcome": step.outcome.value,
        "left": step.left._asdict(),
        "probe": probe,
    }


def _hunk_object(hunk: KeptHunk) -> dict[str, Any]:
    return {
        "file": hunk.file,
        "header": hunk.header,
        "lines": hunk.lines,
        "needed_by": probe_object(hunk.needed_by) if hunk.needed_by else None,
        "without": hunk.without.value if hunk.without else None,
        "commit": hunk.commit,
    }


def print_backport(console: Console, report: BackportReport) -> None:
    """The series that was written, and what it was seen to do."""
    print_reduction(console, report.reduction)
    console.print()
    console.print(f"Wrote patches/{report.series} for {report.onto}: {', '.join(report.files)}", style="bold")
    seen = f"{report.before.case} on {report.onto} is {report.before.verdict.words}, and {report.after.verdict.words}"
    console.print(f"{seen} with it. Conformance suite: {report.conformance}.", highlight=False, soft_wrap=True)
    command = f"headwater test-patched {report.series}"
    console.print(f"Test it with: {command}", highlight=False, soft_wrap=True)


def backport_object(report: BackportReport) -> dict[str, Any]:
    """A backport for machines."""
    return {
        **reduction_object(report.reduction),
        "onto": report.onto,
        "series": report.series,
        "written": list(report.files),
        "before": probe_object(report.before),
        "after": probe_object(report.after),
        "conformance": report.conformance,
    }
