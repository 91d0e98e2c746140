# SPDX-License-Identifier: Apache-2.0
"""Changing the text of a pins file: what a person wrote there, comments included, stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from packaging.version import Version
from tomlkit.items import AoT, Table

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
        array.insert(place, _release(pin))
    return _spaced(document)


def set_values(text: str, values: Mapping[Version, Mapping[str, Any]]) -> str:
    """Set keys of releases that are there; a value None removes the key."""
    document = tomlkit.parse(text)
    for table in _array(document, "release"):
        for key, value in values.get(Version(str(table["version"])), {}).items():
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
    return _spaced(document)


def set_groups(text: str, groups: Sequence[EnvironmentGroup]) -> str:
    """Replace the environment groups."""
    document = tomlkit.parse(text)
    array = _array(document, "environment")
    array.clear()
    for group in groups:
        table = tomlkit.table()
        table.update({"name": group.name, "first": str(group.first), "last": str(group.last), "lock": group.lock})
        array.append(table)
    return _spaced(document)


def _spaced(document: tomlkit.TOMLDocument) -> str:
    """The document's text with one blank line above each table."""
    for name in ("environment", "release"):
        # tomlkit writes an empty array as `name = []`, above everything, and cannot fill it again.
        if name in document and not document[name]:
            document.remove(name)
    lines: list[str] = []
    for line in tomlkit.dumps(document).splitlines():
        if line.startswith("[[") and lines and lines[-1] != "":
            lines.append("")
        if line or (lines and lines[-1] != ""):
            lines.append(line)
    return "\n".join(lines) + "\n"
