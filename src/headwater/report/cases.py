# SPDX-License-Identifier: Apache-2.0
"""Cases, their self-tests, and new ones: tables, sentences, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from headwater.core.atlas import Atlas, AtlasEntry
from headwater.core.atlas_page import affected
from headwater.core.atlas_text import entry_text
from headwater.core.case_checks import CaseCheck
from headwater.core.cases import Case
from headwater.core.results import ProbeResult
from headwater.report.machine import probe_object
from headwater.report.terminal import evidence_text, issue_text, plain_table, print_lines, verdict_text


def print_cases(console: Console, cases: Sequence[Case], atlas: Atlas) -> None:
    """A row a case."""
    table = plain_table()
    for name in ("case", "issue", "severity", "affected", "title"):
        table.add_column(name, overflow="fold", no_wrap=name in ("case", "issue", "severity"))
    for case in cases:
        where = affected(atlas, case.id) + (" (open)" if case.open else "")
        table.add_row(case.id, issue_text(case.references), case.severity, where, case.title)
    console.print(table)


def case_object(case: Case, atlas: Atlas) -> dict[str, Any]:
    """One case."""
    return {
        "id": case.id, "title": case.title, "references": list(case.references), "severity": case.severity,
        "open": case.open, "file": case.file, "affected": affected(atlas, case.id), "user_sees": case.user_sees,
        "meanwhile": case.meanwhile,
    }  # fmt: skip


def print_case_checks(console: Console, checks: Sequence[CaseCheck]) -> None:
    """A row a case, and below the table what is wrong."""
    table = plain_table()
    for name in ("case", "seen", "self-test"):
        table.add_column(name)
    for check in checks:
        seen = Text(", ").join(verdict_text(row.verdict).append(f" on {row.revision}", "default") for row in check.rows)
        table.add_row(check.case.id, seen, Text("failed", "bold red") if check.faults else Text("passed", "green"))
    console.print(table)
    faulty = [check for check in checks if check.faults]
    print_lines(console, [f"{check.case.id}: {fault}" for check in faulty for fault in check.faults])
    print_lines(console, [f"{len(checks) - len(faulty)} of {len(checks)} cases pass their self-test."])
    if mutants := [one for check in checks for one in check.mutants]:
        caught = sum(one.caught for one in mutants)
        print_lines(console, [f"{caught} of {len(mutants)} mutants fail theirs, as they must."])


def case_check_object(check: CaseCheck) -> dict[str, Any]:
    """One self-test."""
    return {
        "case": check.case.id, "passed": not check.faults, "faults": list(check.faults), "open": check.case.open,
        "probes": [probe_object(row) for row in check.rows],
        "mutants": [
            {"line": one.mutant.line, "what": one.mutant.what, "caught": one.caught,
             "probes": [probe_object(row) for row in one.rows]}
            for one in check.mutants
        ],
    }  # fmt: skip


def print_new_case(
    console: Console, path: str, learned: str, rows: Sequence[ProbeResult], proposed: Sequence[AtlasEntry],
    notes: Sequence[str],
) -> None:  # fmt: skip
    """Where the case is, how its bug is known, what releases say, what the atlas may say, what is left to do."""
    print_lines(console, [f"wrote {path}", f"learned: {learned}", ""])
    table = plain_table()
    for name in ("release", "verdict", "evidence"):
        table.add_column(name, overflow="fold", no_wrap=name != "evidence")
    for row in rows:
        table.add_row(row.revision, verdict_text(row.verdict), evidence_text(row.evidence))
    console.print(table)
    print_lines(console, ["", "For the atlas, from these releases alone:", ""])
    print_lines(console, [line for entry in proposed for line in (*entry_text(entry).splitlines(), "")])
    print_lines(console, notes)
