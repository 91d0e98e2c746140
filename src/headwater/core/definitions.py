# SPDX-License-Identifier: Apache-2.0
"""Which definitions of a module a change touches: the referee of where a carried patch has landed."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def touched_definitions(before: Iterable[str], after: Iterable[str]) -> set[str]:
    """The qualified names of what differs between two sets of texts: "Layer.update", "Layer", and "" for a module
    itself.

    A definition's own statements count, not those of the definitions inside it. What only went from one text to
    another, as where a file is renamed, does not differ.

    Raises:
        SyntaxError: one of them is not valid Python.
    """
    old, new = (sum(map(_definitions, texts), Counter[tuple[str, bytes]]()) for texts in (before, after))
    return {name for name, _content in (old - new) + (new - old)}


# A series' own texts come again with every release, and each release's with every patch.
@lru_cache(maxsize=64)
def _definitions(text: str) -> Counter[tuple[str, bytes]]:
    """Every definition by its name and the hash of its own statements. Not to be changed: it is kept."""
    found: Counter[tuple[str, bytes]] = Counter()
    waiting: list[tuple[str, ast.AST]] = [("", ast.parse(text))]
    while waiting:
        name, node = waiting.pop()
        inside = _take_definitions(node)
        found[name, hashlib.sha256(ast.dump(node).encode("utf-8", "surrogatepass")).digest()] += 1
        waiting += [(f"{name}.{child.name}".lstrip("."), child) for child in inside]
    return found


def _take_definitions(node: ast.AST) -> list[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Remove the outermost definitions inside a node, and return them."""
    taken = []
    blocks = [node]
    while blocks:
        block = blocks.pop()
        for field, value in ast.iter_fields(block):
            if not isinstance(value, list):
                continue
            taken += [child for child in value if isinstance(child, _DEFINITIONS)]
            rest = [child for child in value if not isinstance(child, _DEFINITIONS)]
            setattr(block, field, rest)
            blocks += [child for child in rest if isinstance(child, ast.AST)]
    return taken
