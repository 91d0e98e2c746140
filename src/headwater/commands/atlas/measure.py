# SPDX-License-Identifier: Apache-2.0
"""Measuring cases on revisions through the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.matrix.course import Course
from headwater.commands.matrix.runner import CellRunner
from headwater.commands.matrix.threads import Threads
from headwater.commands.remote.hands import hands
from headwater.commands.way import Way
from headwater.core.cases import Case
from headwater.core.matrix import Cell, Row
from headwater.core.results import ProbeResult
from headwater.core.revisions import Revision, name_of, sort_key
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class CaseAt:
    """One case at one revision, on one device."""

    case: Case
    revision: Revision
    device: str = "cpu"


@dataclass(frozen=True)
class Measured:
    """The rows of the cells that were measured, in the order of these; how many probes ran for them, and whether the
    run was interrupted before all were."""

    rows: tuple[ProbeResult, ...]
    ran: int
    interrupted: bool


def measure(
    context: Context,
    cells: Sequence[CaseAt],
    options: ProbeOptions,
    jobs: int = 1,
    commits: CommitSubjects | None = None,
) -> Measured:  # fmt: skip
    """Probe every cell, or recall it, as cells of a matrix, `jobs` at a time: a revision after the other, so that trees
    and environments are started once. Interrupted, it gives what is known. `commits` is for cells of commits.

    Raises:
        ToldToStop: what was run ended with an exit status from 128 on.
    """
    if not cells:
        return Measured((), 0, False)
    known: dict[str, Case] = {}
    runner = CellRunner(context, None, None, known)
    groups = {
        revision: _group(context, runner, revision, commits)
        for revision in dict.fromkeys(cell.revision for cell in cells)
    }
    places = [
        Cell(Row("case", _named(known, cell.case)), name_of(cell.revision), cell.device, groups[cell.revision])
        for cell in cells
    ]
    order = sorted(range(len(cells)), key=lambda n: (sort_key(cells[n].revision), cells[n].device))
    probing = hands(context, options, Way("local", None, min(jobs, len(cells))), None, None)
    executor = Threads(runner, probing, one_machine=True)
    course = Course([places[n] for n in order], f"measuring {len(cells)} cells", context.emit)
    whole = course.run(executor)
    return Measured(tuple(course.results[one] for one in places if one in course.results), executor.ran, not whole)


def _named(known: dict[str, Case], case: Case) -> str:
    """The name of a case among those that are `known`, to which it is added; cases of one id may differ in content."""
    name, number = case.id, 1
    while known.setdefault(name, case) is not case:
        number += 1
        name = f"{case.id} ({number})"
    return name


def _group(context: Context, runner: CellRunner, revision: Revision, commits: CommitSubjects | None) -> str:
    """The name of a revision's environment."""
    if isinstance(revision, Version):
        return context.group_name(revision)
    if commits is None:
        raise ValueError(f"{revision} is a commit, and nothing was given that makes subjects of commits")
    subject = commits.subject(revision)
    runner.give(name_of(revision), subject)
    return context.group_name(subject.pin.version)
