# SPDX-License-Identifier: Apache-2.0
"""A hunt for a bug that shows only sometimes: Bayesian search to a stated confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.commands.hunt.drive import Course
from headwater.commands.hunt.oracle import Oracle
from headwater.core.bayes import BayesianSearch
from headwater.core.commits import Commit
from headwater.core.hunting import HuntChange, Level, Point, name_of
from headwater.core.marks import Find
from headwater.core.results import HuntResult
from headwater.core.verdicts import Verdict

# How often the bad end is probed before it is given up as never bad.
PATIENCE = 25


@dataclass(frozen=True)
class FlakyFound:
    """The result, the change with its probability, the posterior by revision, and what a reader must know."""

    result: HuntResult
    change: HuntChange | None
    posterior: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]


class FlakyInterrupted(KeyboardInterrupt):
    """The search was interrupted; `found` is the best that is known."""

    def __init__(self, found: FlakyFound) -> None:
        self.found = found
        super().__init__("interrupted")


def hunt_flaky(oracle: Oracle, points: Sequence[Point], find: Find, level: Level, confidence: float) -> FlakyFound:
    """Probe where the answer halves the uncertainty, until one revision holds the change with the confidence.
    Interrupted, it raises `FlakyInterrupted` with the best so far."""
    machine = BayesianSearch(len(points), find, confidence=confidence, patience=PATIENCE)
    course = Course(oracle, machine, points, lambda: 0 if machine.settled else max(1, round(2 * machine.entropy())))
    for position in range(len(points)):
        course.tell(position)
    try:
        course.run()
    except KeyboardInterrupt:
        raise FlakyInterrupted(_outcome(machine, points, find, level)) from None
    return _outcome(machine, points, find, level)


def _outcome(machine: BayesianSearch, points: Sequence[Point], find: Find, level: Level) -> FlakyFound:
    names = [name_of(point) for point in points]
    posterior = tuple((_candidate(names, n), p) for n, p in machine.posterior().items() if p >= 0.001)
    if not machine.bad_end_shown:
        bad = names[-1] if find == "introduced" else names[0]
        return FlakyFound("bad-endpoints", None, (), (f"the bug never showed at {bad}",))
    belief = machine.answer()
    if belief.outside in belief.candidates:
        words = f"with {belief.probability:.0%} the bug is there at both ends: no change between them is likely enough"
        return FlakyFound("inconclusive", None, posterior, (words,))
    after = belief.candidates[-1]
    before = belief.candidates[0] - 1
    point = points[after]
    verdicts = (Verdict.GOOD, Verdict.BAD) if find == "introduced" else (Verdict.BAD, Verdict.GOOD)
    change = HuntChange(
        find, level, names[before], names[after], tuple(names[n] for n in belief.candidates), verdicts,
        probability=belief.probability,
        commit=point if belief.found and isinstance(point, Commit) else None,
    )  # fmt: skip
    return FlakyFound("found" if belief.found else "range", change, posterior, ())


def _candidate(names: Sequence[str], position: int) -> str:
    return names[position] if 0 <= position < len(names) else "no change in the range"
