# SPDX-License-Identifier: Apache-2.0
"""Writing series: what belongs together is written together, also where the run is killed."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.core.errors import BadInput
from headwater.effects.files import write_atomically
from headwater.effects.series_folder import DECIDED, GONE, end_writing


def write_together(folder: Path, contents: Mapping[str, bytes], gone: Sequence[str] = ()) -> None:
    """Write files of a series, by their paths in its folder, and remove others: all of it, or nothing. What a killed
    run has decided is ended by the next one that reads the series."""
    end_writing(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as build:
        made = Path(build) / DECIDED
        made.mkdir()
        _write_all(made, contents)
        (made / GONE).write_text("".join(f"{name}\n" for name in gone), encoding="utf-8")
        made.rename(folder / DECIDED)
    end_writing(folder)


def _write_all(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        write_atomically(folder / name, content)


def write_aside(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into a folder of a person's, and nothing that is there is lost.

    Raises:
        BadInput: a file of the name is there with another content, or another patch, which `git am FOLDER/*.patch`
            would take too.
    """
    if other := next((one for one in (folder, *folder.parents) if one.exists() and not one.is_dir()), None):
        raise BadInput(f"{other} is there and is no folder; name another")
    for path in sorted(folder.glob("*.patch")) if folder.is_dir() else []:
        if contents.get(path.name) != path.read_bytes():
            raise BadInput(f"{path} is there and is another patch than would be written; name an empty folder")
    _write_all(folder, contents)


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
        _write_all(made, contents)
        made.rename(folder)
