# SPDX-License-Identifier: Apache-2.0
"""Subsets of a difference as integers, one bit a unit: a search looks at thousands of them at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from headwater.core.changesets import Unit

Split = Callable[[Unit], Sequence[Sequence[frozenset[Unit]]]]


def union(masks: Iterable[int]) -> int:
    """All that is in any of some subsets."""
    whole = 0
    for mask in masks:
        whole |= mask
    return whole


class UnitSpace:
    """The units of a difference, the likeliest first, and of those hunks that were split their lines.

    A split hunk is one bit or all bits of its lines; `canonical` makes the first of the second.
    """

    def __init__(self, order: Sequence[Unit], split: Split) -> None:
        self._units: list[Unit] = list(order)
        self._bits = {unit: 1 << place for place, unit in enumerate(order)}
        # For each unit the place of its hunk.
        self._homes = list(range(len(order)))
        self._split = split
        self._layers: dict[int, list[list[int]]] = {}
        # What was grouped before: every pass of a search asks for the same again.
        self._grouped: dict[int, list[int]] = {}
        self._parted: dict[int, list[int]] = {}
        self._lines: dict[int, int] = {}

    def mask(self, units: Iterable[Unit]) -> int:
        """The subset of some units.

        Raises:
            ValueError: one of them is not in the difference, or a line of a hunk that was not split.
        """
        whole = 0
        for unit in units:
            if unit not in self._bits:
                raise ValueError(f"{unit} is no unit of this difference")
            whole |= self._bits[unit]
        return whole

    def units(self, mask: int) -> frozenset[Unit]:
        """The units of a subset."""
        return frozenset(self._units[place] for place in _places(mask))

    def canonical(self, mask: int) -> int:
        """The same subset, with a whole hunk instead of all of its lines."""
        for hunk, lines in self._lines.items():
            if mask & lines == lines:
                mask = mask & ~lines | hunk
        return mask

    def files(self, mask: int) -> list[int]:
        """A subset's parts by file, the file with the likeliest unit first."""
        if mask not in self._grouped:
            found: dict[str, int] = {}
            for place in _places(mask):
                path = self._units[place].path
                found[path] = found.get(path, 0) | 1 << place
            self._grouped[mask] = list(found.values())
        return self._grouped[mask]

    def hunks(self, mask: int) -> list[int]:
        """A subset's parts by hunk, the likeliest first; lines of a split hunk go together."""
        if mask not in self._parted:
            found: dict[int, int] = {}
            for place in _places(mask):
                home = self._homes[place]
                found[home] = found.get(home, 0) | 1 << place
            self._parted[mask] = [found[home] for home in sorted(found)]
        return self._parted[mask]

    def lines(self, mask: int) -> list[int]:
        """The single units of a subset, in the order of hunks and then of lines."""
        return [1 << place for part in self.hunks(mask) for place in _places(part)]

    def split(self, hunk: int) -> tuple[int, list[list[int]]]:
        """All lines of a hunk as one subset, and what to try to leave out of it, in layers; none where it does not
        split."""
        if hunk not in self._layers:
            self._layers[hunk] = self._split_new(hunk)
        return self._lines.get(hunk, hunk), self._layers[hunk]

    def _split_new(self, hunk: int) -> list[list[int]]:
        layers = self._split(self._units[_first(hunk)])
        for unit in sorted(frozenset[Unit]().union(*(group for layer in layers for group in layer))):
            self._bits[unit] = 1 << len(self._units)
            self._units.append(unit)
            self._homes.append(_first(hunk))
            self._lines[hunk] = self._lines.get(hunk, 0) | self._bits[unit]
        return [[self.mask(group) for group in layer] for layer in layers]


def _first(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _places(mask: int) -> list[int]:
    """The places of a subset's bits, ascending."""
    digits = bin(mask)[:1:-1]
    found = []
    place = digits.find("1")
    while place >= 0:
        found.append(place)
        place = digits.find("1", place + 1)
    return found
