# SPDX-License-Identifier: Apache-2.0
"""A reduction as a pure state machine: ask `next_steps` which subsets to test, tell it with `mark`, until `done`.

It finds the smallest part of a difference that flips a verdict from that of the old side to that of the new one,
whichever these are. The caller has proved both ends. The search itself (`core/narrowing.py`) is a function of what is
known, run anew from the start at every step, so that the answer depends neither on how many subsets are tested at once
nor on the order in which they come back. Subsets that are tested ahead are those that the search asks for next if what
it waits for goes the likelier way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headwater.core.changesets import Unit
from headwater.core.likely import Likely
from headwater.core.narrowing import Narrowing, PartOutcome, Plan, Question, StageLimits
from headwater.core.unit_space import Split, UnitSpace

Subset = frozenset[Unit]
# How many futures are looked at for one subset that is tested ahead.
_AHEAD = 8


@dataclass(frozen=True)
class Tested:
    """One subset that was tested, in which stage of the search, and what it showed."""

    subset: Subset
    outcome: PartOutcome
    # Where it was asked: with tests made ahead, by chance.
    stage: str = field(compare=False)


@dataclass(frozen=True)
class Stage:
    """What was left after a stage: files, hunks and changed lines, and the probes that had led there. Probes that
    were made ahead and not needed are not counted."""

    name: str
    files: int
    hunks: int
    lines: int
    probes: int


@dataclass(frozen=True)
class Answer:
    """The smallest part known that flips the verdict.

    `subset` may hold single lines of hunks; `hunks` are the whole hunks that flip by themselves, and that `minimal`
    speaks of: without any one of them the verdict does not flip. `pair_minimal`: nor without any two. `line_minimal`:
    nor does it flip without any one unit of `subset`. `needed_by` says for every unit of either what was seen without
    it; it is complete for `hunks` where `minimal`, and for `subset` where `line_minimal`.
    """

    subset: Subset
    hunks: Subset
    minimal: bool
    pair_minimal: bool
    line_minimal: bool
    needed_by: Mapping[Unit, Tested] = field(default_factory=dict)


class Reduction:
    """The search for what of `units` flips the verdict.

    `likely` says where to begin. `split` gives a hunk's lines in layers (`syntax.line_layers`), nothing where hunks
    stay whole. `valid` rules out subsets without a test, `key` tells subsets apart by what they make, `size` counts a
    unit's lines.
    """

    def __init__(
        self,
        likely: Likely,
        *,
        split: Split = lambda unit: (),
        valid: Callable[[Subset], bool] = lambda subset: True,
        key: Callable[[Subset], Hashable] = lambda subset: subset,
        size: Callable[[Unit], int] = lambda unit: 1,
        limits: StageLimits | None = None,
    ) -> None:
        if not likely.order:
            raise ValueError("a difference without units cannot flip a verdict")
        self._space = UnitSpace(likely.order, split)
        full = self._space.mask(likely.order)
        cores = tuple(self._space.mask(core) for core in likely.cores)
        self._plan = Plan(full, self._space.mask(likely.kept), cores)
        self._valid, self._key, self._size = valid, key, size
        self._limits = limits or StageLimits()
        self._keys: dict[int, Hashable] = {}
        self._counts: dict[int, tuple[int, int, int]] = {}
        self._seen: dict[Hashable, PartOutcome] = {}
        self._stages: dict[Hashable, str] = {}
        self._log: list[Tested] = []
        for end, outcome in ((0, PartOutcome.STAYS), (full, PartOutcome.FLIPS)):
            self._seen[self._key_of(end)] = outcome
        self._ends = set(self._seen)
        self._pass: tuple[Narrowing, Question | None] | None = None

    @property
    def done(self) -> bool:
        """Whether nothing is left to test."""
        return self._now()[1] is None

    @property
    def log(self) -> Sequence[Tested]:
        """Every subset that was marked, in the order of marking."""
        return tuple(self._log)

    @property
    def stages(self) -> Sequence[Stage]:
        """How the search narrowed, as far as it has come."""
        return [Stage(e.stage, *self._count(e.subset), e.probes) for e in self._now()[0].events]

    def next_steps(self, count: int, pending: Iterable[Subset] = ()) -> list[Subset]:
        """Up to `count` subsets to test, the most urgent first, none of them under test (`pending`) or known.

        Fewer where there is nothing else to try ahead; none where the search is done, or waits for what is pending.
        """
        under_test = {self._key_of(self._space.mask(subset)) for subset in pending}
        wanted: dict[Hashable, Subset] = {}
        futures: list[tuple[float, int, dict[Hashable, PartOutcome]]] = [(-1.0, 0, {})]
        looked = 0
        while futures and len(wanted) < count and looked < _AHEAD * (count + len(under_test)):
            chance, _number, assumed = heapq.heappop(futures)
            looked += 1
            run, question = self._walk(assumed) if assumed else self._now()
            if question is None:
                continue
            key = self._key_of(question.subset)
            if key not in under_test and key not in wanted:
                wanted[key] = self._space.units(question.subset)
                self._stages[key] = run.stage
            for outcome, part in ((PartOutcome.FLIPS, question.chance), (PartOutcome.STAYS, 1 - question.chance)):
                heapq.heappush(
                    futures, (chance * part, 2 * looked + (outcome is PartOutcome.STAYS), {**assumed, key: outcome})
                )
        return list(wanted.values())

    def mark(self, subset: Iterable[Unit], outcome: PartOutcome) -> None:
        """Record what a test of `subset` showed.

        Raises:
            ValueError: a unit is not of this difference, or the subset was judged before, and otherwise: then the
                case is flaky, and no answer can be had.
        """
        if outcome is PartOutcome.RULED_OUT:
            raise ValueError("what is ruled out is not tested")
        mask = self._space.canonical(self._space.mask(subset))
        key = self._key_of(mask)
        before = self._seen.get(key)
        if before not in (None, outcome, PartOutcome.UNJUDGED, PartOutcome.RULED_OUT):
            if outcome is PartOutcome.UNJUDGED:
                return
            raise ValueError(
                f"the same subset was seen to {before.value!r} and to {outcome.value!r}: the case is flaky"
            )
        self._seen[key] = outcome
        self._log.append(Tested(self._space.units(mask), outcome, self._stages.get(key, "")))
        self._pass = None

    def answer(self) -> Answer:
        """The best known so far; minimal only as far as it says so."""
        run, question = self._now()
        best = min([run.current, *self._flipping()], key=self._count) if run.hunks is None else run.current
        hunks = best if run.hunks is None else run.hunks
        whole = run.hunks is not None
        needed = {**self._needed_by(hunks), **self._needed_by(best)}
        subset = self._space.units(self._space.canonical(best))
        return Answer(
            subset,
            frozenset(unit.whole for unit in self._space.units(hunks)),
            minimal=whole,
            pair_minimal=whole and run.pairs_done,
            line_minimal=question is None and run.lines_done,
            needed_by=needed,
        )

    def _flipping(self) -> list[int]:
        """Every subset of whole hunks that was seen to flip."""
        return [
            self._space.mask(tested.subset)
            for tested in self._log
            if tested.outcome is PartOutcome.FLIPS and all(unit == unit.whole for unit in tested.subset)
        ]

    def _needed_by(self, subset: int) -> dict[Unit, Tested]:
        """What was seen without each unit of a subset, where that was seen."""
        found = {}
        for part in self._space.lines(subset):
            rest = self._space.canonical(subset & ~part)
            outcome = self._recall(rest)
            if outcome is not None:
                (unit,) = self._space.units(part)
                stage = self._stages.get(self._key_of(rest), "")
                found[unit] = Tested(self._space.units(rest), outcome, stage)
        return found

    def _now(self) -> tuple[Narrowing, Question | None]:
        """The search over what is known, and what it waits for."""
        if self._pass is None:
            self._pass = self._walk({})
        return self._pass

    def _walk(self, assumed: Mapping[Hashable, PartOutcome]) -> tuple[Narrowing, Question | None]:
        """Run the search over what is known and assumed, up to its first question that has no answer."""
        run = Narrowing(self._space, self._plan, self._limits)
        search = run.search()
        counted = set(self._ends)
        try:
            question = next(search)
            while True:
                subset = self._space.canonical(question.subset)
                outcome = self._recall(subset)
                if outcome is None and assumed:
                    outcome = assumed.get(self._key_of(subset))
                if outcome is None:
                    return run, question._replace(subset=subset)
                if outcome is not PartOutcome.RULED_OUT and (key := self._key_of(subset)) not in counted:
                    counted.add(key)
                    run.probes += 1
                question = search.send(outcome)
        except StopIteration:
            return run, None

    def _recall(self, subset: int) -> PartOutcome | None:
        """What is known of a subset, by a test or because it does not compile."""
        key = self._key_of(subset)
        if key not in self._seen and not self._valid(self._space.units(subset)):
            self._seen[key] = PartOutcome.RULED_OUT
        return self._seen.get(key)

    def _key_of(self, subset: int) -> Hashable:
        if subset not in self._keys:
            self._keys[subset] = self._key(self._space.units(subset))
        return self._keys[subset]

    def _count(self, subset: int) -> tuple[int, int, int]:
        if subset not in self._counts:
            units = self._space.units(self._space.canonical(subset))
            hunks = {unit.whole for unit in units}
            files = {unit.path for unit in hunks}
            self._counts[subset] = len(files), len(hunks), sum(self._size(unit) for unit in units)
        return self._counts[subset]
