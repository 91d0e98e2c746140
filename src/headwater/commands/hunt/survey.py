# SPDX-License-Identifier: Apache-2.0
"""`--find all`: every change of verdict over a range of releases, or of commits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from headwater.commands.hunt.drive import Course
from headwater.commands.hunt.oracle import Oracle
from headwater.core.changes import Change, Changes, Gap
from headwater.core.hunt_report import HuntChange, Level, change_between
from headwater.core.revisions import Revision, name_of, short_name
from headwater.core.verdicts import Verdict


@dataclass
class _Numbered:
    """`Changes` speaks of revisions, and a course of their positions."""

    changes: Changes[Revision]
    revisions: Sequence[Revision]

    def next_steps(self, count: int = 1, pending: Collection[int] = ()) -> list[int]:
        """As `Changes.next_steps`."""
        steps = self.changes.next_steps(count, [self.revisions[position] for position in pending])
        return [self.revisions.index(step) for step in steps]

    def mark(self, position: int, verdict: Verdict) -> None:
        """As `Changes.mark`."""
        self.changes.mark(self.revisions[position], verdict)


@dataclass(frozen=True)
class Survey:
    """What was found, and in words what was not looked at."""

    changes: tuple[HuntChange, ...]
    notes: tuple[str, ...]
    complete: bool


def survey(
    oracle: Oracle, lines: Sequence[Sequence[Revision]], level: Level, grid: int | None, exhaustive: bool
) -> Survey:
    """Probe a grid along the main line, halve each gap whose ends differ, then the maintenance lines. Interrupted, it
    raises `SurveyInterrupted` with the best so far."""
    search = Changes(lines, grid=grid, exhaustive=exhaustive)
    revisions = list(dict.fromkeys(revision for line in lines for revision in line))
    course = Course(oracle, _Numbered(search, revisions), revisions, lambda: _left(search, revisions))
    for position in range(len(revisions)):
        course.tell(position)
    try:
        course.run()
    except KeyboardInterrupt:
        raise SurveyInterrupted(_result(search, level)) from None
    return _result(search, level)


class SurveyInterrupted(KeyboardInterrupt):
    """A survey was interrupted; `survey` is the best that is known."""

    def __init__(self, best: Survey) -> None:
        self.survey = best
        super().__init__("interrupted")


def _left(search: Changes[Revision], revisions: Sequence[Revision]) -> int:
    """How many probes are asked for by what is known now; each gap that turns out to differ asks for more."""
    return len(search.next_steps(len(revisions)))


def _result(search: Changes[Revision], level: Level) -> Survey:
    changes = tuple(_change(one, level) for one in search.changes())
    return Survey(changes, tuple(_words(gap) for gap in search.unseen()), search.done)


def _change(change: Change[Revision], level: Level) -> HuntChange:
    run = [change.before, *change.candidates]
    return change_between(change.kind, level, run, change.verdicts, confirmed=change.confirmed)


def _words(gap: Gap[Revision]) -> str:
    """What was not looked at, and what may hide there."""
    ends = [short_name(name_of(end)) for end in (gap.before, gap.after) if end is not None]
    seen = gap.verdict.words if gap.verdict else "not judged"
    where = f"between {ends[0]} and {ends[1]}, both {seen}," if len(ends) == 2 else f"beside {''.join(ends) or 'all'},"
    parts = []
    for revisions, what in ((gap.unprobed, "not probed"), (gap.unjudged, "not judged")):
        if revisions:
            names = [short_name(name_of(revision)) for revision in revisions]
            shown = ", ".join(names) if len(names) <= 4 else f"{names[0]} to {names[-1]} ({len(names)})"
            parts.append(f"{shown} {'was' if len(names) == 1 else 'were'} {what}")
    return f"{where} {'; '.join(parts)}: a change and its undoing there would not be seen"
