# SPDX-License-Identifier: Apache-2.0
"""The way from a difference that flips a verdict to the smallest part of it that still does.

One pass of the search, as generators: they yield a subset with the chance that it flips, and are sent what a probe
said. They decide by nothing else, so that a pass can be run again over what is known, or over what is assumed.

After Zeller and Hildebrandt (Simplifying and Isolating Failure-Inducing Input, IEEE TSE 2002) in that only a flip ever
moves the search and that the end is one-minimal. The way there is Junker's (QuickXplain, AAAI 2004): the
shortest prefix that flips, halved for, shows one needed part at a time, the last one first. With k needed parts among n
that costs k log n probes where ddmin may cost k squared.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, combinations
from operator import or_
from typing import NamedTuple

from headwater.core.unit_space import UnitSpace, union

_FEW = 6


class PartOutcome(Enum):
    """What a subset showed: the verdict flips, or stays the old one, or neither (another failure, untestable, a
    harness error), or it was ruled out without a probe because it does not compile. Only a flip moves a search."""

    FLIPS = "flips"
    STAYS = "stays"
    UNJUDGED = "cannot tell"
    RULED_OUT = "does not compile"


class Question(NamedTuple):
    """A subset to test, and the chance (0 to 1) that it flips: a guess, which only decides what is tried ahead."""

    subset: int
    chance: float


Ask = Generator[Question, PartOutcome, bool]
Subset = Generator[Question, PartOutcome, int]
Walk = Generator[Question, PartOutcome, None]


@dataclass(frozen=True)
class Plan:
    """Where a search begins: everything, what is kept of it, and what may do alone, the smallest first."""

    full: int
    kept: int
    cores: tuple[int, ...]


@dataclass(frozen=True)
class StageLimits:
    """How many probes the stages may take that cost more than they often bring.

    `pairs` counts for each round of pairs, of which n hunks have n(n-1)/2, and another follows only where a pair went.
    `lines` counts for all lines, each of which costs a probe.
    """

    pairs: int = 100
    lines: int = 100


@dataclass(frozen=True)
class Narrowed:
    """How far a search had come: what was left after a stage, and the probes that had led there."""

    stage: str
    subset: int
    probes: int


class Narrowing:
    """One pass of the search. `current` always flips; `probes` is counted by who answers."""

    def __init__(self, space: UnitSpace, plan: Plan, limits: StageLimits) -> None:
        self._space, self._plan, self._limits = space, plan, limits
        self.stage = "kept"
        self.current = plan.full
        self.hunks: int | None = None
        self.pairs_done = self.lines_done = False
        self.events = [Narrowed("all", plan.full, 0)]
        self.probes = 0

    def search(self) -> Walk:
        """The whole way."""
        must = yield from self._keep()
        base = yield from self._core(must)
        yield from self._files(base)
        yield from self._hunks()
        yield from self._minimal()
        self.hunks = self.current
        yield from self._lines()

    def _enter(self, stage: str) -> None:
        self.stage = stage

    def _leave(self) -> None:
        self.events.append(Narrowed(self.stage, self.current, self.probes))

    def _flips(self, subset: int, chance: float) -> Ask:
        outcome = yield Question(subset, chance)
        return outcome is PartOutcome.FLIPS

    def _keep(self) -> Subset:
        """Prove what is kept, else return what was set aside, file by file. Gives what had to return."""
        kept, full = self._plan.kept, self._plan.full
        if kept == full:
            return 0
        if (yield from self._flips(kept, 0.9)):
            self.current = kept
            self._leave()
            return 0
        self._enter("returned")
        self.current = yield from self._needed(kept, self._space.files(full & ~kept))
        self._leave()
        return self.current & ~kept

    def _core(self, must: int) -> Subset:
        """Try what may do alone. Where that does not, add to it the fewest files that make it flip, the likeliest
        first; gives the last one, which is needed beside all others."""
        self._enter("core")
        tried = 0
        for core in self._plan.cores:
            tried = (core | must) & self.current
            if (yield from self._flips(tried, 0.6)):
                self.current = tried
                self._leave()
                return 0
        files = self._space.files(self.current & ~tried)
        if not tried or not files:
            return 0
        count = yield from self._shortest(tried, files)
        self.current = tried | union(files[:count])
        self._leave()
        return files[count - 1]

    def _files(self, base: int) -> Walk:
        files = self._space.files(self.current & ~base)
        # With few hunks a file, the hunks' own halving is as quick.
        if len(files) < 2 or len(self._space.hunks(self.current)) <= 2 * len(files):
            return
        self._enter("files")
        self.current = yield from self._needed(base, files)
        self._leave()

    def _hunks(self) -> Walk:
        # A few hunks are left out one by one for less than halving costs, and that is done next in any case.
        if len(self._space.hunks(self.current)) <= _FEW:
            return
        self._enter("hunks")
        self.current = yield from self._needed(0, self._space.hunks(self.current))
        self._leave()

    def _needed(self, base: int, groups: Sequence[int]) -> Subset:
        """Those of the groups that are needed beside `base`, with it; `base` with all of them flips."""
        groups = list(groups)
        while True:
            count = yield from self._shortest(base, groups)
            if not count:
                return base
            base |= groups[count - 1]
            del groups[count - 1 :]
            self.current = base | union(groups)

    def _shortest(self, base: int, groups: Sequence[int]) -> Generator[Question, PartOutcome, int]:
        """How many of the groups it takes, from the first on, for `base` to flip with them: by halving, so that one
        less was seen not to flip."""
        prefixes = list(accumulate(groups, or_, initial=base))
        low, high = -1, len(groups)
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._flips(prefixes[middle], 0.5)):
                high = middle
            else:
                low = middle
        return high

    def _minimal(self) -> Walk:
        """Leave out single hunks, then all that could not be judged without, then pairs, until nothing goes."""
        while True:
            self._enter("one by one")
            outcomes = yield from self._singles(self._space.hunks, None)
            self._leave()
            self._enter("together")
            if (yield from self._together(outcomes)):
                continue
            self._enter("pairs")
            if not (yield from self._pairs(outcomes)):
                break
        self._leave()

    def _singles(
        self, parts: Callable[[int], list[int]], limit: int | None
    ) -> Generator[Question, PartOutcome, dict[int, PartOutcome]]:
        """Leave out single parts, the least likely first, until none goes. Gives what each that is left showed; of less
        than all where the limit on probes ended it."""
        while True:
            outcomes: dict[int, PartOutcome] = {}
            before = self.current
            for part in reversed(parts(self.current)):
                if limit is not None and self.probes >= limit:
                    return outcomes
                outcome = yield Question(self.current & ~part, 0.1)
                if outcome is PartOutcome.FLIPS:
                    self.current &= ~part
                else:
                    outcomes[part] = outcome
            if self.current == before:
                return outcomes

    def _together(self, outcomes: dict[int, PartOutcome]) -> Ask:
        """Try to leave out all hunks whose single absence could not be judged, then halves of those: what depends on
        each other is broken by any part of it, and goes as a whole. Pairs are left to the next stage."""
        broken = [part for part, outcome in outcomes.items() if outcome is not PartOutcome.STAYS]
        size = len(broken)
        while size > 2:
            for first in range(0, len(broken) - size + 1, size):
                rest = self.current & ~union(broken[first : first + size])
                if rest and (yield from self._flips(rest, 0.2)):
                    self.current = rest
                    self._leave()
                    return True
            size //= 2
        return False

    def _pairs(self, outcomes: dict[int, PartOutcome]) -> Ask:
        """Try to leave out two hunks at once, first those of which neither could be judged alone."""
        self.pairs_done = False
        judged = {part: outcome is PartOutcome.STAYS for part, outcome in outcomes.items()}
        end = self.probes + self._limits.pairs
        for one, other in sorted(combinations(judged, 2), key=lambda pair: judged[pair[0]] + judged[pair[1]]):
            if self.probes >= end:
                return False
            rest = self.current & ~(one | other)
            if (yield from self._flips(rest, 0.1)):
                self.current = rest
                self._leave()
                return True
        self.pairs_done = True
        return False

    def _lines(self) -> Walk:
        """Leave out statements and then lines of the hunks, from coarse to fine, until no line goes."""
        self._enter("lines")
        end = self.probes + self._limits.lines
        splits = [self._space.split(hunk) for hunk in self._space.hunks(self.current)]
        if not any(layers for _lines, layers in splits):
            self.lines_done = True
            return
        self.current = union(lines for lines, _layers in splits)
        for layer in [layer for _lines, layers in splits for layer in layers[:-1]]:
            yield from self._layer(layer, end)
        outcomes = yield from self._singles(self._space.lines, end)
        self.lines_done = len(outcomes) == len(self._space.lines(self.current))
        self._leave()

    def _layer(self, groups: Sequence[int], end: int) -> Walk:
        """Leave out groups of one layer, many at once first, from the last to the first: what uses a thing mostly
        stands behind it."""
        groups = [group for group in groups if group & self.current]
        size = len(groups)
        while size:
            for first in reversed(range(0, len(groups), size)):
                rest = self.current & ~union(groups[first : first + size])
                if self.probes >= end or rest == self.current or not rest:
                    continue
                if (yield from self._flips(rest, 0.3)):
                    self.current = rest
            size //= 2
