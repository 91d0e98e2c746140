# SPDX-License-Identifier: Apache-2.0
"""Changing the text of a pins file: what a person wrote there, comments included, stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from packaging.version import Version
from tomlkit.items import AoT, Comment, Table, Whitespace

from headwater.core.pins import EnvironmentGroup, IndexFile, Pin


def _array(document: tomlkit.TOMLDocument, name: str) -> AoT:
    if not isinstance(document.get(name), AoT):
        document.pop(name, None)
        document.append(name, tomlkit.aot())
    array: Any = document[name]
    return array  # type: ignore[no-any-return]


def _file(file: IndexFile) -> tomlkit.items.InlineTable:
    table = tomlkit.inline_table()
    table.update({"file": file.file, "sha256": file.sha256, "size": file.size})
    return table


def _release(pin: Pin) -> Table:
    table = tomlkit.table()
    table["version"] = str(pin.version)
    table["uploaded"] = pin.uploaded
    table["requires_python"] = pin.requires_python
    if pin.yanked is not None:
        table["yanked"] = pin.yanked
    table["wheel"] = _file(pin.wheel)
    if pin.sdist is not None:
        table["sdist"] = _file(pin.sdist)
    return table


def add_releases(text: str, pins: Sequence[Pin]) -> str:
    """Add the tables of new releases, each where its version belongs."""
    document = tomlkit.parse(text)
    array = _array(document, "release")
    for pin in pins:
        place = sum(Version(str(table["version"])) < pin.version for table in array)
        _insert(array, place, _release(pin))
    return _spaced(document)


def set_values(text: str, values: Mapping[Version, Mapping[str, Any]]) -> str:
    """Set keys of releases that are there; a value None removes the key."""
    document = tomlkit.parse(text)
    for table in _array(document, "release"):
        tail = _take_tail(table)
        for key, value in values.get(Version(str(table["version"])), {}).items():
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        _add_tail(table, tail)
    return _spaced(document)


def set_groups(text: str, groups: Sequence[EnvironmentGroup]) -> str:
    """Set the environment groups, in their order; the tables of those that are there already stay."""
    document = tomlkit.parse(text)
    array = _array(document, "environment")
    wanted = [{"name": g.name, "first": str(g.first), "last": str(g.last), "lock": g.lock} for g in groups]
    names = [group["name"] for group in wanted]
    for place in reversed(range(len(array))):
        if array[place].get("name") not in names:
            del array[place]
    for place, values in enumerate(wanted):
        if place == len(array) or array[place].get("name") != values["name"]:
            table = tomlkit.table()
            table.update(values)
            _insert(array, place, table)
        for key, value in values.items():
            if array[place].get(key) != value:
                array[place][key] = value
    while len(array) > len(wanted):
        del array[len(wanted)]
    return _spaced(document)


def _insert(array: AoT, place: int, table: Table) -> None:
    if place > 0:
        above = array[place - 1]
        _add_tail(table, _take_tail(above))
        if isinstance(above.value.body[-1][1], Comment):
            above.add(tomlkit.nl())
    array.insert(place, table)


def _take_tail(table: Table) -> list[Comment | Whitespace]:
    """Take out the comments that stand above the next table: for tomlkit they are the end of this one. Those right
    below its last key are its own."""
    body = table.value.body
    start = len(body)
    while start and body[start - 1][0] is None:
        start -= 1
    while start < len(body) and not isinstance(body[start][1], Whitespace):
        start += 1
    tail = [item for _key, item in body[start:] if isinstance(item, Comment | Whitespace)]
    del body[start:]
    return tail


def _add_tail(table: Table, tail: Sequence[Comment | Whitespace]) -> None:
    for item in tail:
        table.add(item)


def _spaced(document: tomlkit.TOMLDocument) -> str:
    """The document's text with one blank line above each table, or above the comment that stands above it."""
    for name in ("environment", "release"):
        # tomlkit writes an empty array as `name = []`, above everything, and cannot fill it again.
        if name in document and not document[name]:
            document.remove(name)
    lines: list[str] = []
    for line in tomlkit.dumps(document).splitlines():
        if line.startswith("[[") and lines and lines[-1] != "" and not lines[-1].startswith("#"):
            lines.append("")
        if line or (lines and lines[-1] != ""):
            lines.append(line)
    return "\n".join(lines) + "\n"
