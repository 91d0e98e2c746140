# SPDX-License-Identifier: Apache-2.0
"""Carrying between the mirror and a person's repository: git sees the objects of both, and writes new ones into a
folder that goes away. Only what belongs to the commits that a tree is moved to is handed over, so that neither
repository ever refers to an object that only the other has."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headwater.effects.git import GitDir
from headwater.effects.merging import Bench
from headwater.effects.work_tree import WorkTree
from headwater.effects.workspace import Cache


@dataclass(frozen=True)
class Quarantine:
    """A bench on which both repositories' objects lie, by the mirror's settings. `environ` makes any git command write
    its objects there."""

    bench: Bench
    environ: Mapping[str, str]

    def hand_over(self, tree: WorkTree, commits: Sequence[str]) -> None:
        """Give the repository of a tree these commits, each after its parent, which it has or gets."""
        ids: list[str] = []
        for commit in commits:
            ids += [commit, self.bench.tree_of(commit), *self._new_below(commit)]
        if not ids:
            return
        with tempfile.TemporaryFile() as wanted, tempfile.TemporaryFile() as pack:
            wanted.write("".join(f"{one}\n" for one in dict.fromkeys(ids)).encode())
            wanted.seek(0)
            pack.write(self.bench.git.raw("pack-objects", "-q", "--stdout", stdin=wanted))
            pack.seek(0)
            tree.git("unpack-objects", "-q", stdin=pack)

    def _new_below(self, commit: str) -> list[str]:
        """The trees and files that a commit has and its parent has not, at their paths."""
        raw = self.bench.git(
            "diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev", f"{commit}^", commit
        )
        heads = [head.removeprefix(":").split() for head in raw.split("\0")[:-1:2]]
        return [new for _old_mode, new_mode, _old, new, _status in heads if int(new_mode, 8)]


@contextmanager
def quarantine(cache: Cache, mirror: GitDir, tree: WorkTree) -> Iterator[Quarantine]:
    """A quarantine, which ends with the block."""
    with cache.building("quarantine") as folder:
        (folder / "objects").mkdir()
        environ = {
            "GIT_OBJECT_DIRECTORY": str(folder / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{_quoted(mirror.path / 'objects')}:{_quoted(tree.objects)}",
        }
        yield Quarantine(Bench(GitDir(mirror.path, environ), folder), environ)


def _quoted(path: Path) -> str:
    """A path as git reads it in a list; see git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES."""
    text = str(path)
    if ":" not in text and not text.startswith('"'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
