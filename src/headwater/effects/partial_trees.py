# SPDX-License-Identifier: Apache-2.0
"""Trees between two trees: their difference, read from the mirror, and what a subset of it makes, for a probe each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial

from headwater.core.changesets import Changeset, TreeFile, read_changeset
from headwater.effects.git import GitDir
from headwater.effects.merging import Bench
from headwater.effects.trees import Tree, Trees
from headwater.effects.workspace import Cache


class PartialTrees:
    """The trees between the library trees `old` and `new`. Paths are named as in manifests: `<package>/...`."""

    def __init__(self, cache: Cache, git: GitDir, trees: Trees, package: str, old: str, new: str) -> None:
        self._cache, self._git, self._trees, self._package = cache, git, trees, package
        self._old, self._new = old, new
        self._blobs: dict[bytes, str] = {}

    def difference(self) -> Changeset:
        """Everything that differs, in hunks without context."""
        sides = (f"--src-prefix=a/{self._package}/", f"--dst-prefix=b/{self._package}/")
        diff = self._git.raw("diff", "-U0", "--no-renames", "--no-color", "--full-index", *sides, self._old, self._new)
        listed = self._git("diff", "--name-only", "--no-renames", "-z", self._old, self._new).split("\0")
        paths = [path for path in listed if path]
        return read_changeset(diff, self._contents(self._old, paths), self._contents(self._new, paths))

    def _contents(self, tree: str, paths: Sequence[str]) -> dict[str, bytes]:
        with self._cache.building("difference") as folder:
            found = Bench(self._git, folder).contents(tree, paths)
        return {f"{self._package}/{path}": content for path, content in found.items()}

    def make(self, files: dict[str, TreeFile | None]) -> str:
        """The id of the old tree with some files changed, made in the mirror."""
        self._write_blobs([file.content for file in files.values() if file is not None])
        lines = [self._index_line(path, file) for path, file in files.items()]
        with self._cache.building("partial") as folder, tempfile.TemporaryFile() as asked:
            asked.write(b"".join(lines))
            asked.seek(0)
            index = folder / "index"
            self._git("read-tree", self._old, index=index)
            self._git("update-index", "-z", "--index-info", index=index, stdin=asked)
            return self._git("write-tree", index=index)

    def _index_line(self, path: str, file: TreeFile | None) -> bytes:
        name = path.removeprefix(f"{self._package}/").encode("utf-8", "surrogateescape")
        if file is None:
            return b"0 " + b"0" * 40 + b"\t" + name + b"\0"
        return f"{file.mode} {self._blobs[file.content]}\t".encode() + name + b"\0"

    def _write_blobs(self, contents: list[bytes]) -> None:
        """Write contents that are not known yet, all in one call."""
        new = list(dict.fromkeys(content for content in contents if content not in self._blobs))
        if not new:
            return
        with self._cache.building("blobs") as folder, tempfile.TemporaryFile() as names:
            for number, content in enumerate(new):
                (folder / str(number)).write_bytes(content)
                names.write(f"{folder / str(number)}\n".encode())
            names.seek(0)
            ids = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).split()
        self._blobs.update(zip(new, ids, strict=True))

    def passing(self, tree: str) -> Callable[..., Tree]:
        """What lays a tree out that is not kept: `let_go` takes it away after its verdict."""
        return partial(self._trees.ensure, tree)

    def let_go(self, tree: str) -> None:
        """Take a laid-out tree away; the old and the new one stay, and one that another process probes on: that takes
        it away itself."""
        if tree not in (self._old, self._new):
            self._trees.let_go(tree)

    def patch_of(self, tree: str) -> bytes:
        """The difference from the old tree to `tree` with context, under the paths of the upstream repository."""
        sides = (f"--src-prefix=a/src/{self._package}/", f"--dst-prefix=b/src/{self._package}/")
        return self._git.raw("diff", "--no-renames", "--no-color", "--full-index", "--binary", *sides, self._old, tree)
