# SPDX-License-Identifier: Apache-2.0
"""All changes of a verdict over a tree of revisions: a bug that came, was fixed, and was brought back.

No differing ends are needed. A grid of revisions is probed along the main line, each gap whose ends differ is cut
until the change is found, then the maintenance lines are looked at from their last releases. What lies between equal
neighbours was not looked at: `unseen` says where, and `exhaustive` leaves nothing unseen.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from headwater.core.cuts import cut
from headwater.core.marks import JUDGED, Marks
from headwater.core.verdicts import Verdict

T = TypeVar("T", bound=Hashable)
Kind = Literal["introduced", "fixed", "arrived", "removed"]


@dataclass(frozen=True)
class Change(Generic[T]):
    """One change of verdict along a line: `before` was the last revision of the old verdict, `after` the first of
    the new one. One of `candidates` brought it; the last of them is `after`.

    `introduced` came from good or from absent (then the feature arrived with its bug), `fixed` is bad to good,
    `arrived` is absent to good, `removed` is anything to absent: a bug whose feature went was not fixed.
    """

    kind: Kind
    line: int
    before: T
    after: T
    verdicts: tuple[Verdict, Verdict]
    candidates: tuple[T, ...]
    confirmed: bool

    @property
    def found(self) -> bool:
        """Whether one revision is named."""
        return len(self.candidates) == 1 and self.confirmed


@dataclass(frozen=True)
class Gap(Generic[T]):
    """Revisions of a line that were not probed, or could not be judged, beside or between judged ones of one verdict.

    `before` and `after` are the judged neighbours; one of them is None at an end of the line. Two changes that undo
    each other may hide between equal neighbours, and at an end anything may.
    """

    line: int
    before: T | None
    after: T | None
    verdict: Verdict | None
    unprobed: tuple[T, ...]
    unjudged: tuple[T, ...]


class Changes(Generic[T]):
    """The search for all changes, as a pure state machine.

    Args:
        lines: the main line, oldest first, then the maintenance lines, each beginning with the revision of the main
            line that it grew from where that is in the range (`history.lines`). A history of commits is one line.
        grid: how many revisions of the main line to probe first, evenly spaced, both ends included (at least 2);
            all of them if None.
        exhaustive: probe every revision of every line.
        confirm: whether the two revisions around a change must be seen twice. Where a repetition disagrees the
            revision is `flaky`, counts as not judged, and the search goes on.

    Where all can be judged it makes one probe for each point of the grid (`grid_size`), for each change at most
    ceil(log2 gap) to find it, the gap counted in steps from one end to the other, and two to confirm it.

    Raises:
        ValueError: there is no revision, or the grid has fewer than 2 points.
    """

    def __init__(
        self, lines: Sequence[Sequence[T]], *, grid: int | None = None, exhaustive: bool = False, confirm: bool = True
    ) -> None:
        if not lines or not all(lines):
            raise ValueError("a search for changes needs at least one revision on every line")
        if grid is not None and grid < 2:
            raise ValueError("a grid needs at least two points")
        self._nodes = list(dict.fromkeys(node for line in lines for node in line))
        self._numbers = {node: number for number, node in enumerate(self._nodes)}
        # Inside, a revision is its number in `_nodes`: a version is slow to hash.
        self._lines = [tuple(self._numbers[node] for node in line) for line in lines]
        self._grid, self._exhaustive, self._proofs = grid, exhaustive, 2 if confirm else 1
        self._marks: Marks[int] = Marks()
        self._standings: list[Verdict | None] = [None] * len(self._nodes)

    def mark(self, revision: T, verdict: Verdict) -> None:
        """Record what one probe of `revision` said.

        Raises:
            KeyError: the revision is on none of the lines.
        """
        number = self._numbers[revision]
        self._marks.add(number, verdict)
        self._standings[number] = self._marks.standing(number)

    def standing(self, revision: T) -> Verdict | None:
        """What the marks of `revision` come to (`flaky` where they disagree), None where it has none."""
        return self._standings[self._numbers[revision]]

    @property
    def log(self) -> tuple[tuple[T, Verdict], ...]:
        """Every mark in order: what a resumed search is told again."""
        return tuple((self._nodes[number], verdict) for number, verdict in self._marks.log)

    @property
    def grid_size(self) -> int:
        """How many revisions are probed whatever they show. It grows where cutting reaches the beginning of a
        maintenance line that was not on the grid."""
        return len({node for line in range(len(self._lines)) for node in self._grid_of(line)})

    def next_steps(self, count: int = 1, pending: Collection[T] = ()) -> list[T]:
        """Up to `count` revisions to probe now, besides those `pending`; empty when nothing is left to learn.

        Line by line, the main line first; in a line first its grid, then the gaps whose ends differ; what is to be
        confirmed comes last. Empty while `pending` is not may mean: wait.
        """
        waiting = {self._numbers[node] for node in pending}
        wanted: dict[int, None] = {}
        for line in range(len(self._lines)):
            grid = [node for node in self._grid_of(line) if self._marks.may_be_proved(node, 1)]
            wanted.update(dict.fromkeys(grid + self._cuts(line, set(grid), waiting, count)))
        wanted.update(dict.fromkeys(self._unconfirmed()))
        return [self._nodes[number] for number in wanted if number not in waiting][:count]

    @property
    def done(self) -> bool:
        """Whether no probe is left that this search would make."""
        return not self.next_steps()

    def changes(self) -> list[Change[T]]:
        """Every change seen so far, line by line, oldest first; final when `done`."""
        return [self._change(line, a, b) for line in range(len(self._lines)) for a, b in self._turns(line)]

    def unseen(self) -> list[Gap[T]]:
        """Every stretch in which a change may hide that this search does not look for."""
        gaps = (gap for line in range(len(self._lines)) for gap in self._gaps(line))
        return [gap for gap in gaps if gap.unprobed or gap.unjudged]

    def _grid_of(self, line: int) -> list[int]:
        """What is probed of a line whatever it shows.

        A maintenance line is looked at, at both ends, once the revision that it grew from was probed, or where that
        is not on the main line.
        """
        nodes = self._lines[line]
        last = len(nodes) - 1
        if self._exhaustive or (line == 0 and (self._grid is None or self._grid > last)):
            return list(nodes)
        if line == 0 and self._grid is not None:
            return [nodes[round(n * last / (self._grid - 1))] for n in range(self._grid)]
        start = nodes[0]
        if self._standings[start] is None and start in self._lines[0] and start not in self._grid_of(0):
            return []
        return [start, nodes[last]] if last else [start]

    def _turns(self, line: int) -> list[tuple[int, int]]:
        """The neighbouring judged positions of a line whose verdicts differ."""
        said = [self._standings[node] for node in self._lines[line]]
        judged = [p for p, verdict in enumerate(said) if verdict in JUDGED]
        return [(a, b) for a, b in itertools.pairwise(judged) if said[a] != said[b]]

    def _cuts(self, line: int, grid: Collection[int], waiting: Collection[int], count: int) -> list[int]:
        """Where to cut the gaps whose ends differ; a gap is one once nothing of the grid is to come inside it."""
        nodes = self._lines[line]
        tried = [p for p, node in enumerate(nodes) if self._standings[node] is not None]
        pending = [p for p, node in enumerate(nodes) if node in waiting]
        gaps = [(a, b) for a, b in self._turns(line) if not any(node in grid for node in nodes[a + 1 : b])]
        return [nodes[p] for a, b in gaps for p in cut(a, b, tried, pending, count)]

    def _unconfirmed(self) -> list[int]:
        """The revisions around each change that has nothing untried inside, as far as they need another probe."""
        ends: list[int] = []
        for number, nodes in enumerate(self._lines):
            for a, b in self._turns(number):
                if all(self._standings[node] is not None for node in nodes[a + 1 : b]):
                    ends += nodes[a], nodes[b]
        return [node for node in ends if self._marks.may_be_proved(node, self._proofs)]

    def _change(self, line: int, a: int, b: int) -> Change[T]:
        nodes = self._lines[line]
        old, new = self._standings[nodes[a]], self._standings[nodes[b]]
        assert old is not None and new is not None, "a change lies between judged revisions"
        confirmed = not any(self._marks.may_be_proved(node, self._proofs) for node in (nodes[a], nodes[b]))
        before, *candidates = (self._nodes[node] for node in nodes[a : b + 1])
        return Change(_kind(old, new), line, before, candidates[-1], (old, new), tuple(candidates), confirmed)

    def _gaps(self, line: int) -> Iterator[Gap[T]]:
        """What lies between the judged revisions of a line that are neighbours and equal, and beside the outermost."""
        nodes = self._lines[line]
        judged = [p for p, node in enumerate(nodes) if self._standings[node] in JUDGED]
        for a, b in itertools.pairwise([None, *judged, None]):
            ends = [None if p is None else nodes[p] for p in (a, b)]
            verdicts = {self._standings[node] for node in ends if node is not None}
            if len(verdicts) == 2:
                continue
            inside = nodes[0 if a is None else a + 1 : b]
            before, after = (None if node is None else self._nodes[node] for node in ends)
            unprobed = tuple(self._nodes[node] for node in inside if self._standings[node] is None)
            unjudged = tuple(self._nodes[node] for node in inside if self._standings[node] is not None)
            yield Gap(line, before, after, next(iter(verdicts), None), unprobed, unjudged)


def _kind(old: Verdict, new: Verdict) -> Kind:
    if new is Verdict.BAD:
        return "introduced"
    if new is Verdict.ABSENT:
        return "removed"
    return "fixed" if old is Verdict.BAD else "arrived"
