# SPDX-License-Identifier: Apache-2.0
"""Checkouts: git work trees of the mirror, for people. Nothing that is there is ever overwritten."""

from __future__ import annotations

from pathlib import Path

from headwater.core.errors import BadInput
from headwater.effects.git import GitDir
from headwater.effects.workspace import Cache


def lay_out_checkout(git: GitDir, cache: Cache, target: Path, commit: str) -> bool:
    """Lay out `commit` at `target`; True where a checkout was there already, which is left as it is.

    Raises:
        BadInput: something that is no checkout of this mirror lies there.
    """
    target = target.parent.resolve() / target.name  # git names a checkout by its real path
    with cache.lock("checkouts"):
        git("worktree", "prune")
        if str(target) in checkouts_of(git, cache):
            return True
        if target.exists() or target.is_symlink():
            raise BadInput(f"{target} is there and is no checkout of this workspace's mirror; move it away first")
        git("worktree", "add", "--quiet", "--detach", target, commit)
    return False


def checkouts_of(git: GitDir, cache: Cache) -> set[str]:
    """The folders of all checkouts of the mirror that are still there."""
    if not cache.mirror.is_dir():
        return set()
    lines = git("worktree", "list", "--porcelain").splitlines()
    folders = {line.removeprefix("worktree ") for line in lines if line.startswith("worktree ")}
    return {folder for folder in folders - {str(cache.mirror.resolve())} if Path(folder).is_dir()}
