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
from headwater.core.hunt_report import Found, Level, change_between, obstacle_of
from headwater.core.marks import Find
from headwater.core.revisions import Revision, name_of
from headwater.core.verdicts import Verdict
from headwater.effects.nearest_commit import nearest_commit
from headwater.effects.upstream_git import Upstream


class HuntInterrupted(KeyboardInterrupt):
    """A search was interrupted; `found` is the best that is known."""

    def __init__(self, found: Found) -> None:
        self.found = found
        super().__init__("interrupted")


def hunt_releases(oracle: Oracle, good: Version, bad: Version, find: Find) -> Found:
    """The release that brought a change between a good and a bad one: along the main line, then into the maintenance
    line. Where they lie on different lines their common ancestor says on which way the change lies."""
    known = oracle.context.workspace.pins.versions
    lines = plan(good, bad, known, find)
    if lines[0].needs is None:
        return search(oracle, lines[0].releases, lines[0].find, "releases")
    ancestor = lines[0].releases[0]
    verdict = look_at(oracle, ancestor).verdict
    notes = [f"the ends lie on different lines; their common ancestor {ancestor} is {verdict.words}"]
    line = _line_of_ancestor(lines, verdict)
    if line is None:
        return Found("inconclusive", notes=tuple(notes), obstacle=obstacle_of([verdict]))
    if line.find != lines[0].find:
        notes.append(f"so what is to be found is what was {line.find} on the way to {line.releases[-1]}")
    found = search(oracle, line.releases, line.find, "releases")
    return replace(found, notes=(*notes, *found.notes))


def _line_of_ancestor(lines: Sequence[Line], verdict: Verdict) -> Line | None:
    """Which line holds the change, by what the common ancestor showed."""
    side = "bad" if verdict is Verdict.BAD else "good" if verdict in (Verdict.GOOD, Verdict.ABSENT) else None
    return next((line for line in lines if line.needs == side), None)


def search(oracle: Oracle, revisions: Sequence[Revision], find: Find, level: Level) -> Found:
    """Halve, or cut in as many parts as there are hands and one more, until the change is found and confirmed."""
    machine = Bisection(len(revisions), find)
    course = Course(oracle, machine, revisions, lambda: machine.probes_left, machine.foresee)
    for position in range(len(revisions)):
        course.tell(position)
    try:
        course.run()
    except KeyboardInterrupt:
        raise HuntInterrupted(_outcome(machine, revisions, find, level)) from None
    return _outcome(machine, revisions, find, level)


def _outcome(machine: Bisection, revisions: Sequence[Revision], find: Find, level: Level) -> Found:
    if not machine.ends_differ:
        return Found(machine.result, obstacle=obstacle_of(machine.ends))
    answer = machine.answer()
    verdicts = machine.standing(answer.before), machine.standing(answer.after)
    if verdicts[0] is None or verdicts[1] is None:
        raise ValueError("a change lies between judged revisions")
    if answer.contradictions:
        pairs = [(name_of(revisions[a]), name_of(revisions[b])) for a, b in answer.contradictions]
        told = ", ".join(f"{a} is after the change and {b}, though later, before it" for a, b in pairs)
        words = f"there is more than one change: {told}; --find all finds them"
        return Found(machine.result, notes=(words,), obstacle="contradiction")
    run = revisions[answer.before : answer.after + 1]
    change = change_between(find, level, run, (verdicts[0], verdicts[1]), confirmed=answer.confirmed)
    return Found(machine.result, change)


def commits_between(oracle: Oracle, upstream: Upstream, ends: Sequence[Revision]) -> list[Commit]:
    """The first-parent history between two revisions; for a release its nearest commit.

    Raises:
        BadInput: the older one is no first-parent ancestor of the newer one, or the history ends before a release.
    """
    try:
        old, new = (commit_of(oracle, upstream, revision) for revision in ends)
        if old.sha == new.sha:
            raise BadInput(f"both ends are nearest to the commit {old}: there is nothing between them")
        return upstream.first_parent(old, new)
    except BadInput as error:
        raise _beyond(oracle, upstream, ends) or error from error


def _beyond(oracle: Oracle, upstream: Upstream, ends: Sequence[Revision]) -> BadInput | None:
    """What to say where a release was published after the newest commit, so that the nearest to it is some other."""
    tip, pins = upstream.main(), oracle.context.workspace.pins
    late = [pin for end in ends if isinstance(end, Version) and (pin := pins.pin(end)).uploaded > tip.date]
    if not late:
        return None
    first = late[0]
    return BadInput(
        f"the main line of {upstream.name} ends at {tip.date:%Y-%m-%d}, before {first.version} was published "
        f"({first.uploaded:%Y-%m-%d}): fetch there, or name a newer clone by --repo"
    )


def commit_of(oracle: Oracle, upstream: Upstream, revision: Revision) -> Commit:
    """A commit as it is, and a release's nearest."""
    if isinstance(revision, Commit):
        return revision
    context = oracle.context
    pins = context.workspace.pins
    return nearest_commit(upstream, context.mirror, pins.pin(revision), pins.package, context.emit).commit
