# SPDX-License-Identifier: Apache-2.0
"""Where things stand in the pictures of a report."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from headwater.core.answers import ReductionStep
from headwater.core.history import parent
from headwater.core.releases import is_on_main_line


@dataclass(frozen=True)
class Node:
    """A release in the tree: its column (that of its x.y) and its row (0 on the main line, or for the first known)."""

    release: Version
    column: int
    row: int


@dataclass(frozen=True)
class Tree:
    """The tree of releases: the names of the columns, the nodes in version order, and each node's parent (indices)."""

    columns: tuple[str, ...]
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 1 + max((node.row for node in self.nodes), default=0)


def tree_of(releases: Sequence[Version]) -> Tree:
    """A column for each x.y, from left to right: the main line runs along the top, maintenance lines hang down."""
    known = sorted(releases)
    columns: list[str] = []
    nodes = []
    for name, group in itertools.groupby(known, key=lambda version: f"{version.major}.{version.minor}"):
        line = list(group)
        # A line whose x.y.0 is not known begins below the main line, which does not run through it.
        top = 0 if is_on_main_line(line[0]) else 1
        nodes += [Node(version, len(columns), top + row) for row, version in enumerate(line)]
        columns.append(name)
    place = {node.release: number for number, node in enumerate(nodes)}
    before = [(parent(node.release, known), number) for number, node in enumerate(nodes)]
    edges = tuple((place[old], number) for old, number in before if old is not None)
    return Tree(tuple(columns), tuple(nodes), edges)


def line_of_hunt(probed: Sequence[Version], known: Sequence[Version]) -> list[Version]:
    """The releases that a hunt's picture has: those that were probed, and the main line from the first to the last."""
    first, last = min(probed), max(probed)
    return sorted({*probed, *(v for v in known if is_on_main_line(v) and first <= v <= last)})


@dataclass(frozen=True)
class Fall:
    """How a difference shrank, probe by probe: `width` and `height` in pixels, the heights of some numbers of hunks,
    where each stage begins, where each probe stands (in their order), and the line of what was left, as pairs."""

    width: int
    height: int
    ticks: tuple[tuple[int, float], ...]
    stages: tuple[tuple[str, float], ...]
    places: tuple[tuple[float, float], ...]
    left: tuple[tuple[float, float], ...]


# Pixels: from all hunks down to one, the least width, the least between two probes, a letter, a line of text.
_FALL, _WIDE, _NEAR, _LETTER, _LINE = 150, 616, 22, 7, 14


def fall_of(steps: Sequence[ReductionStep], whole: int) -> Fall:
    """The picture of a reduction of `whole` hunks: the probes from left to right, hunks upwards by their logarithm."""
    top = math.log10(max(whole, 10))
    apart = max(_NEAR, _WIDE // max(len(steps), 1))

    def high(hunks: int) -> float:
        return round(_FALL * (1 - math.log10(max(hunks, 1)) / top), 1)

    across = [apart * (number + 0.5) for number in range(len(steps))]
    places = tuple((x, high(step.hunks)) for x, step in zip(across, steps, strict=True))
    left, names = [(0.0, high(whole))], list[tuple[str, float]]()
    for number, (x, step) in enumerate(zip(across, steps, strict=True)):
        left += [(x, left[-1][1]), (x, high(step.left))]
        begins = number == 0 or steps[number - 1].stage != step.stage
        # A name for which there is no room is left out.
        if begins and (not names or x - names[-1][1] >= _LETTER * len(names[-1][0])):
            names.append((step.stage, x))
    width = apart * len(steps)
    left.append((float(width), left[-1][1]))
    round_ones = [10**power for power in range(int(top) + 1)]
    ticks = [*(hunks for hunks in round_ones if high(hunks) >= high(whole) + _LINE), whole]
    return Fall(width, _FALL, tuple((hunks, high(hunks)) for hunks in ticks), tuple(names), places, tuple(left))
