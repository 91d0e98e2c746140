# SPDX-License-Identifier: Apache-2.0
"""Small things with files: written whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from headwater.core.errors import BadInput


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file's content: whoever reads it sees the old or the new, never half. What is there and is no regular
    file (a device, a pipe) is written to."""
    content = content.encode("utf-8") if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.chmod(0o644)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_new(path: Path, content: str) -> None:
    """Write a file that must not be there yet, whole or not at all.

    Raises:
        BadInput: it is there.
    """
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        part = Path(folder) / path.name
        part.write_text(content, encoding="utf-8")
        try:
            # Unlike a rename, a link never takes the place of what is there.
            path.hardlink_to(part)
        except FileExistsError as error:
            raise BadInput(f"{path} is there already and is left as it is") from error


def clear_away(path: Path) -> None:
    """Remove whatever lies at a path: a file, a link, or a folder of any depth, with whatever permissions."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    path.chmod(0o700)
    while folders := _files_away(path):
        for folder in folders:
            # What lies deeper comes up here, so that no path is ever too long, and nothing recurses.
            for inner in _files_away(folder):
                inner.rename(path / f".{secrets.token_hex(8)}")
            folder.rmdir()
    path.rmdir()


def _files_away(folder: Path) -> list[Path]:
    """Remove the files of a folder; its folders, each open to us."""
    left = []
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                left.append(Path(entry.path))
                left[-1].chmod(0o700)
            else:
                Path(entry.path).unlink()
    return left


def size_of(path: Path, seen: set[tuple[int, int]] | None = None) -> int:
    """The bytes that a file, or everything below a folder, takes on disk. A file linked twice counts once, and one that
    is in `seen` (device and inode), which grows, not at all."""
    seen = set() if seen is None else seen
    below = (Path(place) / name for place, folders, files in os.walk(path) for name in (*folders, *files))
    total = 0
    for entry in (path, *below):
        try:
            state = entry.lstat()
        except FileNotFoundError:
            continue  # Another run has renamed or removed it meanwhile.
        if (state.st_dev, state.st_ino) not in seen:
            seen.add((state.st_dev, state.st_ino))
            total += state.st_blocks * 512
    return total
