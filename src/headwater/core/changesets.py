# SPDX-License-Identifier: Apache-2.0
"""The difference of two trees as units that can be taken one by one: files, their hunks, the changed lines of those.

A subset of units applied to the old tree gives a tree between the two: none gives the old one, all give the new one,
and the order in which units are named never matters. Texts are bytes throughout; a line ends with a line feed, so
other line ends are part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from headwater.core.diffs import FileChange, Hunk, read_diff
from headwater.core.errors import HarnessError

_MODE = "100644"
# The number of the unit that is no hunk of text, and the line of a unit that is a whole hunk.
NO_TEXT = 0
WHOLE = -1


class Unit(NamedTuple):
    """A part of the difference: a hunk of a file, counted from 1, or one changed line of it, counted from 0.

    The removed lines are counted first, then the added ones. Hunk 0 is what is no text: a change of mode, a binary
    content, an empty file that comes or goes.
    """

    path: str
    hunk: int
    line: int = WHOLE

    @property
    def whole(self) -> Unit:
        """The hunk that it belongs to."""
        return Unit(self.path, self.hunk)


class TreeFile(NamedTuple):
    """A file of a tree: its content and its mode as git writes it (octal)."""

    content: bytes
    mode: str


@dataclass(frozen=True)
class Region:
    """What a hunk replaces: lines `old_first` up to `old_end` of the old text (from 0, the end excluded) by lines
    `new_first` up to `new_end` of the new one."""

    old_first: int
    old_end: int
    new_first: int
    new_end: int

    @property
    def removed(self) -> int:
        """The number of lines that it removes."""
        return self.old_end - self.old_first

    @property
    def added(self) -> int:
        """The number of lines that it adds."""
        return self.new_end - self.new_first


@dataclass(frozen=True)
class FileDifference:
    """What differs in one file. A side is None where the file is not there."""

    path: str
    old: TreeFile | None
    new: TreeFile | None
    regions: tuple[Region, ...]
    headers: tuple[str, ...] = ()

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Its units, whole hunks, in order."""
        moded = self.old and self.new and self.old.mode != self.new.mode
        first = NO_TEXT if moded or not self.regions else 1
        return tuple(Unit(self.path, number) for number in range(first, len(self.regions) + 1))

    @cached_property
    def every(self) -> frozenset[Unit]:
        """Its units as a set."""
        return frozenset(self.units)

    @cached_property
    def old_lines(self) -> tuple[bytes, ...]:
        """The old text's lines."""
        return split_lines(self.old.content if self.old else b"")

    @cached_property
    def new_lines(self) -> tuple[bytes, ...]:
        """The new text's lines."""
        return split_lines(self.new.content if self.new else b"")

    @property
    def is_sound(self) -> bool:
        """Whether its hunks lead from the old content to the new one."""
        every = {number: set(range(self._size(number))) for number in range(1, len(self.regions) + 1)}
        return not self.regions or self._text(every) == (self.new.content if self.new else b"")

    def with_units(self, chosen: Iterable[Unit]) -> TreeFile | None:
        """The file with some of its units, None where it is not there."""
        taken = self._taken(chosen)
        if not taken:
            return self.old
        if all(len(taken.get(unit.hunk, ())) == self._size(unit.hunk) for unit in self.units):
            return self.new
        # A file that comes is there with its first line, one that goes is there up to its last.
        side = self.new if self.old is None or (self.new and NO_TEXT in taken) else self.old
        return TreeFile(self._text(taken), side.mode if side else _MODE)

    def _taken(self, chosen: Iterable[Unit]) -> dict[int, set[int]]:
        """The lines taken of every hunk. The unit without text counts as one line."""
        taken: dict[int, set[int]] = {}
        for _path, hunk, line in chosen:
            lines = taken.setdefault(hunk, set())
            lines.update(range(self._size(hunk)) if line == WHOLE else (line,))
        return taken

    def _size(self, hunk: int) -> int:
        return 1 if hunk == NO_TEXT else self.regions[hunk - 1].removed + self.regions[hunk - 1].added

    def _text(self, taken: Mapping[int, set[int]]) -> bytes:
        kept: list[bytes] = []
        at = 0
        for number, region in enumerate(self.regions, 1):
            kept += self.old_lines[at : region.old_first]
            at = region.old_end
            lines = taken.get(number, ())
            removed = self.old_lines[region.old_first : region.old_end]
            added = self.new_lines[region.new_first : region.new_end]
            kept += [line for place, line in enumerate(removed) if place not in lines]
            kept += [line for place, line in enumerate(added, region.removed) if place in lines]
        kept += self.old_lines[at:]
        return _joined(kept)


def split_lines(content: bytes) -> tuple[bytes, ...]:
    """A text's lines, each with its line feed where it has one."""
    *lines, last = content.split(b"\n")
    return (*(line + b"\n" for line in lines), *([last] if last else []))


