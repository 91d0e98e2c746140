# SPDX-License-Identifier: Apache-2.0
"""The atlas, what measuring anew changes of it, and its check: tables, sentences, JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry
from headwater.core.atlas_commits import CommitOf
from headwater.core.atlas_page import change_words, range_words
from headwater.core.atlas_update import AtlasCheck, AtlasUpdate, Difference, Gap, Unwritten
from headwater.core.cases import Case
from headwater.report.hunt import change_object as hunt_change_object
from headwater.report.terminal import evidence_text, issue_text, plain_table, print_lines, verdict_text


def print_atlas(
    console: Console, atlas: Atlas, cases: Sequence[Case], series: Mapping[str, Sequence[str]], whole: bool
) -> None:
    """A row a range; with `whole` what a reader must know of the case as well."""
    table = plain_table()
    for name in ("case", "issue", "releases", "verdict", "since"):
        table.add_column(name, no_wrap=name != "since")
    for case in cases:
        first = [case.id, issue_text(case.references)]
        entries = atlas.of(case.id)
        for entry in entries:
            table.add_row(*first, range_words(entry), verdict_text(entry.verdict), _since(atlas, entry))
            first = ["", ""]
        if not entries:
            table.add_row(*first, "", Text("not measured", "yellow"), "")
    console.print(table)
    if whole:
        for case in cases:
            said = [case.title, case.user_sees, case.meanwhile and f"Meanwhile: {case.meanwhile}"]
            said.append("Mended by " + ", ".join(series[case.id]) if case.id in series else "")
            print_lines(console, ["", *filter(None, said)])


def _since(atlas: Atlas, entry: AtlasEntry) -> str:
    found = [c for c in atlas.changes if c.case == entry.case and c.release == entry.first]
    return ", ".join(f"{change.find} by {change_words(change)}" for change in found)


def print_update(console: Console, update: AtlasUpdate, lost_comments: Sequence[int], sentence: str) -> None:
    """What would change, what was not judged, what is not written, what is missing; `sentence` ends it."""
    if update.differences:
        _print_differences(console, update.differences)
    for one in update.unclear:
        seen = f"{one.seen.words} ({one.evidence.type}: {one.evidence.message})"
        _say(console, f"not judged: {one.case} on {one.release} is {seen}")
    _print_unwritten(console, update.unwritten)
    for gap in update.gaps:
        _say(console, f"gap: {gap} has no verdict")
    for change in update.dropped:
        _say(console, f"dropped: {change.case} no longer is {change.find} in {change.release}, and so its commit "
             f"{change_words(change)} goes")  # fmt: skip
    _say_lost(console, lost_comments)
    _say(console, sentence)


def print_commits(console: Console, rows: Sequence[CommitOf], lost_comments: Sequence[int], sentence: str) -> None:
    """A row a change-over with its commit; below them those without, each with the reason and how to hunt it."""
    table = plain_table()
    for name in ("case", "what", "release", "commit", ""):
        table.add_column(name, no_wrap=True)
    for row in rows:
        if row.change is not None:
            over, style = row.over, "" if row.state in ("found", "recorded") else "bold red"
            words = change_words(row.change)
            table.add_row(over.case, over.find, str(over.release), words, Text(row.state, style))
    console.print(table)
    for row in rows:
        if row.why:
            _say(console, f"{row.state}: {row.over.words}: {row.why}")
            if row.command:
                _say(console, f"    {row.command}")
    _say_lost(console, lost_comments)
    _say(console, sentence)


def _say_lost(console: Console, lost_comments: Sequence[int]) -> None:
    if lost_comments:
        _say(console, f"comments below the header are not kept: lines {', '.join(map(str, lost_comments))}")


def print_check(console: Console, check: AtlasCheck) -> None:
    """Which recorded cells no longer hold."""
    if check.broken:
        _print_differences(console, check.broken)
    _print_unwritten(console, check.unmeasured)
    for gap in check.gaps:
        _say(console, f"gap: {gap} has no verdict; `headwater atlas update --new` measures it")
    total = check.held + len(check.broken) + len(check.unmeasured)
    ending = " Interrupted: the rest was not looked at." if check.interrupted else ""
    _say(console, f"{check.held} of {total} recorded cells hold.{ending}")


def _print_differences(console: Console, differences: Sequence[Difference]) -> None:
    table = plain_table()
    for name in ("case", "release", "recorded", "seen", "evidence"):
        table.add_column(name, overflow="fold", no_wrap=name != "evidence")
    for one in differences:
        recorded = verdict_text(one.recorded) if one.recorded else Text("nothing", "dim")
        table.add_row(one.case, str(one.release), recorded, verdict_text(one.seen), evidence_text(one.evidence))
    console.print(table)


def _print_unwritten(console: Console, unwritten: Sequence[Unwritten]) -> None:
    for one in unwritten:
        _say(console, f"not measured: {one.case} on {one.release}: {one.why}")


def _say(console: Console, line: str) -> None:
    print_lines(console, [line])


def entry_object(entry: AtlasEntry) -> dict[str, Any]:
    """One entry."""
    return {
        "case": entry.case, "verdict": entry.verdict.value, "first": str(entry.first), "last": str(entry.last)
    }  # fmt: skip


def change_object(change: AtlasChange) -> dict[str, Any]:
    """One commit of a change-over."""
    return {
        "case": change.case, "find": change.find, "release": str(change.release), "commit": change.commit,
        "pull": change.pull,
    }  # fmt: skip


def commit_object(row: CommitOf) -> dict[str, Any]:
    """One change-over and what came of the hunt for its commit."""
    over = row.over
    return {
        "case": over.case, "find": over.find, "release": str(over.release),
        "between": [str(end) if end else None for end in (over.old, over.new)], "state": row.state,
        "change": change_object(row.change) if row.change else None,
        "hunted": hunt_change_object(row.hunted) if row.hunted else None,
        "why": row.why, "reproduce": row.command, "probes_run": row.ran,
    }  # fmt: skip


def difference_object(one: Difference) -> dict[str, Any]:
    """One cell that differs."""
    return {
        "case": one.case, "release": str(one.release), "device": one.device,
        "recorded": one.recorded.value if one.recorded else None, "seen": one.seen.value,
        "evidence": {"type": one.evidence.type, "message": one.evidence.message, "frame": one.evidence.frame},
    }  # fmt: skip


def unwritten_object(one: Unwritten) -> dict[str, Any]:
    """One cell that could not be measured."""
    return {"case": one.case, "release": str(one.release), "why": one.why}


def gap_object(gap: Gap) -> dict[str, Any]:
    """Releases without a verdict."""
    return {"case": gap.case, "first": str(gap.first), "last": str(gap.last)}
