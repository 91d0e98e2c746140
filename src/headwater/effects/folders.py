# SPDX-License-Identifier: Apache-2.0
"""Reading a checkout of a person's (`--tree PATH`) into the mirror: it is probed from there and never written to, and a
probe sees one state of it, whatever happens to it meanwhile."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from headwater.core.errors import BadInput
from headwater.core.events import Emit, Finished, Started, silent
from headwater.effects.git import GitDir
from headwater.effects.workspace import Cache

_IGNORED_FOLDERS = {"__pycache__", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


class Folders:
    """Reads folders into one mirror."""

    def __init__(self, cache: Cache, git: GitDir, package: str, emit: Emit = silent) -> None:
        self._cache, self._git, self._package, self._emit = cache, git, package, emit

    def read(self, folder: Path) -> str:
        """Read the library out of a checkout of a person's into the mirror, uncommitted edits included, and return
        its tree id. `folder` is the checkout's root, its `src`, or the library's own folder. Nothing in it is written.

        Raises:
            BadInput: the library is not there.
        """
        library = self.library_in(folder)
        what = f"reading {folder}"
        self._emit(Started(what, what))
        try:
            paths = sorted(_files_below(library))
            blobs = self._hash(library, paths)
            return self._write_tree(library, paths, blobs)
        finally:
            self._emit(Finished(what))

    def library_in(self, folder: Path) -> Path:
        """The library's own folder in a checkout: `src/<package>` below its root, or as `read` takes it."""
        places = (folder / "src" / self._package, folder / self._package, folder)
        for place in places:
            if place.name == self._package and (place / "__init__.py").is_file():
                return place.resolve()
        raise BadInput(
            f"--tree {folder}: no src/{self._package}/__init__.py there; name the root of a checkout of {self._package}"
        )

    def _hash(self, library: Path, paths: list[str]) -> list[str]:
        """Write every file as a blob, as it is: no filter, no change of line ends; their ids, in order."""
        for path in paths:
            if "\n" in path:
                raise BadInput(f"{library / path}: a line feed in a file's name")
        with tempfile.TemporaryFile() as names:
            names.write(b"".join(os.fsencode(library / path) + b"\n" for path in paths))
            names.seek(0)
            return self._git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).split()

    def _write_tree(self, library: Path, paths: list[str], blobs: list[str]) -> str:
        with self._cache.building("folder") as build, tempfile.TemporaryFile() as lines:
            for path, blob in zip(paths, blobs, strict=True):
                executable = bool((library / path).stat().st_mode & 0o111)
                mode = "100755" if executable else "100644"
                lines.write(f"{mode} {blob}\t".encode() + os.fsencode(path) + b"\0")
            lines.seek(0)
            self._git("update-index", "-z", "--index-info", index=build / "index", stdin=lines)
            return self._git("write-tree", index=build / "index")


def _files_below(library: Path) -> list[str]:
    """Every file that Python could read below `library`, relative to it: also those that git ignores, since an import
    does not. Byte code is left out: a tree makes its own."""
    found = []
    for folder, folders, files in os.walk(library, followlinks=True):
        here = Path(folder)
        folders[:] = sorted(f for f in folders if f not in _IGNORED_FOLDERS and not _leads_back(here / f))
        # An editor's lock is a dangling link, and reading a pipe would wait for ever.
        kept = [file for file in files if not file.endswith((".pyc", ".pyo")) and (here / file).is_file()]
        found += [(here.relative_to(library) / file).as_posix() for file in kept]
    return found


def _leads_back(folder: Path) -> bool:
    """Whether a folder is a link to one that it lies in."""
    return folder.is_symlink() and folder.resolve() in {parent.resolve() for parent in folder.parents}