def _joined(lines: list[bytes]) -> bytes:
    """A text of lines. One that had no line feed, as the last of its side, gets one where others follow."""
    return b"".join([line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]] + lines[-1:])


@dataclass(frozen=True)
class Changeset:
    """The difference of two trees, file by file, sorted by path."""

    files: tuple[FileDifference, ...]
    # What was made before, by path and chosen units: the searches ask for the same again and again.
    _made: dict[tuple[str, frozenset[Unit]], TreeFile | None] = field(default_factory=dict, repr=False, compare=False)
    _digests: dict[tuple[str, frozenset[Unit]], str] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def by_path(self) -> dict[str, FileDifference]:
        """The files by their paths."""
        return {file.path: file for file in self.files}

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Every unit, whole hunks, sorted."""
        return tuple(unit for file in self.files for unit in file.units)

    def region(self, unit: Unit) -> Region | None:
        """What a unit's hunk replaces, None where it is no text."""
        return None if unit.hunk == NO_TEXT else self.by_path[unit.path].regions[unit.hunk - 1]

    def lines(self, unit: Unit) -> tuple[Unit, ...]:
        """The changed lines of a hunk as units; none where it is no text."""
        region = self.region(unit)
        return () if region is None else tuple(Unit(*unit[:2], n) for n in range(region.removed + region.added))

    def size(self, unit: Unit) -> int:
        """The number of changed lines in a unit; 1 for what is no text."""
        return 1 if unit.line != WHOLE else max(1, len(self.lines(unit)))

    def header(self, unit: Unit) -> str:
        """A hunk's header as git writes it, empty for what is no text."""
        return "" if unit.hunk == NO_TEXT else self.by_path[unit.path].headers[unit.hunk - 1]

    def applied(self, subset: Iterable[Unit]) -> dict[str, TreeFile | None]:
        """What a subset makes of the files that it touches: content and mode, or None for a file that is not there.
        Every other file is as in the old tree."""
        return {path: self.made(path, chosen) for path, chosen in sorted(grouped(subset).items())}

    def made(self, path: str, chosen: frozenset[Unit]) -> TreeFile | None:
        """One file with some of its units."""
        if (path, chosen) not in self._made:
            self._made[path, chosen] = self.by_path[path].with_units(chosen)
        return self._made[path, chosen]

    def key(self, subset: Iterable[Unit]) -> str:
        """A digest of what a subset makes: equal for subsets that give the same tree."""
        whole = hashlib.sha256()
        for path, chosen in sorted(grouped(subset).items()):
            if (path, chosen) not in self._digests:
                file = self.made(path, chosen)
                same = file == self.by_path[path].old
                self._digests[path, chosen] = "" if same else _digest(file)
            if self._digests[path, chosen]:
                name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
                whole.update(f"{name} {self._digests[path, chosen]}\n".encode())
        return whole.hexdigest()


def _digest(file: TreeFile | None) -> str:
    return "gone" if file is None else f"{file.mode} {hashlib.sha256(file.content).hexdigest()}"


def grouped(subset: Iterable[Unit]) -> dict[str, frozenset[Unit]]:
    """Units by path."""
    found: dict[str, list[Unit]] = {}
    for unit in subset:
        found.setdefault(unit.path, []).append(unit)
    return {path: frozenset(units) for path, units in found.items()}


def read_changeset(diff: bytes, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Changeset:
    """Read the output of `git diff -U0 --no-renames` with the contents of the files that it names, on either side.

    Raises:
        BadInput: as `read_diff`.
        HarnessError: the diff and the contents do not belong together.
    """
    files = [_difference(change, old, new) for change in read_diff(diff, "the difference of the two trees")]
    paths = [file.path for file in files]
    if len(set(paths)) != len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise HarnessError(f"the difference names {twice} twice; it must be made with --no-renames")
    return Changeset(tuple(sorted(files, key=lambda file: file.path)))


def _difference(change: FileChange, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> FileDifference:
    try:
        before = None if change.old is None else TreeFile(old[change.old], (*change.modes, _MODE)[0])
        after = None if change.new is None else TreeFile(new[change.new], (*change.modes[-1:], _MODE)[0])
    except KeyError as error:
        raise HarnessError(f"the difference names {error.args[0]}, of which there is no content") from error
    if change.old is not None and change.new is not None and change.old != change.new:
        raise HarnessError(f"the difference renames {change.old}; it must be made with --no-renames")
    regions = tuple(map(_region, () if change.binary else change.hunks))
    file = FileDifference(change.path, before, after, regions, tuple(hunk.header for hunk in change.hunks))
    if not file.is_sound:
        raise HarnessError(f"the difference of {change.path} does not lead from its old content to its new one")
    return file


def _region(hunk: Hunk) -> Region:
    # Without lines on a side, git names the line before the place.
    old = hunk.old_start - (1 if hunk.old_count else 0)
    new = hunk.new_start - (1 if hunk.new_count else 0)
    return Region(old, old + hunk.old_count, new, new + hunk.new_count)
