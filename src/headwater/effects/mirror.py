# SPDX-License-Identifier: Apache-2.0
"""The mirror: a bare repository in which every release is one commit with the tree `src/<package>/...`.

Author, date and message are fixed by the pin, so commit and tree ids are the same on every machine and can be
checked against the pins. Releases are imported on demand, from the index's wheels.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO

from filelock import FileLock

from headwater.core.errors import HarnessError
from headwater.core.events import Emit, Finished, Started, silent
from headwater.core.pins import Pin, Pins
from headwater.effects.git import GitDir, GitFailed, init_bare
from headwater.effects.index import Index
from headwater.effects.wheels import members
from headwater.effects.workspace import Cache

# Kept in the repository's description: a mirror of another layout is refused by name.
SCHEMA = "headwater mirror 1"
_IMPORT_SPACE = 200_000_000
_IDENTITY = "Headwater <headwater@invalid.example>"


class Mirror:
    """The mirror of one package. Making it, and importing, is guarded by a lock between processes."""

    def __init__(self, cache: Cache, pins: Pins, index: Index, emit: Emit = silent) -> None:
        self._cache, self._pins, self._index, self._emit = cache, pins, index, emit
        self.git = GitDir(cache.mirror)

    def ensure(self, pin: Pin) -> str:
        """The commit of a release, imported first if it is not there.

        Raises:
            HarnessError: it cannot be had, or its ids are not those of the pins; then nothing is kept.
        """
        present = self._present(pin)
        if present is not None:
            return present
        self.prepare()
        with self._lock():
            present = self._present(pin)
            return present if present is not None else self._import(pin)

    def prepare(self) -> None:
        """Make the repository if it is not there.

        Raises:
            HarnessError: it is there, and of another schema.
        """
        with self._lock():
            self._prepare()

    def _lock(self) -> FileLock:
        return self._cache.lock(self._cache.mirror.name)

    def imported(self) -> list[str]:
        """The versions that are in the mirror."""
        if not self._cache.mirror.is_dir():
            return []
        listed = self.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/headwater/releases")
        return listed.split()

    def library_tree(self, commit: str) -> str:
        """The id of the `src/<package>` subtree of a commit or tree: what a tree is named by."""
        return self.git("rev-parse", "--verify", "--quiet", f"{commit}:src/{self._pins.package}")

    def _present(self, pin: Pin) -> str | None:
        if not self._cache.mirror.is_dir():
            return None
        self._check_schema()
        try:
            commit = self.git("rev-parse", "--verify", "--quiet", f"{_ref(pin)}^{{commit}}")
        except GitFailed:
            return None
        self._check(pin, commit)
        return commit

    def _prepare(self) -> None:
        mirror = self._cache.mirror
        if mirror.is_dir():
            self._check_schema()
            return
        with self._cache.building("mirror") as folder:
            init_bare(folder / "mirror")
            (folder / "mirror" / "description").write_text(SCHEMA + "\n", encoding="utf-8")
            (folder / "mirror").rename(mirror)

    def _check_schema(self) -> None:
        description = self._cache.mirror / "description"
        found = description.read_text(encoding="utf-8").strip() if description.is_file() else "no mirror"
        if found != SCHEMA:
            raise HarnessError(
                f"{self._cache.mirror} is {found!r}, and this Headwater reads {SCHEMA!r}; `headwater cache clean` "
                "makes room for a new one"
            )

    def _import(self, pin: Pin) -> str:
        self._cache.require_space(_IMPORT_SPACE, f"importing {self._pins.package} {pin.version}")
        wheel = self._index.download(self._pins.package, pin.wheel, self._cache.wheels)
        incoming = f"refs/headwater/incoming/{pin.version}"
        what = f"importing {self._pins.package} {pin.version} into the mirror"
        self._emit(Started(what, what))
        try:
            with self._cache.building("import") as folder:
                stream = folder / "stream"
                with stream.open("wb") as out:
                    self._write_stream(out, wheel, pin, incoming)
                with stream.open("rb") as source:
                    self.git("fast-import", "--quiet", "--done", "--force", stdin=source)
            commit = self.git("rev-parse", "--verify", incoming)
            self._check(pin, commit)
            self.git("update-ref", _ref(pin), commit)
        finally:
            self.git("update-ref", "-d", incoming)
            self._emit(Finished(what))
        return commit

    def _write_stream(self, out: IO[bytes], wheel: Path, pin: Pin, ref: str) -> None:
        """Write what `git fast-import` reads; see git-fast-import(1), "Input format"."""

        def data(content: bytes) -> None:
            out.write(b"data %d\n" % len(content))
            out.write(content)
            out.write(b"\n")

        when = f"{int(pin.uploaded.timestamp())} +0000"
        out.write(f"commit {ref}\nauthor {_IDENTITY} {when}\ncommitter {_IDENTITY} {when}\n".encode())
        data(f"{self._pins.package} {pin.version}\n\nThe files of {pin.wheel.file}.\n".encode())
        count = 0
        for path, executable, content in members(wheel, self._pins.package):
            mode = "100755" if executable else "100644"
            out.write(f"M {mode} inline src/{path}\n".encode())
            data(content)
            count += 1
        if count == 0:
            raise HarnessError(f"{wheel.name} holds no folder {self._pins.package}/")
        out.write(b"\ndone\n")

    def _check(self, pin: Pin, commit: str) -> None:
        """Compare the ids with the pin's, as far as it has them."""
        tree = self.library_tree(commit)
        for name, seen, pinned in (("tree", tree, pin.tree), ("commit", commit, pin.mirror_commit)):
            if pinned is not None and seen != pinned:
                raise HarnessError(
                    f"the {name} of {self._pins.package} {pin.version} is {seen}, and the pins say {pinned}; "
                    "the mirror or the pins are damaged. `headwater cache clean` removes the mirror"
                )


def _ref(pin: Pin) -> str:
    return f"refs/headwater/releases/{pin.version}"
