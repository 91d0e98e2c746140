# SPDX-License-Identifier: Apache-2.0
"""Statements of a Python text by line: which one a line belongs to, and which lines are its own."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from headwater.core.changesets import split_lines

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
# A part of a text: a statement, or a clause of one.
Block = ast.stmt | ast.excepthandler | ast.match_case


def first_line(block: Block) -> int:
    """A block's first line, decorators included."""
    if isinstance(block, ast.match_case):
        return block.pattern.lineno
    decorators = block.decorator_list if isinstance(block, _DEFINITIONS) else []
    return min([block.lineno, *(decorator.lineno for decorator in decorators)])


def last_line(block: Block) -> int:
    """A block's last line."""
    if isinstance(block, ast.match_case):
        return last_line(block.body[-1])
    return block.end_lineno or block.lineno


def blocks_in(node: ast.AST) -> Iterator[Block]:
    """The statements and clauses directly inside a node."""
    return chain.from_iterable(getattr(node, name, ()) for name in _BLOCKS)


def own_nodes(block: Block) -> Iterator[ast.AST]:
    """A block and what is in it, without the blocks inside it."""
    waiting: list[ast.AST] = [block]
    while waiting:
        node = waiting.pop()
        yield node
        inside = {id(inner) for inner in blocks_in(node)} if isinstance(node, Block) else ()
        waiting += [child for child in ast.iter_child_nodes(node) if id(child) not in inside]


@dataclass(frozen=True)
class Place:
    """Where a line stands: the innermost statement around it, its own lines (those of no statement inside it), and the
    functions and classes around that, outermost first. A definition does not stand inside itself."""

    block: Block
    own: frozenset[int]
    around: tuple[Block, ...]

    @property
    def runs_when_called(self) -> bool:
        """Whether it is a part of a function's body."""
        return any(isinstance(block, _FUNCTIONS) for block in self.around)

    @property
    def is_header(self) -> bool:
        """Whether it is a definition's header or an import: what every import of the module executes."""
        return isinstance(self.block, (*_DEFINITIONS, ast.Import, ast.ImportFrom))

    @property
    def scope(self) -> Block:
        """The innermost function around it, else the outermost definition, else the statement itself."""
        functions = [block for block in self.around if isinstance(block, _FUNCTIONS)]
        return functions[-1] if functions else self.block


class Statements:
    """The statements of one text.

    Raises:
        SyntaxError, ValueError: it is not valid Python for the running interpreter.
    """

    def __init__(self, text: bytes) -> None:
        self.tree = ast.parse(text)
        self._lines = split_lines(text)
        self._places: dict[int, Place | None] = {}
        self._inside: dict[int, tuple[list[int], list[Block]]] = {}

    def at(self, line: int) -> Place | None:
        """The place of a line (from 1). None for what stands between statements: a comment, an empty line."""
        if line not in self._places:
            self._places[line] = self._find(line)
        return self._places[line]

    def _find(self, line: int) -> Place | None:
        around: list[Block] = []
        found: Block | None = None
        node: ast.AST = self.tree
        while (inner := self._around(node, line)) is not None:
            if isinstance(found, _DEFINITIONS):
                around.append(found)
            node = found = inner
        if found is None:
            return None
        inside = list(blocks_in(found))
        bare = self._lines[line - 1].strip() if line <= len(self._lines) else b""
        if inside and (not bare or bare.startswith(b"#")):
            return None
        taken = {number for block in inside for number in range(first_line(block), last_line(block) + 1)}
        own = frozenset(range(first_line(found), last_line(found) + 1)) - taken
        return Place(found, own, tuple(around))

    def _around(self, node: ast.AST, line: int) -> Block | None:
        """The block directly inside a node that a line belongs to."""
        if id(node) not in self._inside:
            blocks = sorted(blocks_in(node), key=first_line)
            self._inside[id(node)] = [first_line(block) for block in blocks], blocks
        firsts, blocks = self._inside[id(node)]
        place = bisect_right(firsts, line) - 1
        return blocks[place] if place >= 0 and line <= last_line(blocks[place]) else None

    def within(self, first: int, last: int) -> list[list[Block]]:
        """The blocks that lie wholly in lines `first` to `last`, by depth: the outermost ones, then those in them."""
        layers: list[list[Block]] = []
        level = list(blocks_in(self.tree))
        while level:
            whole = [b for b in level if first <= first_line(b) and last_line(b) <= last]
            layers += [whole] if whole else []
            near = [b for b in level if first_line(b) <= last and last_line(b) >= first]
            level = [inner for block in near for inner in blocks_in(block)]
        return layers
