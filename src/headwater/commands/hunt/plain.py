# SPDX-License-Identifier: Apache-2.0
"""A hunt for one change: over releases, over commits, or from the one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from packaging.version import Version

from headwater.commands.hunt.drive import Course
from headwater.commands.hunt.ends import look_at
from headwater.commands.hunt.oracle import Oracle
from headwater.core.bisection import Bisection
from headwater.core.commits import Commit
from headwater.core.errors import BadInput
from headwater.core.history import Line, plan
from headwater.core.hunting import HuntChange, Level, Point, name_of
from headwater.core.marks import Find
from headwater.core.results import HuntResult
from headwater.core.verdicts import Verdict
from headwater.effects.nearest_commit import nearest_commit
from headwater.effects.upstream_git import Upstream

Found = tuple[HuntResult, HuntChange | None, list[str]]


class HuntInterrupted(KeyboardInterrupt):
    """A hunt was interrupted; `found` is the best that is known."""

    def __init__(self, found: Found) -> None:
        self.found = found
        super().__init__("interrupted")


def hunt_releases(oracle: Oracle, good: Version, bad: Version, find: Find) -> Found:
    """The release that brought a change between a good and a bad one: along the main line, then into the maintenance
    line. Where they lie on different lines their common ancestor says on which way the change lies."""
    known = oracle.context.workspace.pins.versions
    lines = plan(good, bad, known, find)
    notes: list[str] = []
    line = lines[0]
    if line.needs is not None:
        chosen = _line_of_ancestor(oracle, lines, notes)
        if chosen is None:
            return "inconclusive", None, notes
        line = chosen
    result, change, more = search(oracle, line.releases, line.find, "releases")
    return result, change, notes + more


def _line_of_ancestor(oracle: Oracle, lines: Sequence[Line], notes: list[str]) -> Line | None:
    """Which line holds the change, by what the common ancestor shows."""
    ancestor = lines[0].releases[0]
    verdict = look_at(oracle, ancestor).verdict
    side = "bad" if verdict is Verdict.BAD else "good" if verdict in (Verdict.GOOD, Verdict.ABSENT) else None
    notes.append(f"the ends lie on different lines; their common ancestor {ancestor} is {verdict.words}")
    line = next((line for line in lines if line.needs == side), None)
    if line is not None and line.find != lines[0].find:
        notes.append(f"so what is to be found is what was {line.find} on the way to {line.releases[-1]}")
    return line


def search(oracle: Oracle, points: Sequence[Point], find: Find, level: Level) -> Found:
    """Halve, or cut in as many parts as there are workers and one more, until the change is found and confirmed."""
    machine = Bisection(len(points), find)
    course = Course(oracle, machine, points, lambda: machine.probes_left, machine.foresee)
    for position in range(len(points)):
        course.tell(position)
    try:
        course.run()
    except KeyboardInterrupt:
        raise HuntInterrupted(_outcome(machine, points, find, level)) from None
    return _outcome(machine, points, find, level)


def _outcome(machine: Bisection, points: Sequence[Point], find: Find, level: Level) -> Found:
    if not machine.ends_differ:
        return machine.result, None, []
    answer = machine.answer()
    names = [name_of(point) for point in points]
    verdicts = machine.standing(answer.before), machine.standing(answer.after)
    if verdicts[0] is None or verdicts[1] is None:
        raise ValueError("a change lies between judged revisions")
    if answer.contradictions:
        told = ", ".join(f"{names[a]} is after the change and {names[b]}, though later, before it"
                         for a, b in answer.contradictions)  # fmt: skip
        return machine.result, None, [f"there is more than one change: {told}; --find all finds them"]
    ends = points[answer.before], points[answer.after]
    dates = [point.date if isinstance(point, Commit) else None for point in ends]
    change = HuntChange(
        find, level, names[answer.before], names[answer.after], tuple(names[n] for n in answer.candidates),
        (verdicts[0], verdicts[1]), answer.confirmed, dates=(dates[0], dates[1]),
    )  # fmt: skip
    if change.found and isinstance(ends[1], Commit):
        change = replace(change, commit=ends[1])
    return machine.result, change, []


def commits_between(oracle: Oracle, upstream: Upstream, ends: Sequence[Point]) -> list[Commit]:
    """The first-parent history between two revisions; for a release its nearest commit.

    Raises:
        BadInput: the older one is no first-parent ancestor of the newer one.
    """
    old, new = (commit_of(oracle, upstream, point) for point in ends)
    if old.sha == new.sha:
        raise BadInput(f"both ends are nearest to the commit {old}: there is nothing between them")
    return upstream.first_parent(old, new)


def commit_of(oracle: Oracle, upstream: Upstream, point: Point) -> Commit:
    """A commit as it is, and a release's nearest."""
    if isinstance(point, Commit):
        return point
    context = oracle.context
    pins = context.workspace.pins
    return nearest_commit(upstream, context.mirror, pins.pin(point), pins.package, context.emit).commit
