# SPDX-License-Identifier: Apache-2.0
"""What of a difference can matter to a case, and what most likely does, by what ran on either side.

Two recorded runs say which modules were loaded and which lines were executed. What was never loaded or never ran is set
aside; what ran inside functions, where the bug showed, or shares a new name with such, is tried first. None of this
is proof: the reduction proves the kept set by a probe, and takes back what was set aside.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

from headwater.core.changesets import Changeset, FileDifference, Region, TreeFile, Unit, split_lines
from headwater.core.statements import Block, Place, Statements, first_line, last_line, own_nodes
from headwater.core.syntax import Syntax

# Letters outside of ASCII count as such, whatever they are.
_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
# How many sets of hunks around a name are tried alone, each for one probe.
_THEMES = 3
# Where a definition begins that stands in no other, and where its decorators do.
_DEFINITION = re.compile(rb"@|class |def |async def ")


@dataclass(frozen=True)
class Frame:
    """A line of a traceback inside the library: path in the tree and line from 1."""

    path: str
    line: int


@dataclass(frozen=True)
class Recorded:
    """What one run of the case recorded, by the paths that the difference uses.

    `loaded` are the files of the modules that it imported, `executed` the lines (from 1) that ran in each, imports
    included, and `frames` where its failure came from.
    """

    loaded: frozenset[str] = frozenset()
    executed: Mapping[str, frozenset[int]] = field(default_factory=dict)
    frames: Sequence[Frame] = ()


class Rank(IntEnum):
    """How much speaks for a unit, from nothing to most."""

    SET_ASIDE = 0
    NOT_JUDGED = 1
    IMPORTED = 2
    RAN_AT_IMPORT = 3
    RAN_WHEN_CALLED = 4
    IN_FRAME = 5


@dataclass(frozen=True)
class Likely:
    """How a reduction begins.

    `kept` is what was loaded and ran; `cores` are subsets of it that may do alone, the smallest first; `order` holds
    every unit, the likeliest first.
    """

    kept: frozenset[Unit]
    cores: tuple[frozenset[Unit], ...]
    order: tuple[Unit, ...]


def judge_units(changes: Changeset, old: Recorded, new: Recorded, syntax: Syntax) -> Likely:
    """Decide by what ran on the old side and on the new one.

    Set aside are modules that neither side loaded, and hunks of which no line belongs to a statement that ran. Kept
    without having run are files that are no modules, deleted files, hunks that only delete, and what others that are
    kept do not compile without.
    """
    ranks: dict[Unit, Rank] = {}
    names: dict[Unit, frozenset[str]] = {}
    for difference in changes.files:
        # One file at a time: the trees of all their statements together would keep the garbage collector busy.
        file = _File(difference, old, new)
        ranks |= file.ranks()
        names |= {unit: file.names(unit) for unit in difference.units if ranks[unit] > Rank.SET_ASIDE}
    kept = syntax.mended(frozenset(names), frozenset(ranks))
    framed = {frame.path for frame in (*old.frames, *new.frames)}
    called = {unit for unit in names if ranks[unit] >= Rank.RAN_WHEN_CALLED}
    at_import = {unit for unit in names if unit.path in framed and ranks[unit] >= Rank.RAN_AT_IMPORT}
    near = _linked({unit for unit in called if unit.path in framed}, names)
    far = _linked(called | near | at_import, names)
    themes = _themes({unit for unit in called if unit.path in framed}, names)
    *themes, near, far = (syntax.mended(core, kept) for core in (*themes, near, far))
    cores = [core for core in (*themes, near, far) if core and len(core) < len(kept)]
    order = _order(ranks, [near, far, kept], framed)
    return Likely(kept, tuple(dict.fromkeys(cores)), order)


def _themes(units: Iterable[Unit], names: Mapping[Unit, frozenset[str]]) -> list[frozenset[Unit]]:
    """What belongs together by its names, and may be one change among several: sets of hunks around each unit, the
    smallest first."""
    found = {_linked([unit], names) for unit in units}
    return sorted((theme for theme in found if len(theme) > 1), key=lambda theme: (len(theme), min(theme)))[:_THEMES]


def _order(ranks: Mapping[Unit, Rank], nested: Sequence[frozenset[Unit]], framed: set[str]) -> tuple[Unit, ...]:
    """The likeliest first. What is in a core stays together by file: apart, the parts of a file seldom work."""

    def key(unit: Unit) -> tuple[int, bool, int, Unit]:
        tier = sum(unit not in units for units in nested)
        return tier, unit.path not in framed, 0 if tier < 2 else -ranks[unit], unit

    return tuple(sorted(ranks, key=key))


def _linked(units: Iterable[Unit], names: Mapping[Unit, frozenset[str]]) -> frozenset[Unit]:
    """Units, with all that share a name with them which came or went with the difference, over any number of steps."""
    users: dict[str, list[Unit]] = {}
    for unit in sorted(names):
        for name in names[unit]:
            users.setdefault(name, []).append(unit)
    found = set(units)
    waiting = sorted(found)
    while waiting:
        for name in names.get(waiting.pop(), ()):
            fresh = [other for other in users.pop(name, ()) if other not in found]
            found.update(fresh)
            waiting += fresh
    return frozenset(found)


class _File:
    """What the two runs say of one file's units."""

    def __init__(self, difference: FileDifference, old: Recorded, new: Recorded) -> None:
        self.difference = difference
        path = difference.path
        self._loaded = path in old.loaded or path in new.loaded
        self._sides = [
            _Side(side, run.executed.get(path, frozenset()), [frame.line for frame in run.frames if frame.path == path])
            for side, run in ((difference.old, old), (difference.new, new))
        ]

    def ranks(self) -> dict[Unit, Rank]:
        """Every unit with its rank."""
        units = self.difference.units
        if not self.difference.path.endswith(".py") or self.difference.new is None:
            return dict.fromkeys(units, Rank.NOT_JUDGED)
        if not self._loaded:
            return dict.fromkeys(units, Rank.SET_ASIDE)
        return {unit: self._rank(unit) for unit in units}

    def _rank(self, unit: Unit) -> Rank:
        if unit.hunk == 0:
            return Rank.NOT_JUDGED
        region = self.difference.regions[unit.hunk - 1]
        rank = max(side.rank(*span) for side, span in zip(self._sides, _spans(region), strict=True))
        return max(rank, Rank.SET_ASIDE if region.added else Rank.NOT_JUDGED)

    def names(self, unit: Unit) -> frozenset[str]:
        """The identifiers in a unit that only one side of the file has."""
        if unit.hunk == 0 or not self._loaded:
            return frozenset()
        (old, new), spans = self._sides, _spans(self.difference.regions[unit.hunk - 1])
        gone = {name for name in old.names(*spans[0]) if name.encode() not in new.words}
        fresh = {name for name in new.names(*spans[1]) if name.encode() not in old.words}
        return frozenset(gone | fresh)


