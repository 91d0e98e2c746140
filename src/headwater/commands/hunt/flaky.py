# SPDX-License-Identifier: Apache-2.0
"""A hunt for a bug that shows only sometimes: Bayesian search to a stated confidence."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.commands.hunt.drive import Course
from headwater.commands.hunt.oracle import Oracle
from headwater.commands.hunt.plain import HuntInterrupted
from headwater.core.bayes import BayesianSearch
from headwater.core.hunt_report import Found, Level, change_between, obstacle_of
from headwater.core.marks import Find
from headwater.core.revisions import Revision, name_of
from headwater.core.verdicts import Verdict

# How often the bad end is probed before it is given up as never bad.
PATIENCE = 25


def hunt_flaky(oracle: Oracle, revisions: Sequence[Revision], find: Find, level: Level, confidence: float) -> Found:
    """Probe where the answer halves the uncertainty, until one revision holds the change with the confidence.
    Interrupted, it raises `HuntInterrupted` with the best so far."""
    machine = BayesianSearch(len(revisions), find, confidence=confidence, patience=PATIENCE)
    course = Course(oracle, machine, revisions, lambda: 0 if machine.settled else max(1, round(2 * machine.entropy())))
    for position in range(len(revisions)):
        course.tell(position)
    try:
        course.run()
    except KeyboardInterrupt:
        raise HuntInterrupted(_outcome(oracle, machine, revisions, find, level)) from None
    return _outcome(oracle, machine, revisions, find, level)


def _outcome(oracle: Oracle, machine: BayesianSearch, revisions: Sequence[Revision], find: Find, level: Level) -> Found:
    names = [name_of(revision) for revision in revisions]
    posterior = tuple((_candidate(names, n), p) for n, p in machine.posterior().items() if p >= 0.001)
    if not machine.bad_end_shown:
        bad = names[-1] if find == "introduced" else names[0]
        # Its last probe gave it up.
        obstacle = obstacle_of(oracle.verdicts(bad)[-1:])
        return Found("bad-endpoints", notes=(f"the bug never showed at {bad}",), obstacle=obstacle)
    belief = machine.answer()
    if belief.outside in belief.candidates:
        words = f"with {belief.probability:.0%} the bug is there at both ends: no change between them is likely enough"
        return Found("inconclusive", notes=(words,), posterior=posterior)
    run = revisions[belief.candidates[0] - 1 : belief.candidates[-1] + 1]
    verdicts = (Verdict.GOOD, Verdict.BAD) if find == "introduced" else (Verdict.BAD, Verdict.GOOD)
    change = change_between(find, level, run, verdicts, probability=belief.probability)
    return Found("found" if belief.found else "range", change, posterior=posterior)


def _candidate(names: Sequence[str], position: int) -> str:
    return names[position] if 0 <= position < len(names) else "no change in the range"
