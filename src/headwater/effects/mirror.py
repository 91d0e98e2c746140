# SPDX-License-Identifier: Apache-2.0
"""The mirror: a bare repository in which every release is one commit with the tree `src/<package>/...`.

Author, date and message are fixed by the pin, so commit and tree ids are the same on every machine and can be
checked against the pins. Releases are imported on demand, from the index's wheels.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from filelock import FileLock

from headwater.core.errors import HarnessError
from headwater.core.events import Emit, Finished, Note, Started, silent
from headwater.core.pins import Pin, Pins
from headwater.effects.blobs import DamagedObject
from headwater.effects.checkouts import checkouts_of
from headwater.effects.git import GitDir, GitFailed, init_bare, missing_of
from headwater.effects.index import Index
from headwater.effects.wheel_stream import write_stream
from headwater.effects.workspace import Cache

# Kept in the repository's description: a mirror of another layout is refused by name.
SCHEMA = "headwater mirror 1"
_IMPORT_SPACE = 200_000_000
# Releases that one import takes: a bound on what is unpacked at once.
_AT_ONCE = 64

# Objects of fewer are written one by one, of more as one pack.
_UNPACKED = 100
# So few releases somebody waits for: they are compressed lightly, which takes a third less time and a sixth more room.
_FEW = 5
_FAST = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.compression", "GIT_CONFIG_VALUE_0": "1"}

T = TypeVar("T")


class Holder(Protocol):
    """A repository that holds trees."""

    def objects_of(self, tree: str) -> list[str]:
        """The ids of a tree and of all folders and files below it."""

    def pack(self, objects: Sequence[str]) -> bytes:
        """A pack of exactly these objects."""


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
        return self.ensure_all([pin])[0]

    def ensure_all(self, pins: Sequence[Pin]) -> list[str]:
        """The commits of several releases; those that are not there are imported in one go, which is faster and packs
        better than one by one.

        Raises:
            HarnessError: as `ensure`.
        """
        commits = [self._present(pin) for pin in pins]
        if None in commits:
            self.prepare()
            with self._lock():
                missing = [pin for pin in pins if self._present(pin) is None]
                for start in range(0, len(missing), _AT_ONCE):
                    self._import(missing[start : start + _AT_ONCE])
            commits = [self._present(pin) for pin in pins]
        return [commit for commit in commits if commit is not None]

    def replace_if_damaged(self) -> bool:
        """Whether the mirror was damaged: then an empty one takes its place, and what is asked of it is imported anew.

        Raises:
            HarnessError: it is damaged, and checkouts, whose commits it holds, depend on it.
        """
        with self._lock():
            try:
                self.git("fsck", "--full", "--no-dangling", "--no-progress")
                return False
            except GitFailed as error:
                lines = (error.stderr or error.output).splitlines()
                fault = lines[0] if lines else f"git fsck ended with status {error.status}"
            checkouts = checkouts_of(self._cache)
            if checkouts:
                raise HarnessError(
                    f"the mirror is damaged ({fault}), and {', '.join(sorted(checkouts))} depends on it; move that "
                    "away, and `headwater cache clean` makes room for a new mirror"
                )
            self._emit(Note(f"the mirror is damaged ({fault}); importing anew what is needed", warning=True))
            with self._cache.building("mirror") as folder:
                self._cache.mirror.rename(folder / "damaged")
            self._prepare()
        return True

    def mending(self, action: Callable[..., T], *arguments: object, **named: object) -> T:
        """Do something that reads the mirror; once more on a new one, where the mirror turns out to be damaged."""
        try:
            return action(*arguments, **named)
        except (GitFailed, DamagedObject):
            if not self.replace_if_damaged():
                raise
            return action(*arguments, **named)

    def repack(self, anew: bool = False) -> None:
        """Pack everything into one file; with `anew` each object as a difference to the most similar one."""
        if not self._cache.mirror.is_dir():
            return
        what = "packing the mirror"
        self._emit(Started(what, what))
        try:
            with self._lock():
                self.git("repack", "-a", "-d", "-q", *(["-f", "--window=50", "--depth=50"] if anew else []))
                self.git("pack-refs", "--all")
        finally:
            self._emit(Finished(what))

    def prepare(self) -> None:
        """Make the repository if it is not there.

        Raises:
            HarnessError: it is there, and of another schema.
        """
        with self._lock():
            self._prepare()

    def _lock(self) -> FileLock:
        return self._cache.lock(self._cache.mirror.name)

    def take(self, tree: str, other: Holder) -> None:
        """Have a tree that another repository holds: what is missing here of its folders and files is copied, and a ref
        keeps it, so that no object of it goes or is missing.

        Raises:
            HarnessError: the other repository cannot give it.
        """
        self.prepare()
        ref = f"refs/headwater/trees/{tree}"
        with self._lock():
            if self._names(ref, tree):
                return
            if missing := missing_of(self.git, other.objects_of(tree)):
                with tempfile.TemporaryFile() as pack:
                    pack.write(other.pack(missing))
                    pack.seek(0)
                    # As git itself does: a few files by themselves, many as a pack (git-config(1), fetch.unpackLimit).
                    unpack = ["unpack-objects", "-q"] if len(missing) < _UNPACKED else ["index-pack", "--stdin"]
                    self.git(*unpack, stdin=pack)
            self.git("update-ref", ref, tree)

    def _names(self, ref: str, tree: str) -> bool:
        try:
            return self.git("rev-parse", "--verify", "--quiet", f"{ref}^{{tree}}") == tree
        except GitFailed:
            return False

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

    def _had(self, pin: Pin) -> bool:
        """Whether a release was imported once, whatever became of its objects: by the files that name it (see
        gitrepository-layout(5), "refs" and "packed-refs")."""
        packed = self._cache.mirror / "packed-refs"
        is_packed = packed.is_file() and f" {_ref(pin)}\n" in packed.read_text(encoding="utf-8")
        return is_packed or (self._cache.mirror / _ref(pin)).is_file()

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

    def _import(self, pins: Sequence[Pin]) -> None:
        """Import releases in one go. Where one is not what its pin says nothing of them is kept."""
        for pin in filter(self._had, pins):
            self._emit(Note(f"the mirror has lost {self._pins.package} {pin.version}; importing it anew", warning=True))
        self._cache.require_space(_IMPORT_SPACE * len(pins), f"importing {len(pins)} releases")
        wheels = [self._index.download(self._pins.package, pin.wheel, self._cache.wheels) for pin in pins]
        incoming = {pin: f"refs/headwater/incoming/{pin.version}" for pin in pins}
        names = str(pins[0].version) if len(pins) == 1 else f"{len(pins)} releases"
        what = f"importing {self._pins.package} {names} into the mirror"
        self._emit(Started(what, what))
        try:
            with self._cache.building("import") as folder:
                stream = folder / "stream"
                with stream.open("wb") as out:
                    write_stream(out, self._pins.package, list(zip(pins, wheels, incoming.values(), strict=True)))
                with stream.open("rb") as source:
                    words = ("fast-import", "--quiet", "--done", "--force")
                    self.git(*words, stdin=source, environ=_FAST if len(pins) < _FEW else None)
            commits = {pin: self.git("rev-parse", "--verify", ref) for pin, ref in incoming.items()}
            for pin, commit in commits.items():
                self._check(pin, commit)
            for pin, commit in commits.items():
                self.git("update-ref", _ref(pin), commit)
        finally:
            for ref in incoming.values():
                self.git("update-ref", "-d", ref)
            self._emit(Finished(what))

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
