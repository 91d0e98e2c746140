# SPDX-License-Identifier: Apache-2.0
"""Finding the end of a hunt that nobody gave: from the known end outward, in growing steps."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from headwater.core.cuts import cut
from headwater.core.marks import Find, Marks, side
from headwater.core.verdicts import Verdict


class Outward:
    """The search for a revision on the other side of a change, away from one whose side is known.

    It tries the distances 1, 2, 4, 8, ... from the known end and at last the history's own end (galloping search,
    Bentley and Yao 1976), so that the range which is then halved is no longer than the way that was walked. Where the
    history's end cannot be judged, it looks between there and the furthest revision that still was on the known side,
    away from what cannot be judged, until every revision was tried: "not found" is then certain for one change-over.

    Args:
        length: how many revisions the history has.
        known: the position of the known end.
        toward: "older" walks to position 0, "newer" to the last one.
        find: what the hunt looks for. "introduced": older than a bad end it wants good or absent, newer than a good
            end it wants bad. "fixed": newer than a bad end it wants good, older than a good end it wants bad.

    Raises:
        ValueError: `known` is no position of the history.
    """

    def __init__(self, length: int, known: int, toward: Literal["older", "newer"], find: Find = "introduced") -> None:
        if not 0 <= known < length:
            raise ValueError(f"position {known} is outside of 0..{length - 1}")
        self._known, self._find = known, find
        self._wanted = toward == "newer"
        self._step = 1 if self._wanted else -1
        self._reach = length - 1 - known if self._wanted else known
        self._marks: Marks[int] = Marks()

    def mark(self, position: int, verdict: Verdict) -> None:
        """Record what one probe at `position` said.

        Raises:
            IndexError: the position is not beyond the known end.
        """
        if not 1 <= self._distance(position) <= self._reach:
            raise IndexError(f"position {position} is not beyond {self._known} on the way")
        self._marks.add(position, verdict)

    @property
    def log(self) -> tuple[tuple[int, Verdict], ...]:
        """Every mark in order, to be told to the bisection that follows, so that nothing is probed again."""
        return self._marks.log

    @property
    def found(self) -> int | None:
        """The nearest revision seen on the other side, None where none was seen yet."""
        distances = self._distances(self._wanted)
        return self._position(min(distances)) if distances else None

    @property
    def nearest(self) -> int:
        """The furthest revision, short of `found`, that is still on the known side: the better known end."""
        limit = self._reach + 1 if self.found is None else self._distance(self.found)
        return self._position(max((d for d in self._distances(not self._wanted) if d < limit), default=0))

    def next_steps(self, count: int = 1, pending: Collection[int] = ()) -> list[int]:
        """Up to `count` positions to probe, nearest first and none of `pending`; empty when `found`, or when the
        history ends without one (then `found` is None)."""
        if self.found is not None:
            return []
        tried = {self._distance(p) for p in self._marks.seen}
        waiting = {self._distance(p) for p in pending}
        low = self._distance(self.nearest)
        growing = [d for d in self._growing() if d > low and d not in tried | waiting]
        if not growing and self._reach in tried:
            growing = cut(low, self._reach + 1, tried, waiting, count)
        return [self._position(d) for d in growing[:count]]

    def _growing(self) -> list[int]:
        doubling = [2**n for n in range(self._reach.bit_length()) if 2**n < self._reach]
        return [*doubling, self._reach] if self._reach else []

    def _distances(self, wanted: bool) -> list[int]:
        seen = self._marks.seen
        return [self._distance(p) for p in seen if side(self._marks.standing(p), self._find) is wanted]

    def _distance(self, position: int) -> int:
        return (position - self._known) * self._step

    def _position(self, distance: int) -> int:
        return self._known + distance * self._step
