# SPDX-License-Identifier: Apache-2.0
"""The files of a work tree that a move writes: each is the old or the new one at any time, and both lie beside the
journal until the move has ended, so that putting them back asks nobody."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import stat
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from headwater.core.applied import FileSides, Side
from headwater.core.errors import BadInput
from headwater.effects.work_tree import WorkTree, is_executable, mode_of


class MovedFiles:
    """The files of one move, which `token` names."""

    def __init__(self, tree: WorkTree, token: str) -> None:
        self._tree, self._token = tree, token
        self._folder = tree.state / "incoming"

    def prepare(self, changes: Sequence[FileSides]) -> tuple[FileSides, ...]:
        """Lay both versions of every file aside; the changes with their hashes."""
        found = []
        for number, change in enumerate(changes):
            old, new = change.old, change.new
            if old is not None:
                shutil.copy(self._tree.path / change.path, self._aside("old", number))
                old = replace(old, sha256=_hash_of(self._aside("old", number)))
            if new is not None:
                content = self._tree.content(change.path, new)
                self._aside("new", number).write_bytes(content)
                new = replace(new, sha256=hashlib.sha256(content).hexdigest())
            found.append(FileSides(change.path, old, new))
        return tuple(found)

    def write(self, changes: Sequence[FileSides], removable: Collection[str] | None) -> None:
        """Delete what goes, then write what comes. Folders that become empty go: those in `removable`, or all.

        Raises:
            BadInput: somebody has edited a file since it was laid aside.
        """
        for change in changes:
            if not self._has_content(change, change.old):
                raise BadInput(f"{self._tree.path / change.path} was edited meanwhile; nothing was changed")
            if change.new is None:
                path = self._tree.path / change.path
                path.unlink()
                self._tidy(path.parent, removable)
        for number, change in enumerate(changes):
            if change.new is not None:
                self._put(change, self._aside("new", number), change.new)

    def restore(self, changes: Sequence[FileSides], folders: Sequence[str]) -> list[str]:
        """Put every file back. One that is neither the old nor the new was edited by somebody: it is kept aside, and
        its copy named."""
        for change in changes:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                self._part(change).unlink()
        saved = [self._save(change) for change in changes if self.is_edited(change)]
        self._put_back(changes, folders, ())
        return saved

    def take_back(self, changes: Sequence[FileSides], folders: Sequence[str]) -> None:
        """Put every file back that is as the move wrote it; what somebody has edited stays."""
        self._put_back(changes, folders, {change.path for change in changes if self.is_edited(change)})

    def _put_back(self, changes: Sequence[FileSides], folders: Sequence[str], spared: Collection[str]) -> None:
        for change in changes:
            path = self._tree.path / change.path
            if change.old is None and change.path not in spared and stat.S_ISREG(mode_of(path) or 0):
                path.unlink()
        for folder in sorted(folders, reverse=True):
            with contextlib.suppress(OSError):
                (self._tree.path / folder).rmdir()
        for number, change in enumerate(changes):
            if change.old is not None and change.path not in spared and not self._is(change, change.old):
                self._put(change, self._aside("old", number), change.old)

    def is_edited(self, change: FileSides) -> bool:
        """Whether a file's content is neither that before nor that after."""
        return not self._has_content(change, change.old) and not self._has_content(change, change.new)

    def is_new(self, change: FileSides) -> bool:
        """Whether a file is as after the move."""
        return self._is(change, change.new)

    def _is(self, change: FileSides, side: Side | None) -> bool:
        mode = mode_of(self._tree.path / change.path) or 0
        same_mode = side is None or bool(mode & stat.S_IXUSR) == is_executable(side)
        return same_mode and self._has_content(change, side)

    def _has_content(self, change: FileSides, side: Side | None) -> bool:
        """Whether what lies there has a side's content, or is no file where that has none."""
        path = self._tree.path / change.path
        mode = mode_of(path)
        if side is None or mode is None or stat.S_ISDIR(mode):
            return side is None and (mode is None or stat.S_ISDIR(mode))
        return stat.S_ISREG(mode) and _hash_of(path) == side.sha256

    def _aside(self, side: str, number: int) -> Path:
        return self._folder / f"{side}-{number}"

    def _part(self, change: FileSides) -> Path:
        return (self._tree.path / change.path).with_name(f".headwater-{self._token}")

    def _put(self, change: FileSides, source: Path, side: Side) -> None:
        """Put a file in its place in one step. Whoever may read it may do so afterwards."""
        target, part = self._tree.path / change.path, self._part(change)
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = mode_of(target)
        part.write_bytes(source.read_bytes())
        access = stat.S_IMODE(source.stat().st_mode if mode is None else mode) & ~0o111
        part.chmod(access | (access & 0o444) >> 2 if is_executable(side) else access)
        part.replace(target)

    def _save(self, change: FileSides) -> str:
        copy = self._tree.state / "saved" / self._token / change.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(self._tree.path / change.path, copy)
        return str(copy)

    def _tidy(self, folder: Path, removable: Collection[str] | None) -> None:
        while folder != self._tree.path and not any(folder.iterdir()):
            if removable is not None and folder.relative_to(self._tree.path).as_posix() not in removable:
                return
            folder.rmdir()
            folder = folder.parent


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
