# SPDX-License-Identifier: Apache-2.0
"""What a hunt shows: every revision that was probed, the answer, and a block to paste into an issue."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.core.answers import SIDES
from headwater.core.hunt_report import Crossing, HuntChange, HuntReport
from headwater.core.revisions import short_name
from headwater.core.verdicts import Verdict
from headwater.report.reduction import print_reduction, reduction_object
from headwater.report.terminal import evidence_text, print_lines, probes_sentence, verdict_text
from headwater.report.workers import workers_lines, workers_object

_MARKDOWN_LINES = 40


def print_hunt(console: Console, report: HuntReport) -> None:
    """Every revision of a hunt, what it found, and the block for an issue."""
    _print_rows(console, report)
    if report.series is not None:
        console.print(f"With series {report.series} wherever it applies:", highlight=False)
    for line in hunt_sentences(report):
        style = "bold" if report.result == "found" else "bold yellow"
        console.print(line, style=style, highlight=False, markup=False, soft_wrap=True)
    if report.crossing is not None:
        _print_crossing(console, report.crossing)
    if report.reduction is not None:
        console.print()
        print_reduction(console, report.reduction)
        console.print()
    for name, probability in report.posterior:
        console.print(f"  {short_name(name):<14} {probability:6.1%} {'#' * round(40 * probability)}", highlight=False)
    for note in report.notes:
        console.print(f"{note}.", highlight=False, markup=False, soft_wrap=True)
    console.print(probes_sentence(report.ran, report.rows), highlight=False, soft_wrap=True)
    print_lines(console, workers_lines(report.workers))
    if report.changes:
        console.print()
        console.print("For an issue:", style="dim")
        console.print(markdown(report), highlight=False, markup=False, soft_wrap=True)


def _print_rows(console: Console, report: HuntReport) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("revision", "verdict", "evidence"):
        table.add_column(name, overflow="fold", no_wrap=name != "evidence")
    table.add_column("seconds", justify="right")
    for row in report.rows:
        seconds = f"{row.seconds:.1f}{' *' if row.cached else ''}"
        verdict = verdict_text(row.verdict)
        if row.repetitions > 1:
            verdict.append(f" ×{row.repetitions}", "dim")  # noqa: RUF001 - a multiplication sign is meant
        table.add_row(short_name(row.revision), verdict, evidence_text(row.evidence), seconds)
    console.print(table)
    console.print()


def hunt_sentences(report: HuntReport) -> list[str]:
    """What a hunt found, a line a change; or why it found nothing."""
    if report.changes:
        return [change_sentence(report.what, change) for change in report.changes]
    if report.result in ("found", "range") and report.find == "all":
        seen = sorted({row.verdict.words for row in report.rows})
        return [f"{report.what}: no change of verdict was seen; every revision that was probed is {', '.join(seen)}."]
    seen_by = {short_name(row.revision): row.verdict.words for row in report.rows}
    ends = ", ".join(f"{revision} is {words}" for revision, words in seen_by.items())
    if report.interrupted:
        return [f"{report.what}: {ends or 'nothing was probed'}, and then it was interrupted."]
    if report.find == "all":
        return [f"{report.what}: {ends or 'nothing was probed'}; nothing could be said of any change."]
    needs = "a good (or absent) and then a bad" if report.find == "introduced" else "a bad and then a good"
    return [
        f"{report.what}: {ends or 'nothing was probed'}; a hunt for what {_verb(report.find)} needs {needs} end, "
        "and one change between them."
    ]


def _verb(find: str) -> str:
    return "fixed a bug" if find == "fixed" else "introduced a bug"


def change_sentence(what: str, change: HuntChange) -> str:
    """One change: where, between what, by which commit."""
    did = {"introduced": "was introduced", "fixed": "was fixed", "arrived": "arrived, good,", "removed": "went"}
    before, after = short_name(change.before), short_name(change.after)
    if not change.found:
        names = ", ".join(map(short_name, change.candidates))
        sure = f" with {change.probability:.0%}" if change.probability is not None else ""
        why = "" if change.probability is not None else ": those between were not judged"
        if len(change.candidates) == 1:
            return f"{what} {did[change.find]} in {after}, it seems: it was not confirmed by a second probe."
        return f"{what} {did[change.find]}{sure} in one of {names}{why}."
    where = after
    if change.commit is not None:
        pull = f", pull request #{change.commit.pull}" if change.commit.pull else ""
        where = f"commit {change.after} ({change.commit.date:%Y-%m-%d}, {change.commit.subject}{pull})"
    sure = f" (with {change.probability:.1%})" if change.probability is not None else ""
    if change.find == "introduced" and change.verdicts[0] is Verdict.ABSENT:
        return f"{what} was introduced in {where}: the feature arrived there, {before} is absent."
    return f"{what} {did[change.find]} in {where}{sure}; {before} is {change.verdicts[0].words}."


def _print_crossing(console: Console, crossing: Crossing) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("code")
    for name in crossing.environments:
        table.add_column(f"packages of {name}")
    for name, row in zip(crossing.revisions, crossing.verdicts, strict=True):
        table.add_row(Text(name), *(verdict_text(verdict) for verdict in row))
    console.print(table)
    words = {
        "library": "The change goes with the library's code.",
        "packages": "The change goes with the packages, not with the library's code.",
        "both": "The change needs both, or either brings it: code and packages have a part in it.",
        "unclear": "Not all four could be judged, or no change shows with these packages: whether code or packages "
        "changed it is open.",
    }
    console.print(words[crossing.culprit], style="bold", highlight=False)


def markdown(report: HuntReport) -> str:
    """The answer as a block for an issue, of at most 40 lines; its command asks the same again."""
    lines = [f"**{sentence}**" for sentence in hunt_sentences(report)]
    for change in report.changes:
        if change.level == "commits":
            lines.append(f"Compare: `{short_name(change.before)}...{short_name(change.after)}`")
    lines += ["", "| revision | verdict | evidence |", "|---|---|---|"]
    rows = []
    for row in report.rows:
        parts = [row.evidence.type or "", *([row.evidence.message] if row.evidence.message else [])]
        said = " ".join(": ".join(parts).split())
        rows.append(f"| {short_name(row.revision)} | {row.verdict.words} | {said[:120].replace('|', chr(92) + '|')} |")
    applied = f", with series {report.series} wherever it applies" if report.series else ""
    foot = ["", f"Device {report.device}{applied}.", "", "Reproduce with:", "", f"    {report.command}"]
    # Of very many changes the first stand here, and all of them on the screen.
    lines = lines[: _MARKDOWN_LINES - len(foot) - 2]
    room = _MARKDOWN_LINES - len(lines) - len(foot)
    if len(rows) > room:
        rows = [*rows[: room - 1], f"| {len(rows) - room + 1} more | | |"]
    return "\n".join([*lines, *rows, *foot])


def hunt_object(report: HuntReport) -> dict[str, Any]:
    """A hunt for machines, without its probes."""
    return {
        "what": report.what,
        "find": report.find,
        "series": report.series,
        "result": report.result,
        "changes": [change_object(change) for change in report.changes],
        "notes": list(report.notes),
        "posterior": [{"revision": name, "probability": p} for name, p in report.posterior],
        "crossing": _crossing_object(report.crossing) if report.crossing else None,
        "reduction": reduction_object(report.reduction) if report.reduction else None,
        "commits": _commits_object(report),
        "markdown": markdown(report) if report.changes else None,
        "reproduce": report.command,
        "workers": workers_object(report.workers),
    }


def _commits_object(report: HuntReport) -> dict[str, Any] | None:
    """How many commits were searched, and where those that were probed lie among them, from 0."""
    probed = {row.revision for row in report.rows}
    places = {name: place for place, name in enumerate(report.commits) if name in probed}
    return {"count": len(report.commits), "places": places} if report.commits else None


def change_object(change: HuntChange) -> dict[str, Any]:
    """One change for machines."""
    old, new = SIDES.get(change.find, ("before", "after"))
    return {
        "find": change.find,
        old: change.before,
        new: change.after,
        "candidates": list(change.candidates),
        "level": change.level,
        "verdicts": [verdict.value for verdict in change.verdicts],
        "confirmed": change.confirmed,
        "probability": change.probability,
        "commit": None
        if change.commit is None
        else {
            "id": change.commit.sha,
            "date": change.commit.date.isoformat(),
            "subject": change.commit.subject,
            "pull_request": change.commit.pull,
        },
    }


def _crossing_object(crossing: Crossing) -> dict[str, Any]:
    return {
        "revisions": list(crossing.revisions),
        "environments": list(crossing.environments),
        "verdicts": [[verdict.value for verdict in row] for row in crossing.verdicts],
        "culprit": crossing.culprit,
    }
