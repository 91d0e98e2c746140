# SPDX-License-Identifier: Apache-2.0
"""What `headwater pr` shows."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from headwater.core.plain_data import to_plain
from headwater.core.pr_evidence import TESTS, PrEvidence, Sight
from headwater.core.pr_results import GateReport, PrReport, VerifyReport
from headwater.report.terminal import plain_table, verdict_text


def print_made(console: Console, report: PrReport) -> None:
    """What was seen of each patch, the files, and what is left to the person; or why there is nothing to send."""
    if report.refusal is not None:
        since = f" in {report.refusal.fixed_in}" if report.refusal.fixed_in else ""
        _say(console, f"fixed upstream{since}: on {report.onto} no patch of {report.series} is needed, and there is "
             "nothing to send.", "bold")  # fmt: skip
        _say(console, "For a maintenance line, or as a backport of upstream's own fix:")
        for command in report.refusal.instead:
            _say(console, f"  {command}")
        return
    if report.evidence is not None:
        _print_evidence(console, report.evidence)
    for name in report.files:
        _say(console, str(report.folder / name))
    for name in report.kept:
        _say(console, f"left as you wrote it: {report.folder / name}", "cyan")
    _print_notes(console, report.notes)
    _say(console, f"Fill in {report.folder / 'BODY.md'}, then: headwater pr check {report.folder}")


def _print_evidence(console: Console, evidence: PrEvidence) -> None:
    table = plain_table()
    for name in ("patch", "what", "revision", "device", "before", "after", "with all"):
        table.add_column(name, overflow="fold", no_wrap=name in ("patch", "what", "revision", "device"))
    for patch in evidence.patches:
        for line in patch.lines:
            cells = [_sight(one, line.what) for one in (line.before, line.after, line.whole)]
            table.add_row(patch.file.partition("-")[0], line.what, line.revision[:12], line.device, *cells)
    console.print(table)
    for one in evidence.library:
        words = f"{one.file} ({one.device}): {one.passed_before} passed before, {one.passed_after} after"
        _say(console, f"{words}; {len(one.new_failures)} fail anew, {len(one.lost)} run no more")
    for left in evidence.left_out:
        _say(console, f"left out, {left.state.words}: {left.file}", "cyan")


def _sight(sight: Sight, what: str) -> Text:
    text = verdict_text(sight.verdict)
    if what == TESTS and sight.tests:
        text.append(f" ({sight.count('failed')}/{len(sight.tests)} red)", "dim")
    return text


def made_object(report: PrReport) -> dict[str, Any]:
    """The same for machines."""
    refusal = report.refusal
    return {
        "series": report.series,
        "onto": report.onto,
        "result": "fixed-upstream" if refusal else "written",
        "fixed_in": refusal.fixed_in if refusal else None,
        "instead": list(refusal.instead) if refusal else [],
        "folder": str(report.folder) if refusal is None else None,
        "files": list(report.files),
        "kept": list(report.kept),
        "notes": list(report.notes),
        "evidence": to_plain(report.evidence),
        "probes_run": report.ran,
    }


def print_gate(console: Console, report: GateReport) -> None:
    """Every reason against a bundle."""
    for reason in report.reasons:
        console.print(Text(f"{reason.kind}: ", "bold red").append(reason.text, "default"), soft_wrap=True)
    _print_notes(console, report.notes)
    count = len(report.reasons)
    if count:
        _say(console, f"Not to be sent: {count} {'reason' if count == 1 else 'reasons'}.")
    else:
        _say(console, f"Nothing speaks against {report.folder}; `git am --keep-cr {report.folder}/*.patch` takes it.")


def gate_object(report: GateReport) -> dict[str, Any]:
    """The same for machines."""
    return {
        "folder": str(report.folder),
        "series": report.series,
        "passed": not report.reasons,
        "reasons": [{"kind": one.kind, "text": one.text} for one in report.reasons],
        "notes": list(report.notes),
    }


def print_verified(console: Console, report: VerifyReport) -> None:
    """Every figure that a replay does not repeat."""
    for one in report.differences:
        console.print(
            Text(f"{one.path}: ", "bold red").append(f"recorded {one.recorded!r}, seen {one.seen!r}", "default"),
            soft_wrap=True,
        )
    _print_notes(console, report.notes)
    _say(console, f"{report.ran} probes run.")
    if report.failed:
        _say(console, "Headwater or the machine failed in some of them: that says nothing of the figures.", "bold")
    elif report.differences:
        _say(console, f"{len(report.differences)} of {report.figures} figures are not repeated.", "bold")
    else:
        _say(console, f"All {report.figures} figures are repeated.")


def verified_object(report: VerifyReport) -> dict[str, Any]:
    """The same for machines."""
    return {
        "folder": str(report.folder),
        "series": report.series,
        "figures": report.figures,
        "repeated": not report.differences and not report.failed,
        "differences": [{"path": one.path, "recorded": one.recorded, "seen": one.seen} for one in report.differences],
        "notes": list(report.notes),
        "probes_run": report.ran,
    }


def _print_notes(console: Console, notes: tuple[str, ...]) -> None:
    for note in notes:
        _say(console, f"note: {note}", "yellow")


def _say(console: Console, words: str, style: str = "") -> None:
    console.print(words, style=style, markup=False, highlight=False, soft_wrap=True)
