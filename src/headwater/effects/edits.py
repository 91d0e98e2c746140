# SPDX-License-Identifier: Apache-2.0
"""What a person has edited in a work tree and not committed, as a git tree, without touching their index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.core.errors import BadInput
from headwater.effects.git import GitFailed
from headwater.effects.quarantine import Quarantine
from headwater.effects.work_tree import WorkTree


@dataclass(frozen=True)
class Edits:
    """The work tree as it is, as a git tree in the quarantine; the files that differ from HEAD; and the files below
    `src` and `tests` that git neither tracks nor ignores, which are left out."""

    tree: str
    paths: tuple[str, ...]
    left_out: tuple[str, ...]


def read_edits(tree: WorkTree, quarantine: Quarantine, add: Sequence[Path]) -> Edits:
    """Read the edits: of every tracked file as it lies in the work tree, staged or not, and the new files `add`.

    A new file is never taken by itself, as quilt and StGit do it: what lies about in a tree is rarely meant.

    Raises:
        BadInput: the index has conflicts, or a path to add is no file of the tree.
    """
    if conflicts := tree.git("ls-files", "-u", "-z"):
        paths = sorted({line.partition("\t")[2] for line in conflicts.split("\0") if line})
        raise BadInput(f"--tree {tree.path}: {', '.join(paths)} is in conflict; resolve that first")
    index = quarantine.bench.folder / "edited"
    if tree.index.is_file():
        tree.copy_index(index)
    tree.git("add", "--update", "--ignore-errors", index=index, environ=quarantine.environ)
    for path in add:
        try:
            tree.git(
                "add",
                "--",
                _inside(tree, path),
                index=index,
                environ={**quarantine.environ, "GIT_LITERAL_PATHSPECS": "1"},
            )
        except GitFailed as error:
            raise BadInput(f"--add {path}: {error.stderr}") from error
    edited = tree.git("write-tree", index=index, environ=quarantine.environ)
    differing = quarantine.bench.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", tree.head(), edited)
    others = tree.git("ls-files", "--others", "--exclude-standard", "-z", "--", "src", "tests", index=index)
    return Edits(edited, _listed(differing), _listed(others))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split("\0") if part)


def _inside(tree: WorkTree, path: Path) -> str:
    """A path as git names it: below the root, whether it was given from there or from the current folder."""
    for place in (path.absolute(), tree.path / path):
        whole = place.parent.resolve() / place.name
        if whole.is_relative_to(tree.path) and whole.exists():
            if whole.is_dir() and not whole.is_symlink():
                raise BadInput(f"--add {path} is a folder; name each file of it that is meant")
            return whole.relative_to(tree.path).as_posix()
    raise BadInput(f"--add {path}: no such file in {tree.path}")
