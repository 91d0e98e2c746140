# SPDX-License-Identifier: Apache-2.0
"""The known bugs of a release, for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from headwater.core.auditing import Audit, KnownBug, Remedy
from headwater.core.verdicts import Verdict
from headwater.report.atlas import change_object
from headwater.report.terminal import plain_table, print_lines


def print_audit(console: Console, what: str, audit: Audit, notes: Sequence[str]) -> None:
    """A sentence, a row a bug, and below them what each means to a user. `what` names the release, and where it is."""
    bugs = audit.bugs
    if audit.release is None:
        print_lines(console, [f"Nothing is known of {what}."])
    else:
        found = f"Found {len(bugs)} known bug{'s' * (len(bugs) != 1)}" if bugs else "No known bugs found"
        print_lines(console, [f"{found} in {what}"])
    if bugs:
        console.print()
        _print_table(console, bugs)
        for bug in bugs:
            print_lines(console, ["", *_paragraph(bug)])
    print_lines(console, ["", *_ending(audit), *notes])


def _print_table(console: Console, bugs: Sequence[KnownBug]) -> None:
    table = plain_table()
    for name in ("id", "severity", "since", "without", "series"):
        # The id is what the next command takes; the rest may wrap, so that a narrow terminal loses nothing.
        table.add_column(name, overflow="fold", no_wrap=name == "id")
    for bug in bugs:
        series = ", ".join(dict.fromkeys(remedy.series for remedy in bug.remedies)) or "none"
        table.add_row(bug.case.id, bug.case.severity, _since(bug), _without(bug), series)
    console.print(table)


def _since(bug: KnownBug) -> str:
    return f"{bug.since} or before" if bug.from_first else str(bug.since)


def _without(bug: KnownBug) -> str:
    if bug.without is None:
        return "none"
    words = [] if bug.newer else ["older"]
    words += ["absent"] if bug.absent else []
    return f"{bug.without}" + (f" ({', '.join(words)})" if words else "")


def _paragraph(bug: KnownBug) -> list[str]:
    """What a user needs to know of one bug."""
    sometimes = " (only sometimes)" if bug.verdict is Verdict.FLAKY else ""
    lines = [f"{bug.case.id}{sometimes}: {bug.case.title}"]
    lines += [f"  reported: {', '.join(bug.case.references)}"] if bug.case.references else []
    lines += [f"  you see: {bug.case.user_sees}"] if bug.case.user_sees else []
    lines += [f"  meanwhile: {bug.case.meanwhile}"] if bug.case.meanwhile else []
    for change in (bug.introduced, bug.fixed):
        if change is not None:
            pull = f", pull request {change.pull}" if change.pull is not None else ""
            lines.append(f"  {change.find} in {change.release} by {change.commit[:12]}{pull}")
    lines += [f"  patch: {_remedy(remedy)}" for remedy in bug.remedies]
    return lines


def _remedy(remedy: Remedy) -> str:
    folder = f"{remedy.series}/{remedy.variant}" if remedy.variant else remedy.series
    return f"patches/{folder}/{remedy.patch}, written against {remedy.base}"


def _ending(audit: Audit) -> list[str]:
    """How much is known of the release."""
    if audit.release is None:
        return []
    cases = f"{audit.clear} {'other ' if audit.bugs else ''}case{'s' * (audit.clear != 1)}"
    lines = [f"{cases}: good, or the feature is absent."]
    if audit.not_judged:
        told = ", ".join(f"{case} ({verdict.words})" for case, verdict in audit.not_judged.items())
        lines.append(f"Not judged on {audit.release}: {told}.")
    if audit.not_covered:
        lines.append(
            f"Not measured on {audit.release}, and so not passed: {', '.join(audit.not_covered)}. "
            "`headwater atlas update --new` measures them."
        )
    if audit.bugs:
        lines.append(
            f"`headwater repro {audit.release}` shows them; `headwater patch status` says how the patches apply."
        )
    return lines


def audit_object(audit: Audit) -> dict[str, Any]:
    """The findings."""
    return {
        "release": str(audit.release) if audit.release else None,
        "bugs": [_bug_object(bug) for bug in audit.bugs],
        "not_judged": {case: verdict.value for case, verdict in audit.not_judged.items()},
        "not_covered": list(audit.not_covered),
        "clear": audit.clear,
    }


def _bug_object(bug: KnownBug) -> dict[str, Any]:
    return {
        "case": bug.case.id,
        "title": bug.case.title,
        "severity": bug.case.severity,
        "verdict": bug.verdict.value,
        "references": list(bug.case.references),
        "user_sees": bug.case.user_sees,
        "meanwhile": bug.case.meanwhile,
        "since": str(bug.since),
        "since_first_measured": bug.from_first,
        "without": str(bug.without) if bug.without else None,
        "without_is_newer": bug.newer,
        "without_is_absent": bug.absent,
        "introduced": change_object(bug.introduced) if bug.introduced else None,
        "fixed": change_object(bug.fixed) if bug.fixed else None,
        "series": [
            {"series": one.series, "patch": one.patch, "variant": one.variant, "base": str(one.base)}
            for one in bug.remedies
        ],
    }
