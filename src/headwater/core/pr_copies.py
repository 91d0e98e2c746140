# SPDX-License-Identifier: Apache-2.0
"""Edits that upstream's tools would take back: of files that are generated from a modular one, and of definitions that
are kept as copies of others (`# Copied from`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_GENERATED = re.compile(r"This file was automatically generated from (?P<source>\S+?)\.?\s*$", re.MULTILINE)
_COPIED = re.compile(r"^\s*#\s*Copied from\s+(?P<source>[\w.]+)", re.MULTILINE)
_HEAD = 2000  # characters: the note stands at a file's top


@dataclass(frozen=True)
class HandEdit:
    """An edit of what is made from `source`. `name` is the definition, None for a whole file; `kept` says whether the
    source is changed too, so that the tools may come to the same."""

    path: str
    name: str | None
    source: str
    kept: bool


def hand_edits(before: Mapping[str, str], after: Mapping[str, str], package: str) -> list[HandEdit]:
    """The edits between two states of files, by path, that are made by hand where a tool makes them."""
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    found = []
    for path in sorted(changed & after.keys()):
        generated = _GENERATED.search(after[path][:_HEAD])
        if generated:
            found.append(HandEdit(path, None, generated["source"], generated["source"] in changed))
        elif path in before and path.endswith(".py"):
            found += _edited_copies(path, before, after, package)
    return found


def _edited_copies(path: str, before: Mapping[str, str], after: Mapping[str, str], package: str) -> Iterator[HandEdit]:
    """A copy whose mark stays and whose text changes. Without the mark it is no copy any more, which is allowed."""
    was = {name: text for name, _source, text in _copies(before[path])}
    for name, source, text in _copies(after[path]):
        if name in was and was[name] != text:
            yield HandEdit(path, name, source, _changed(source, before, after, package))


def _copies(text: str) -> Iterator[tuple[str, str, str]]:
    """The definitions that are marked as copies: qualified name, what they are copied from, and their text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    lines = text.splitlines()
    for name, node in _definitions(tree, ""):
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        mark = _COPIED.match(lines[first - 2]) if first > 1 else None
        if mark:
            yield name, mark["source"], "\n".join(lines[first - 1 : node.end_lineno])


def _definitions(
    node: ast.AST, above: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield f"{above}{inner.name}", inner
            yield from _definitions(inner, f"{above}{inner.name}.")
        else:
            yield from _definitions(inner, above)


def _changed(source: str, before: Mapping[str, str], after: Mapping[str, str], package: str) -> bool:
    """Whether a definition, named as `package.module.Class`, differs."""
    parts = source.removeprefix(f"{package}.").split(".")
    for cut in range(len(parts) - 1, 0, -1):
        path = f"src/{package}/{'/'.join(parts[:cut])}.py"
        if path in after:
            name = ".".join(parts[cut:])
            texts = [_text_of(name, side[path]) for side in (before, after) if path in side]
            return len(texts) == 2 and texts[0] != texts[1]
    return False


def _text_of(name: str, text: str) -> str | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found = [node for known, node in _definitions(tree, "") if known == name]
    return ast.get_source_segment(text, found[0]) if found else None
