# SPDX-License-Identifier: Apache-2.0
"""Trees: what probes run on. Named by the git id of their `src/<package>` subtree, made of links to shared files, built
aside and renamed into place, never changed afterwards.

A manifest beside each tree holds every file's blob id, size and time of change. Before a probe all files are looked at,
so that a tree that something deleted from or wrote to is noticed and built anew; what is imported is also read
against its blob id (by the child).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from headwater.core.events import Emit, Finished, Note, Started, silent
from headwater.effects.blobs import Blobs
from headwater.effects.git import GitDir
from headwater.effects.inventory import first_difference, state_below
from headwater.effects.workspace import Cache

_TREE_SPACE = 150_000_000
_SCHEMA = 1


@dataclass(frozen=True)
class Tree:
    """A tree on disk: its id, the folder that goes on sys.path, and its manifest."""

    id: str
    path: Path
    manifest: Path


class Trees:
    """The trees of one mirror."""

    def __init__(self, cache: Cache, git: GitDir, package: str, emit: Emit = silent) -> None:
        self._cache, self._git, self._package, self._emit = cache, git, package, emit
        self._blobs = Blobs(cache.blobs, git)

    def whole(self, tree_id: str) -> Tree | None:
        """A tree, if it is laid out, and every file is there, of its size and not written to since."""
        tree = self._tree(tree_id)
        return tree if fault_of(tree) is None else None

    def ensure(self, tree_id: str, distrust: bool = False) -> Tree:
        """Lay out the `src/<package>` subtree with this id, which the mirror holds, unless it is there and whole.

        One that is damaged is named and built anew; with `distrust` it is taken for damaged, and every shared file of
        it is read before it is used again.
        """
        tree = self._tree(tree_id)
        if not distrust and fault_of(tree) is None:
            return tree
        with self._cache.lock("trees"):
            fault = "a file of it has another content" if distrust else fault_of(tree)
            if fault is not None:
                self._lay_out(tree, fault)
        return tree

    def let_go(self, tree_id: str) -> None:
        """Take a laid-out tree away, unless anybody holds it: then it stays."""
        folder = self._cache.trees / tree_id
        # Under the lock, so that what is renamed is what is held, and no tree that was built anew meanwhile.
        with self._cache.building("gone") as gone, self._cache.lock("trees"), _opened(folder) as handle:
            if handle is None:
                return
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            folder.rename(gone / tree_id)

    def _tree(self, tree_id: str) -> Tree:
        folder = self._cache.trees / tree_id
        return Tree(tree_id, folder / "src", folder / "manifest.json")

    def _lay_out(self, tree: Tree, fault: str) -> None:
        damaged = tree.path.parent.exists()
        if damaged:
            self._emit(Note(f"tree {tree.id[:12]} is damaged ({fault}); building it anew", warning=True))
        else:
            self._cache.require_space(_TREE_SPACE, "laying out a tree")
        what = f"laying out tree {tree.id[:12]}"
        self._emit(Started(what, what))
        try:
            with self._cache.building("tree") as folder:
                self._build(tree.id, folder / "new", check=damaged)
                if damaged:
                    tree.path.parent.rename(folder / "old")
                tree.path.parent.parent.mkdir(parents=True, exist_ok=True)
                (folder / "new").rename(tree.path.parent)
        finally:
            self._emit(Finished(what))

    def _build(self, tree_id: str, target: Path, check: bool) -> None:
        entries = self._blobs.entries(tree_id)
        self._blobs.bring(entries, check)
        library = target / "src" / self._package
        library.mkdir(parents=True)
        for folder in sorted({os.path.dirname(entry.path) for entry in entries}):  # noqa: PTH120 - git's paths
            (library / folder).mkdir(parents=True, exist_ok=True)
        files = {}
        for entry in entries:
            place = library / entry.path
            self._blobs.link(entry, place)
            state = place.lstat()
            files[f"{self._package}/{entry.path}"] = [entry.blob, state.st_size, state.st_mtime_ns]
        manifest = {"schema": _SCHEMA, "tree": tree_id, "files": files}
        (target / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def hold(lay_out: Callable[[], Tree], holds: ExitStack) -> Tree:
    """Lay a tree out, and keep it from being let go by this process or another one until `holds` is closed.

    A lock on the tree's folder does that, which goes with its holder, however that ends.
    """
    while True:
        tree = lay_out()
        folder = tree.path.parent
        handle = holds.enter_context(_opened(folder))
        if handle is not None:
            fcntl.flock(handle, fcntl.LOCK_SH)
            # Between being laid out and being held it may have been let go, and even been laid out again.
            if folder.exists() and os.path.samestat(os.fstat(handle), folder.stat()):
                return tree


@contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """A folder, for a lock on it; None where there is none."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def fault_of(tree: Tree) -> str | None:
    """What is wrong with a tree on disk, None where every file is there, of its size and not written to since."""
    try:
        manifest = json.loads(tree.manifest.read_text(encoding="utf-8"))
        wanted = {path: (size, changed) for path, (_blob, size, changed) in manifest["files"].items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"its manifest cannot be read: {error}"
    different = first_difference(wanted, state_below(tree.path))
    return f"{different} was added, removed or written to" if different else None
