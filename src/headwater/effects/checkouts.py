# SPDX-License-Identifier: Apache-2.0
"""Checkouts: git work trees of the mirror, for people. Nothing that is there is ever overwritten."""

from __future__ import annotations

from pathlib import Path

from headwater.core.errors import BadInput
from headwater.effects.git import GitDir, GitFailed
from headwater.effects.workspace import Cache


def lay_out_checkout(git: GitDir, cache: Cache, target: Path, commit: str) -> bool:
    """Lay out `commit` at `target`; True where a checkout was there already, which is left as it is.

    Raises:
        BadInput: something that is no checkout of this mirror lies there.
    """
    target = target.parent.resolve() / target.name  # git names a checkout by its real path
    with cache.lock("checkouts"):
        if (target / ".git").is_file() and str(target) in _registered(cache):
            return True
        if target.exists() or target.is_symlink():
            raise BadInput(f"{target} is there and is no checkout of this workspace's mirror; move it away first")
        if str(target) in _registered(cache):
            # Its commits hang on this registration: one that was moved would lose them with it.
            raise BadInput(
                f"a checkout was laid out at {target} and is gone. If it was moved, run `git worktree repair` in it; "
                f"if it was deleted, `git --git-dir={cache.mirror} worktree prune` forgets it"
            )
        git("worktree", "add", "--quiet", "--detach", target, commit)
    return False


def checkouts_of(cache: Cache) -> set[str]:
    """The folders of all checkouts of the mirror that are still there."""
    return {folder for folder in _registered(cache) if Path(folder).is_dir()}


def works_of_people(git: GitDir, cache: Cache) -> list[str]:
    """What people would lose with the mirror: checkouts that are there, branches and stashes."""
    if not cache.mirror.is_dir():
        return []
    try:
        refs = git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/stash").splitlines()
    except GitFailed:
        refs = []  # No repository any more: what is left of checkouts still shows below.
    return [*sorted(checkouts_of(cache)), *refs]


def _registered(cache: Cache) -> set[str]:
    """Where checkouts were laid out; read from the files (see gitrepository-layout(5), "worktrees"), which a damaged
    repository still has."""
    places = (cache.mirror / "worktrees").glob("*/gitdir")
    return {str(Path(place.read_text(encoding="utf-8").strip()).parent) for place in places}