def _spans(region: Region) -> tuple[tuple[int, int], tuple[int, int]]:
    """A hunk's first and last line on either side, from 1; the last stands before the first where there is none."""
    return (region.old_first + 1, region.old_end), (region.new_first + 1, region.new_end)


class _Side:
    """One side of a file that a run may have loaded."""

    def __init__(self, file: TreeFile | None, executed: frozenset[int], frames: Sequence[int]) -> None:
        self._text = b"" if file is None else file.content
        self._executed = executed
        self._frames = frames
        self._parsed: dict[int, Statements | None] = {}
        self._named: dict[Block, dict[int, set[str]]] = {}

    @cached_property
    def _lines(self) -> tuple[bytes, ...]:
        return split_lines(self._text)

    @cached_property
    def _pieces(self) -> list[int]:
        """Where the text can be cut between outermost definitions: lines from 0, decorators before their definition. A
        text inside quotes may look like that; such a piece seldom parses, and then the whole is parsed."""
        found = [0]
        decorated = False
        for number, line in enumerate(self._lines):
            if _DEFINITION.match(line):
                found += [] if decorated or not number else [number]
                decorated = line.startswith(b"@")
        return [*found, len(self._lines)]

    @cached_property
    def _whole(self) -> Statements | None:
        return _statements(self._text)

    def _near(self, line: int) -> Statements | None:
        """The statements around a line. A file's pieces are parsed as they are needed, most never."""
        piece = bisect_right(self._pieces, line - 1, hi=len(self._pieces) - 1) - 1
        if piece not in self._parsed:
            first, end = self._pieces[piece : piece + 2]
            text = b"\n" * first + b"".join(self._lines[first:end])
            self._parsed[piece] = _statements(text) or self._whole
        return self._parsed[piece]

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every word of the text."""
        return frozenset(_WORD.findall(self._text))

    def rank(self, first: int, last: int) -> Rank:
        """What the run says of lines `first` to `last`."""
        if any(self._holds(line, first, last) for line in self._frames):
            return Rank.IN_FRAME
        return max((self._rank_of(line) for line in range(first, last + 1)), default=Rank.SET_ASIDE)

    def _rank_of(self, line: int) -> Rank:
        statements = self._near(line)
        if statements is None:
            return Rank.NOT_JUDGED
        place = statements.at(line)
        if place is None or not place.own & self._executed:
            return Rank.SET_ASIDE
        if place.runs_when_called:
            return Rank.RAN_WHEN_CALLED
        return Rank.IMPORTED if place.is_header else Rank.RAN_AT_IMPORT

    def _place(self, line: int) -> Place | None:
        statements = self._near(line)
        return statements.at(line) if statements else None

    def _holds(self, frame: int, first: int, last: int) -> bool:
        """Whether lines, or the place between two lines, lie in the function where a frame stands."""
        place = self._place(frame)
        if place is None:
            return False
        return first_line(place.scope) <= last and first <= last_line(place.scope)

    def names(self, first: int, last: int) -> set[str]:
        """The identifiers in lines `first` to `last`."""
        found: set[str] = set()
        for line in range(first, last + 1):
            place = self._place(line)
            found |= self._names_of(place.block).get(line, set()) if place else set()
        return found

    def _names_of(self, block: Block) -> dict[int, set[str]]:
        """The identifiers in a statement, by line. Kept: a table of thousands of lines is one statement."""
        if block not in self._named:
            by_line: dict[int, set[str]] = {}
            for node in own_nodes(block):
                by_line.setdefault(getattr(node, "lineno", 0), set()).update(_identifiers(node))
            self._named[block] = by_line
        return self._named[block]


def _statements(text: bytes) -> Statements | None:
    try:
        return Statements(text)
    except (SyntaxError, ValueError):
        return None


def _identifiers(node: ast.AST) -> set[str]:
    words = (getattr(node, name, None) for name in ("id", "attr", "name", "arg"))
    return {word for word in words if isinstance(word, str)}
