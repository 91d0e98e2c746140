# SPDX-License-Identifier: Apache-2.0
"""What a hunt answers, in the words of every kind of hunt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from headwater.core.commits import Commit
from headwater.core.reduction_report import ReductionReport
from headwater.core.results import INTERRUPTED, HuntResult, ProbeResult
from headwater.core.revisions import Revision, name_of
from headwater.core.verdicts import Verdict
from headwater.core.workers import WorkersReport

Level = Literal["releases", "commits"]
Kind = Literal["introduced", "fixed", "arrived", "removed"]
Obstacle = Literal["ends", "contradiction", "machine"]
_STATUSES: Mapping[Obstacle, int] = {"ends": 3, "contradiction": 4, "machine": 5}


def obstacle_of(verdicts: Collection[Verdict | None]) -> Obstacle:
    """What stands in the way where something had to be judged, and shows these verdicts: see `Found`."""
    return "machine" if Verdict.HARNESS_ERROR in verdicts else "ends"


@dataclass(frozen=True)
class HuntChange:
    """One change of verdict: after `before`, and not after `after`; `candidates` are those of which one brought it.

    `verdicts` are what was seen on either side; `confirmed` that both were seen twice; `probability` what a search for
    a flaky bug gives the candidates, None for any other. `commit` is the culprit where it is one commit.
    """

    find: Kind
    level: Level
    before: str
    after: str
    candidates: tuple[str, ...]
    verdicts: tuple[Verdict, Verdict]
    confirmed: bool = True
    probability: float | None = None
    commit: Commit | None = None

    @property
    def found(self) -> bool:
        """Whether one revision is named."""
        return len(self.candidates) == 1 and (self.confirmed or self.probability is not None)


def change_between(
    find: Kind, level: Level, revisions: Sequence[Revision], verdicts: tuple[Verdict, Verdict], *,
    confirmed: bool = True, probability: float | None = None,
) -> HuntChange:  # fmt: skip
    """The change after the first of `revisions`, which has the old verdict, and not after the last, which has the new
    one; `confirmed` and `probability` as in `HuntChange`."""
    before, *candidates = (name_of(revision) for revision in revisions)
    change = HuntChange(find, level, before, candidates[-1], tuple(candidates), verdicts, confirmed, probability)
    return replace(change, commit=revisions[-1]) if change.found and isinstance(revisions[-1], Commit) else change


@dataclass(frozen=True)
class Found:
    """What one search for one change came to.

    `change` is None where there is none to name; `notes` are what a reader must know; `posterior` the probability of
    each candidate, of a search for a flaky bug. `obstacle` says of a result that is neither `found` nor `range` what
    stood in the way: the ends, which do not differ or say neither good nor bad; a contradiction, as between the ends
    more than one change was seen; or the machine, since an end could not be judged for a harness error.
    """

    result: HuntResult
    change: HuntChange | None = None
    notes: tuple[str, ...] = ()
    posterior: tuple[tuple[str, float], ...] = ()
    obstacle: Obstacle = "ends"


@dataclass(frozen=True)
class Crossing:
    """Old and new code with old and new packages: `verdicts[code][packages]`, 0 for old and 1 for new; the names of the
    two revisions and of the two environments."""

    revisions: tuple[str, str]
    environments: tuple[str, str]
    verdicts: tuple[tuple[Verdict, Verdict], tuple[Verdict, Verdict]]

    @property
    def culprit(self) -> Literal["library", "packages", "both", "unclear"]:
        """What the change of verdict goes with: `both` where it needs the new code with the new packages, or either
        alone brings it; `unclear` where one of the four could not be judged, or the change does not show with them."""
        (old, packages_only), (code_only, new) = self.verdicts
        if not {old, packages_only, code_only, new} <= {Verdict.GOOD, Verdict.BAD, Verdict.ABSENT}:
            return "unclear"
        if old == new:
            # With the packages of those days there is no change to be told apart.
            return "unclear"
        if packages_only == old and code_only == new:
            return "library"
        if packages_only == new and code_only == old:
            return "packages"
        return "both"


@dataclass(frozen=True)
class HuntReport:
    """A hunt: every revision that was probed, in its order, and what it found.

    `changes` is empty where the ends do not differ (`bad-endpoints`) or one of them could not be judged
    (`inconclusive`); of a hunt that went on from releases to commits it holds both answers, the commits' last. `notes`
    are what a reader must know: what was learned, what was not looked at, why it went no further. `reduction` is of
    what lies between the two neighbours of the last change, where that was asked for. `obstacle` is as in `Found`;
    `commits` are the ids of those that were searched, in their order; `workers` tells of the workers of a scheduler.
    """

    what: str
    find: Literal["introduced", "fixed", "all"]
    device: str
    result: HuntResult
    changes: tuple[HuntChange, ...]
    rows: tuple[ProbeResult, ...]
    ran: int
    interrupted: bool
    notes: tuple[str, ...] = ()
    series: str | None = None
    crossing: Crossing | None = None
    posterior: tuple[tuple[str, float], ...] = ()
    command: str = ""
    reduction: ReductionReport | None = None
    obstacle: Obstacle = "ends"
    commits: tuple[str, ...] = ()
    workers: WorkersReport | None = None

    @property
    def exit_status(self) -> int:
        """0 found; 3 the ends do not differ or could not be judged; 4 only a range, or a contradiction, which leaves
        all between the ends open; 5 an end could not be judged for a failure on our side."""
        if self.interrupted:
            return INTERRUPTED
        if self.result in ("bad-endpoints", "inconclusive"):
            return _STATUSES[self.obstacle]
        return 0 if self.result == "found" else 4


def overall(changes: Sequence[HuntChange]) -> HuntResult:
    """The result of changes that were found: of the finest level, each must name one revision."""
    finest = [change for change in changes if change.level == "commits"] or list(changes)
    return "found" if all(change.found for change in finest) else "range"
