# SPDX-License-Identifier: Apache-2.0
"""Which subsets of a difference are still Python, and how a hunk falls into statements and lines.

What does not compile is ruled out without a probe. The judgement is the running interpreter's, which may be older than
the one that a tree runs with: a file that does not compile on both of its sides is never judged.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Iterable

from headwater.core.changesets import Changeset, FileDifference, Region, Unit, grouped
from headwater.core.statements import Block, Statements, blocks_in, first_line, last_line

Layers = tuple[tuple[frozenset[Unit], ...], ...]
_TEXTS: dict[bytes, bool] = {}


def compiles(text: bytes) -> bool:
    """Whether a text is a valid Python module. Remembered by content."""
    digest = hashlib.sha256(text).digest()
    if digest not in _TEXTS:
        _TEXTS[digest] = _compiles(text)
    return _TEXTS[digest]


def _compiles(text: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<subset>", "exec", dont_inherit=True)
    # A null byte and an unknown encoding are no SyntaxError; too deep a nesting is either of the last two.
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


class Syntax:
    """Whether subsets of a changeset compile: `syntax(subset)`. Only files of which a part is taken are looked at."""

    def __init__(self, changes: Changeset) -> None:
        self._changes = changes
        self._judged: dict[tuple[str, frozenset[Unit]], bool] = {}
        self._sound: dict[str, bool] = {}

    def __call__(self, subset: Iterable[Unit]) -> bool:
        """False where a file of the subset is broken."""
        return all(self._file(path, chosen) for path, chosen in sorted(grouped(subset).items()))

    def mended(self, subset: frozenset[Unit], within: frozenset[Unit]) -> frozenset[Unit]:
        """The subset with those units of `within`, which compiles, that its broken files need to compile."""
        broken = [(path, chosen) for path, chosen in grouped(subset).items() if not self._file(path, chosen)]
        around = grouped(within)
        return subset.union(*(self._mended(path, chosen, around[path]) for path, chosen in broken))

    def _mended(self, path: str, chosen: frozenset[Unit], within: frozenset[Unit]) -> frozenset[Unit]:
        """Junker's QuickXplain over the units that are not chosen: the last one of the shortest prefix that compiles is
        needed, again and again."""
        rest = sorted(within - chosen)
        while True:
            low, high = -1, len(rest)
            while high - low > 1:
                middle = (low + high) // 2
                if self._file(path, chosen.union(rest[:middle])):
                    high = middle
                else:
                    low = middle
            if not high:
                return chosen
            chosen |= {rest[high - 1]}
            del rest[high - 1 :]

    def _file(self, path: str, chosen: frozenset[Unit]) -> bool:
        if not path.endswith(".py") or chosen == self._changes.by_path[path].every:
            return True
        if (path, chosen) not in self._judged:
            file = self._changes.made(path, chosen)
            self._judged[path, chosen] = file is None or compiles(file.content) or not self._is_sound(path)
        return self._judged[path, chosen]

    def _is_sound(self, path: str) -> bool:
        if path not in self._sound:
            file = self._changes.by_path[path]
            self._sound[path] = all(compiles(side.content) for side in (file.old, file.new) if side is not None)
        return self._sound[path]


def line_layers(changes: Changeset, unit: Unit, executed: frozenset[int] | None = None) -> Layers:
    """What to try to leave out of a hunk, in layers from coarse to fine: what does not run (comments, empty lines,
    texts that stand alone; and with `executed`, the lines that ran of the new side, new functions without one that
    did), then its statements from the outermost in, then every changed line.

    After hierarchical delta debugging (Misherghi and Su, ICSE 2006). Empty where the hunk is no text, or one line.
    """
    lines, region = changes.lines(unit), changes.region(unit)
    if region is None or len(lines) < 2:
        return ()
    layers: list[list[frozenset[Unit]]] = []
    if unit.path.endswith(".py"):
        idle: set[Unit] = set()
        unused: set[Unit] = set()
        for is_new, text, first, shift, count in _sides(changes.by_path[unit.path], region):
            nested, silent = _statements(text, first + 1, first + count)
            idle |= {lines[number - first - 1 + shift] for number in silent}
            if executed is not None and is_new:
                never = _never_called(nested, executed) - silent
                unused |= {lines[number - first - 1 + shift] for number in never}
            for depth, blocks in enumerate(nested):
                layers += [[]] if depth == len(layers) else []
                spans = [range(first_line(b) - first - 1 + shift, last_line(b) - first + shift) for b in blocks]
                layers[depth] += [frozenset(lines[n] for n in span) for span in spans]
        quiet = [frozenset(group) for group in (idle, unused) if group and len(group) < len(lines)]
        layers = [quiet, *layers]
    layers.append([frozenset([line]) for line in lines])
    return tuple(tuple(dict.fromkeys(layer)) for layer in layers if layer)


def _sides(file: FileDifference, region: Region) -> list[tuple[bool, bytes, int, int, int]]:
    """Each side, whether it is the new one: its text, the hunk's first line (from 0), the place of that among the
    hunk's lines, and how many these are."""
    old = (False, file.old.content if file.old else b"", region.old_first, 0, region.removed)
    new = (True, file.new.content if file.new else b"", region.new_first, region.removed, region.added)
    return [side for side in (old, new) if side[-1]]


def _statements(text: bytes, first: int, last: int) -> tuple[list[list[Block]], set[int]]:
    """The statements within some lines, by depth, and those of the lines that do not run."""
    try:
        statements = Statements(text)
    except (SyntaxError, ValueError):
        return [], set()
    nested = statements.within(first, last)
    silent = {line for line in range(first, last + 1) if statements.at(line) is None}
    every = [block for layer in nested for block in layer]
    # A text that is a body's only statement has to stay.
    alone = {id(inside[0]) for block in every if len(inside := list(blocks_in(block))) == 1}
    for block in every:
        if _is_text(block) and id(block) not in alone:
            silent |= set(range(first_line(block), last_line(block) + 1))
    return nested, silent


def _never_called(nested: list[list[Block]], executed: frozenset[int]) -> set[int]:
    """The lines of functions of which only the header ran."""
    found: set[int] = set()
    for block in (block for layer in nested for block in layer):
        if isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef):
            body = range(first_line(block.body[0]), last_line(block) + 1)
            found |= set() if executed.intersection(body) else set(range(first_line(block), body.stop))
    return found


def _is_text(block: Block) -> bool:
    return isinstance(block, ast.Expr) and isinstance(block.value, ast.Constant)
