# SPDX-License-Identifier: Apache-2.0
"""Writing series: each file whole and at once, and only where its content changes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from headwater.core.errors import BadInput
from headwater.effects.files import write_atomically
from headwater.effects.series_folder import SERIES


def write_changed(folder: Path, contents: Mapping[str, bytes]) -> list[str]:
    """Write the files whose content is not what is there; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, content in contents.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            write_atomically(path, content)
            changed.append(name)
    return changed


def write_aside(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a folder of a person's, and nothing that is there is lost.

    Raises:
        BadInput: a file of the name is there with another content, or another patch, which `git am FOLDER/*.patch`
            would take too.
    """
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is there and is no folder")
    for path in sorted(folder.glob("*.patch")) if folder.is_dir() else []:
        if contents.get(path.name) != path.read_bytes():
            raise BadInput(f"{path} is there and is another patch than would be written; name an empty folder")
    write_changed(folder, contents)


def write_new_series(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the folder of a new series: all of it appears at once.

    Raises:
        BadInput: a folder of the name is there.
    """
    if folder.exists():
        raise BadInput(f"{folder} is there already; name another series, or remove it")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as build:
        made = Path(build) / folder.name
        write_changed(made, contents)
        made.rename(folder)


def write_series_text(folder: Path, text: str) -> None:
    """Write a `series` file."""
    write_changed(folder, {SERIES: text.encode("utf-8")})
