# SPDX-License-Identifier: Apache-2.0
"""A hunt as a pure state machine: ask `next_steps` what to probe, tell it with `mark`, until it asks for nothing.

    search = Bisection(len(history), "introduced")
    while steps := search.next_steps(workers):
        for position in steps:
            search.mark(position, probe(history[position]))
    search.result, search.answer()

The state is what the marks say and nothing else: marks given again in the same order (`log`) make the same state, so
resuming is replaying, and a simulation runs the very code that a hunt runs.

Only `bad` blames a revision, and what could not be judged widens the answer and never narrows it (`core/marks.py`).
Both ends are proved before anything is built on them, and the culprit and its parent are probed again before they
are named (mozregression asks for both ends too, once).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass

from headwater.core.cuts import cut
from headwater.core.marks import JUDGED, Find, Marks, side
from headwater.core.results import HuntResult
from headwater.core.verdicts import Verdict


@dataclass(frozen=True)
class Answer:
    """Positions in the range: the change came after `before` and not after `after`.

    Hunting for what introduced a bug, `before` was seen good (or absent) and `after` bad; for what fixed it, `before`
    bad and `after` good. Nothing between them could be judged, once the hunt is done. `confirmed` where both were
    probed as often as was asked for.

    `contradictions` are pairs of neighbouring judged positions that changed back: (2, 5) says that 2 is after the
    change and 5, though later, before it. Then there is more than one change-over, none is named, and the candidates
    reach from the first change to the last.
    """

    before: int
    after: int
    confirmed: bool = True
    contradictions: tuple[tuple[int, int], ...] = ()

    @property
    def found(self) -> bool:
        """Whether the answer is one revision: `after`."""
        return self.after == self.before + 1 and self.confirmed and not self.contradictions

    @property
    def candidates(self) -> range:
        """The positions of which one brought the change: after `before`, up to `after`."""
        return range(self.before + 1, self.after + 1)


class Bisection:
    """The search for one change among `length` revisions in order, whose ends stand on either side of it.

    Args:
        length: how many revisions there are, both ends included; at least 1.
        find: "introduced" looks for good (or absent) to bad, "fixed" for bad to good.
        proofs: how many probes that agree each end needs.
        confirm: whether the two revisions around the change must be seen twice before they are an answer, and
            likewise what contradicts one change-over. Where a repetition disagrees, the position is `flaky`, counts
            as not judged, and the search goes on.

    With one worker a hunt makes one probe for each proof of each end, at most ceil(log2(length - 1)) between the ends
    and two to confirm; and one more for each that cannot be judged, besides that one itself.
    """

    def __init__(self, length: int, find: Find = "introduced", *, proofs: int = 2, confirm: bool = True) -> None:
        if length < 1:
            raise ValueError("a bisection needs at least one revision")
        if proofs < 1:
            raise ValueError("an end needs at least one proof")
        self._length, self._find, self._proofs = length, find, proofs
        self._needed = max(2, proofs) if confirm else 1
        self._marks: Marks[int] = Marks(max(2, proofs))
        self._sides: dict[int, bool] = {}

    def mark(self, position: int, verdict: Verdict) -> None:
        """Record what one probe at `position` (0-based) said. Any position may be marked, asked for or not.

        Raises:
            IndexError: there is no such position.
        """
        if not 0 <= position < self._length:
            raise IndexError(f"position {position} is outside of 0..{self._length - 1}")
        self._marks.add(position, verdict)
        self._place(position)

    def undo(self, position: int) -> None:
        """Take back all that was marked at `position`."""
        self._marks.forget(position)
        self._place(position)

    def standing(self, position: int) -> Verdict | None:
        """What the marks of `position` come to (`flaky` where they disagree), None where it has none."""
        return self._marks.standing(position)

    @property
    def log(self) -> tuple[tuple[int, Verdict], ...]:
        """Every mark in order: what a resumed hunt is told again."""
        return self._marks.log

    @property
    def ends(self) -> tuple[Verdict | None, Verdict | None]:
        """What was seen at the first and the last revision."""
        return self.standing(0), self.standing(self._length - 1)

    @property
    def ends_differ(self) -> bool:
        """Whether the first revision was seen before the change, and the last one after it."""
        return self._sides.get(0) is False and self._sides.get(self._length - 1) is True

    @property
    def contradictions(self) -> tuple[tuple[int, int], ...]:
        """Neighbouring judged positions that changed back; see `Answer`."""
        return tuple((a, b) for a, b in self._turns() if self._sides[a])

    def next_steps(self, count: int = 1, pending: Collection[int] = ()) -> list[int]:
        """Up to `count` positions to probe now, besides those `pending`; empty when nothing is left to learn.

        Ends first, each as often as it needs. Then cuts in `count + 1` even parts; `pending` positions count as cuts
        that are made already and are never asked for again. Then what is to be confirmed. Workers that the second
        proof of the ends leaves idle cut already. Empty while `pending` is not may mean: wait.
        """
        steps = [p for p in self._unproved_ends() if p not in pending][:count]
        if len(steps) < count and self.ends_differ:
            steps += [p for p in self._inner_steps(count - len(steps), pending) if p not in steps]
        return steps

    def foresee(self, pending: Collection[int]) -> list[int]:
        """Positions that may be asked for after those `pending`, the surer first: the ends; as though these differ, the
        cut that comes next; and the two cuts of which either comes after it."""
        ends = [p for p in sorted({0, self._length - 1}) if p not in pending and not self._marks.repetitions(p)]
        low, high = self._window() if self.ends_differ else (0, self._length - 1)
        tried = [p for p in self._marks.seen if low < p < high]
        cuts = [p for p in pending if low < p < high]
        if not cuts:
            cuts = cut(low, high, tried)
            ends += cuts
        return ends + cut(low, high, tried, cuts, 2)

    @property
    def done(self) -> bool:
        """Whether no probe is left that could change the answer."""
        return not self.next_steps()

    @property
    def probes_left(self) -> int:
        """About how many probes one worker still makes, if all can be judged: for "n of about N"."""
        if self.done:
            return 0
        low, high = self._window() if self.ends_differ else (0, self._length - 1)
        untried = sum(self._marks.repetitions(p) == 0 for p in range(low + 1, high))
        proofs = sum(max(0, self._proofs - self._marks.support(p)) for p in {0, self._length - 1})
        if untried:
            return proofs + untried.bit_length() + (2 if self._needed > 1 else 0)
        return proofs + len(self._unconfirmed((low, high)))

    @property
    def result(self) -> HuntResult:
        """In one word, what is known so far. `inconclusive`: an end could not be judged, or there is a contradiction.

        `bad-endpoints`: both ends were judged and are not what this hunt needs. An end that is absent where a fix is
        sought is one of these: the feature went, nothing was mended.
        """
        if not self.ends_differ:
            return "bad-endpoints" if all(end in JUDGED for end in self.ends) else "inconclusive"
        answer = self.answer()
        if answer.contradictions:
            return "inconclusive"
        return "found" if answer.found else "range"

    def answer(self) -> Answer:
        """The best known so far; final when `done`.

        Raises:
            ValueError: the ends do not differ, or were not probed.
        """
        if not self.ends_differ:
            raise ValueError("the ends do not differ")
        before, after = self._window()
        return Answer(before, after, not self._unconfirmed((before, after)), self.contradictions)

    def _place(self, position: int) -> None:
        """Note on which side `position` stands after its marks have changed."""
        where = side(self._marks.standing(position), self._find)
        self._sides.pop(position, None)
        if where is not None:
            self._sides[position] = where

    def _turns(self) -> list[tuple[int, int]]:
        """The pairs of neighbouring judged positions that stand on different sides."""
        return [(a, b) for a, b in itertools.pairwise(sorted(self._sides)) if self._sides[a] != self._sides[b]]

    def _window(self) -> tuple[int, int]:
        """From before the first change to after the last one: where there is one change, the open range."""
        turns = self._turns()
        return turns[0][0], turns[-1][1]

    def _unproved_ends(self) -> list[int]:
        """Each end once; then, if they differ, each until it is proved, the one with fewer proofs first.

        Ends that do not differ are not asked about again: no further probe could make them differ.
        """
        ends = sorted({0, self._length - 1})
        unseen = [p for p in ends if self._marks.may_be_proved(p, 1)]
        if unseen or not self.ends_differ:
            return unseen
        unproved = [p for p in ends if self._marks.may_be_proved(p, self._proofs)]
        return sorted(unproved, key=lambda p: (self._marks.support(p), p))

    def _inner_steps(self, count: int, pending: Collection[int]) -> list[int]:
        if self.contradictions:
            doubtful = {p for pair in self.contradictions for p in pair}
            return [p for p in self._unconfirmed(doubtful) if p not in pending][:count]
        low, high = self._window()
        tried = [p for p in self._marks.seen if low < p < high]
        steps = cut(low, high, tried, pending, count)
        if steps or any(low < p < high for p in pending):
            return steps
        return [p for p in self._unconfirmed((low, high)) if p not in pending][:count]

    def _unconfirmed(self, positions: Collection[int]) -> list[int]:
        return sorted(p for p in positions if self._marks.may_be_proved(p, self._needed))
