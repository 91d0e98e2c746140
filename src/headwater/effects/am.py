# SPDX-License-Identifier: Apache-2.0
"""What `git am` itself makes of patch files, in a repository that goes away: what a maintainer runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from headwater.core.errors import PatchFailed
from headwater.effects.git import GitDir, GitFailed, init_bare


def run_am(
    folder: Path, repositories: Sequence[GitDir], onto: str, patches: Sequence[Path], library: str
) -> list[tuple[str, str]]:
    """Run `git am --keep-cr` on a commit, in a new repository in `folder` that borrows the objects of `repositories`;
    after each patch the ids of the whole tree, and of the folder `library` in it.

    Nothing is checked out: git takes what it needs of the index, and writes the files that a patch changes.

    Raises:
        PatchFailed: git refuses a patch; its own words say which and why.
    """
    bare, work = folder / "am.git", folder / "work"
    init_bare(bare)
    work.mkdir()
    places = "".join(f"{one.path.resolve() / 'objects'}\n" for one in repositories)
    (bare / "objects" / "info" / "alternates").write_text(places, encoding="utf-8")
    for shallow in (one.path / "shallow" for one in repositories):
        if shallow.is_file():
            (bare / "shallow").write_bytes(shallow.read_bytes())
    git = GitDir(bare)
    git("update-ref", "--no-deref", "HEAD", onto)
    git("read-tree", "HEAD", work_tree=work)
    try:
        git("am", "--quiet", "--keep-cr", "--no-3way", "--no-gpg-sign", *patches, work_tree=work)
    except GitFailed as error:
        words = " ".join(f"{error.output} {error.stderr}".replace(str(folder) + os.sep, "").split())
        raise PatchFailed(f"`git am` refuses the patches on {onto[:12]}: {words}") from error
    commits = git("rev-list", "--reverse", "--first-parent", f"{onto}..HEAD").split()
    return [(git("rev-parse", f"{one}^{{tree}}"), git("rev-parse", f"{one}:{library}")) for one in commits]
