# SPDX-License-Identifier: Apache-2.0
"""Where things stand in the pictures of a report."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

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
