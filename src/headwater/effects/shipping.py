# SPDX-License-Identifier: Apache-2.0
"""What Headwater ships for new workspaces, and laying one out."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from headwater.core.errors import BadInput
from headwater.core.new_workspace import in_the_way

_PACKAGE = Path(__file__).parent.parent
# A wheel has its files here; in a source tree they are where the table of pyproject.toml says.
_SHIPPED = "headwater/shipped/"
_TEMPLATES = _PACKAGE / "workspace"


def shipped_files() -> dict[str, bytes]:
    """The files that Headwater ships of its own workspace, by their places in it."""
    folder = _PACKAGE.parent / _SHIPPED
    if folder.is_dir():
        return _below(folder, "")
    root = _PACKAGE.parent.parent
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    table: dict[str, str] = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    found: dict[str, bytes] = {}
    for source, target in table.items():
        found |= _below(root / source, target.removeprefix(_SHIPPED))
    return found


def templates() -> dict[str, str]:
    """The templates of what is not shipped, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(_TEMPLATES.iterdir())}


def _below(path: Path, place: str) -> dict[str, bytes]:
    """A file, or the files of a folder, by their places; byte code is nobody's."""
    if path.is_file():
        return {place: path.read_bytes()}
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and "__pycache__" not in file.parts]
    return {"/".join(filter(None, (place, file.relative_to(path).as_posix()))): file.read_bytes() for file in files}


def lay_out(folder: Path, files: Mapping[str, bytes]) -> None:
    """Lay files out in a folder that is new or empty: made aside, then moved into it.

    Raises:
        BadInput: something lies in it, which is named, or it is no folder.
    """
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file; name a folder")
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if found := in_the_way(names):
        raise BadInput(f"{folder} is not empty: {found} would be in the way; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".headwater-init-", dir=folder) as aside:
        for place, content in files.items():
            path = Path(aside) / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if content.startswith(b"#!") else 0o644)
        for path in sorted(Path(aside).iterdir()):
            path.rename(folder / path.name)
