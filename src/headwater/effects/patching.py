# SPDX-License-Identifier: Apache-2.0
"""Applying a series inside the mirror, without checking anything out.

On its base a series must apply as it stands. Onto anything else each patch is carried by a three-way merge against
that base, and never by searching for a place where its context happens to fit: `cache_utils.py` is full of look-alike
classes.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from email.utils import parseaddr
from pathlib import Path

from headwater.core.definitions import touched_definitions
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.series import Patch
from headwater.effects.git import GitDir, GitFailed
from headwater.effects.workspace import Cache, Series


@dataclass(frozen=True)
class Applied:
    """A patched revision: its commit in the mirror, whose parents are the patches below it, and the patches."""

    commit: str
    patches: tuple[Patch, ...]


def apply_series(
    cache: Cache, git: GitDir, series: Series, base: str, target: str, drop: Collection[str] = ()
) -> Applied:
    """Apply `series`, written against the commit `base`, to the commit `target`, leaving out the patches `drop`.

    Raises:
        PatchFailed: naming the first patch that does not apply, and why.
        BadInput: `base` has another tree than the series says.
    """
    seen = git("rev-parse", f"{base}:src/{_package(git, base)}")
    if seen != series.file.base_tree:
        raise BadInput(
            f"patches/{series.name}/series names {series.file.base} with tree {series.file.base_tree}, and that "
            f"release has tree {seen}"
        )
    steps = _apply_to_base(cache, git, series, base)
    commit = target
    kept = tuple(patch for patch in series.patches if patch.file not in drop)
    for patch, before, after in zip(series.patches, [base, *steps], steps, strict=False):
        if patch in kept:
            commit = after if commit == before else _carry(git, series, patch, before, after, commit)
    return Applied(commit, kept)


def _package(git: GitDir, commit: str) -> str:
    return git("ls-tree", "--name-only", f"{commit}:src").splitlines()[0]


def _apply_to_base(cache: Cache, git: GitDir, series: Series, base: str) -> list[str]:
    """The commits of the patches on the base, in order."""
    commits: list[str] = []
    with cache.building("series") as folder:
        index, work = folder / "index", folder / "work"
        work.mkdir()
        git("read-tree", base, index=index)
        for patch in series.patches:
            path = folder / "patch"
            path.write_bytes(patch.content)
            _apply_one(git, series, patch, path, index, work)
            tree = git("write-tree", index=index)
            commits.append(_commit(git, folder, patch, tree, commits[-1] if commits else base))
    return commits


def _apply_one(git: GitDir, series: Series, patch: Patch, path: Path, index: Path, work: Path) -> None:
    try:
        said = git.words("apply", "--cached", "--verbose", "--whitespace=nowarn", path, index=index, work_tree=work)
    except GitFailed as error:
        words = [line.removeprefix("error: ") for line in error.stderr.splitlines() if line.strip()]
        raise PatchFailed(
            f"patch {patch.file} of series {series.name} does not apply to its base {series.file.base}: "
            f"{'; '.join(words).replace(str(path), patch.file)}"
        ) from error
    # git apply looks for another place where a hunk fits, and in a file of look-alikes it finds one.
    if moved := re.search(r"Hunk #(\d+) succeeded at .*offset.*", said):
        raise PatchFailed(
            f"patch {patch.file} of series {series.name} does not apply to its base {series.file.base} as it stands: "
            f"{moved[0]}; correct the line numbers of its hunk {moved[1]}"
        )


def _commit(git: GitDir, folder: Path, patch: Patch, tree: str, parent: str) -> str:
    message = folder / "message"
    message.write_text(f"{patch.subject}\n\n{patch.body}\n", encoding="utf-8")
    name, address = parseaddr(patch.author)
    who = {"GIT_AUTHOR_NAME": name or address, "GIT_AUTHOR_EMAIL": address, "GIT_AUTHOR_DATE": patch.date}
    return git("commit-tree", "-p", parent, "-F", message, tree, environ=who)


def _carry(git: GitDir, series: Series, patch: Patch, before: str, after: str, onto: str) -> str:
    """The commit of a patch, given as the step from `before` to `after`, on top of `onto`: git cherry-pick's merge, on
    synthetic commits, since git 2.39's merge-tree takes no merge base."""
    base = git("commit-tree", "-m", "base", f"{before}^{{tree}}")
    ours = git("commit-tree", "-m", "ours", "-p", base, f"{onto}^{{tree}}")
    theirs = git("commit-tree", "-m", "theirs", "-p", base, f"{after}^{{tree}}")
    try:
        tree = git("merge-tree", "--write-tree", ours, theirs).splitlines()[0]
    except GitFailed as error:
        if error.status != 1:
            raise
        raise PatchFailed(
            f"patch {patch.file} of series {series.name} conflicts when it is carried from {series.file.base} by a "
            f"three-way merge, in {_conflicting_files(error.output)}"
        ) from error
    _check_places(git, series, patch, (before, after), (onto, tree))
    who = git("log", "-1", "--format=%an%n%ae%n%aI", after).splitlines()
    environ = dict(zip(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"), who, strict=True))
    message = git("log", "-1", "--format=%B", after)
    return git("commit-tree", "-p", onto, "-m", message, tree, environ=environ)


def _check_places(git: GitDir, series: Series, patch: Patch, step: tuple[str, str], carried: tuple[str, str]) -> None:
    """Where a release has put look-alike classes in another order, a merge by lines may take one for the other: what
    is touched must have the same name as on the base."""
    for path in filter(None, git("diff", "--name-only", "-z", *carried).split("\0")):
        if not path.endswith(".py"):
            continue
        try:
            wanted, seen = (touched_definitions(*(_text(git, tree, path) for tree in pair)) for pair in (step, carried))
        except SyntaxError as error:
            raise PatchFailed(f"patch {patch.file} of series {series.name} leaves {path} broken: {error}") from error
        if elsewhere := sorted(seen - wanted):
            raise PatchFailed(
                f"patch {patch.file} of series {series.name} is misplaced when it is carried from {series.file.base}: "
                f"in {path} it would change {', '.join(name or 'the module' for name in elsewhere)}, and on its base "
                f"it changes {', '.join(name or 'the module' for name in sorted(wanted)) or 'nothing'}"
            )


def _text(git: GitDir, tree: str, path: str) -> str:
    try:
        return read_file(git, tree, path).decode("utf-8", "replace")
    except GitFailed:
        return ""


def _conflicting_files(output: str) -> str:
    """The files that `git merge-tree` names as in conflict."""
    files = re.findall(r"(?m)^[0-7]{6} [0-9a-f]{40,64} [123]\t(.+)$", output)
    return ", ".join(dict.fromkeys(files)) or output.strip()


def commit_tree(cache: Cache, git: GitDir, package: str, tree: str) -> str:
    """A commit whose only content is `tree`, as `src/<package>`: what a folder of a person's is patched as."""
    with cache.building("commit") as folder:
        index, work = folder / "index", folder / "work"
        work.mkdir()
        git("read-tree", f"--prefix=src/{package}/", tree, index=index, work_tree=work)
        return git("commit-tree", "-m", f"tree {tree}", git("write-tree", index=index))


def read_file(git: GitDir, commit: str, path: str) -> bytes:
    """The content of a file of a commit."""
    return git.raw("cat-file", "blob", f"{commit}:{path}")
