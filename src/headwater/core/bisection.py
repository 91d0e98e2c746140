# SPDX-License-Identifier: Apache-2.0
"""A hunt as a pure state machine: ask `next_step` what to probe, tell it with `mark`, until `answer` is there.

Only `bad` blames a revision; `absent` counts as good when looking for what introduced a bug; everything else could
not be judged: it widens the answer to a range and never narrows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.core.verdicts import Verdict

_SIDES = {Verdict.GOOD: False, Verdict.ABSENT: False, Verdict.BAD: True}


@dataclass(frozen=True)
class Answer:
    """Positions in the range: `last_good` was seen good, `first_bad` bad, and nothing between them could be judged.

    `found` where they are neighbours.
    """

    last_good: int
    first_bad: int

    @property
    def found(self) -> bool:
        """Whether the answer is one revision."""
        return self.first_bad == self.last_good + 1

    @property
    def candidates(self) -> range:
        """The positions of which one brought the bug: after the last good, up to the first bad."""
        return range(self.last_good + 1, self.first_bad + 1)


class Bisection:
    """The search for what introduced a bug among `length` revisions in order, the first good and the last bad."""

    def __init__(self, length: int) -> None:
        if length < 1:
            raise ValueError("a bisection needs at least one revision")
        self._verdicts: dict[int, Verdict] = {}
        self._length = length

    def mark(self, position: int, verdict: Verdict) -> None:
        """Record what a probe at `position` (0-based) said."""
        if not 0 <= position < self._length:
            raise IndexError(f"position {position} is outside of 0..{self._length - 1}")
        self._verdicts[position] = verdict

    @property
    def ends(self) -> tuple[Verdict | None, Verdict | None]:
        """What was seen at the first and the last revision."""
        return self._verdicts.get(0), self._verdicts.get(self._length - 1)

    @property
    def ends_differ(self) -> bool:
        """Whether both ends were proved: the first good (or absent), the last bad."""
        first, last = self.ends
        return _side(first) is False and _side(last) is True

    def next_step(self) -> int | None:
        """The position to probe next, None when nothing is left to learn.

        Ends first. Then the middle one of the untried positions: each probe that can be judged halves their number,
        and one that cannot costs itself and no more.
        """
        for end in (0, self._length - 1):
            if end not in self._verdicts:
                return end
        if not self.ends_differ:
            return None
        answer = self.answer()
        untried = [p for p in range(answer.last_good + 1, answer.first_bad) if p not in self._verdicts]
        return untried[len(untried) // 2] if untried else None

    def answer(self) -> Answer:
        """The best known so far: the last revision seen good, and the first one seen bad after it.

        Raises:
            ValueError: the ends do not differ, or were not probed.
        """
        if not self.ends_differ:
            raise ValueError("the ends do not differ")
        last_good = max(self._judged(False))
        return Answer(last_good, min(p for p in self._judged(True) if p > last_good))

    def _judged(self, bad: bool) -> Sequence[int]:
        return [p for p, verdict in self._verdicts.items() if _side(verdict) is bad]


def _side(verdict: Verdict | None) -> bool | None:
    return None if verdict is None else _SIDES.get(verdict)
