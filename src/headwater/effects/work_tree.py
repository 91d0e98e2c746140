# SPDX-License-Identifier: Apache-2.0
"""A person's git work tree: a checkout of the mirror, or a clone of their own. Nothing here changes it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.core.applied import AppliedSeries, FileSides, Side, read_applied
from headwater.core.errors import BadInput
from headwater.effects.git import GitFailed, PersonalGit

_EXECUTABLE = "100755"
# What git leaves in its directory while something of several steps is under way.
_UNDER_WAY = {
    "MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "rebase-merge": "rebase",
    "rebase-apply": "rebase or git am",
}  # fmt: skip
_STATE = "headwater"


@dataclass(frozen=True)
class IndexEntry:
    """What the index has at a path. `flag` is git ls-files' letter: H for a plain entry, S for one outside a sparse
    checkout, a small letter for one assumed unchanged, M for one in conflict."""

    flag: str
    mode: str
    blob: str


@dataclass(frozen=True)
class WorkTree:
    """A work tree by its root, with its own git directory, and the directory of the repository's objects."""

    path: Path
    git: PersonalGit
    objects: Path

    @property
    def state(self) -> Path:
        """Where Headwater keeps what it remembers of the tree."""
        return self.git.path / _STATE

    @property
    def index(self) -> Path:
        """The index."""
        return self.git.path / "index"

    def copy_index(self, target: Path) -> None:
        """Copy the index with its time, by which git tells the files that it must read: one that is no older than the
        index may have been edited since (see racy-git in git's documentation)."""
        shutil.copy2(self.index, target)

    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "--verify", "HEAD^{commit}")

    def head_locks(self) -> list[Path]:
        """The files that git holds while it moves HEAD: HEAD's own, and that of the branch which HEAD names."""
        names = ["HEAD"]
        with contextlib.suppress(GitFailed):  # HEAD names no branch
            names.append(self.git("symbolic-ref", "--quiet", "HEAD"))
        return [self.path / self.git("rev-parse", "--git-path", f"{name}.lock") for name in names]

    @property
    def record(self) -> Path:
        """The file that names the applied series."""
        return self.state / "applied.json"

    def recorded(self) -> tuple[AppliedSeries, ...]:
        """The series that were applied, the newest last, as long as their commits are there: also on other branches."""
        every = read_applied(self.record.read_text("utf-8"), str(self.record)) if self.record.is_file() else ()
        return tuple(one for one in every if self.has_commit(one.after))

    def applied(self) -> tuple[AppliedSeries, ...]:
        """The series that are applied below HEAD, the newest last."""
        return tuple(one for one in self.recorded() if self.has_ancestor(one.after))

    def identity(self) -> str | None:
        """Who the person is, as `Name <mail>`, by the git settings of tree, person and machine; None where these do not
        say. git's guesses from the machine's name do not count."""
        try:
            stated = self.git("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
        except GitFailed:
            return None
        return stated[: stated.rindex(">") + 1]

    def has_commit(self, commit: str) -> bool:
        """Whether the repository has a commit."""
        try:
            self.git("cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed as error:
            if error.status not in (1, 128):
                raise
            return False
        return True

    def has_ancestor(self, commit: str) -> bool:
        """Whether a commit is HEAD or lies below it."""
        try:
            self.git("merge-base", "--is-ancestor", commit, "HEAD")
        except GitFailed as error:
            if error.status != 1:
                raise
            return False
        return True

    def subjects(self, below: str) -> list[str]:
        """The commits on top of `below`, newest first, each as short id and subject."""
        return self.git("log", "--format=%h %s", f"{below}..HEAD").splitlines()

    def changes(self, before: str, after: str) -> tuple[FileSides, ...]:
        """The files that differ between two commits."""
        raw = self.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after).split("\0")
        found = []
        for head, path in zip(raw[::2], raw[1::2], strict=False):
            modes = head.removeprefix(":").split()
            found.append(FileSides(path, _side(modes[0], modes[2]), _side(modes[1], modes[3])))
        return tuple(found)

    def entries(self, paths: Collection[str]) -> dict[str, IndexEntry]:
        """What the index has at these paths, and below them."""
        found = {}
        for line in self._listed("ls-files", "-s", "-v", "-z", paths=paths):
            head, _, path = line.partition("\t")
            flag, mode, blob, _stage = head.split()
            found[path] = IndexEntry(flag, mode, blob)
        return found

    def edited(self, paths: Collection[str]) -> list[str]:
        """Those of the tracked files at these paths that differ from HEAD, in the index or in the work tree."""
        words = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
        return sorted({line[3:] for line in self._listed(*words, paths=paths)})

    def content(self, path: str, side: Side) -> bytes:
        """A file as the person's git would write it: with the line ends, and through the filters, set for it."""
        return self.git.raw("cat-file", "--filters", f"--path={path}", side.blob)

    def blocked(self, changes: Sequence[FileSides]) -> list[str]:
        """Why changes cannot be made without touching what is the person's own; a line each."""
        entries = self.entries([change.path for change in changes])
        going = {change.path for change in changes if change.new is None}
        reasons = dict.fromkeys(self.edited([change.path for change in changes]), "has edits that are not committed")
        for change in changes:
            entry = entries.get(change.path)
            if entry is not None and entry.flag != "H" and change.path not in reasons:
                reasons[change.path] = "is left out of a sparse checkout, or marked as unchanged"
            if reason := self._in_the_way(change, going):
                reasons.setdefault(change.path, reason)
        known = {change.path for change in changes}
        for path in entries.keys() - known:
            reasons[path] = "is in the index, where a file of the series has to be"
        return [f"{path} {reason}" for path, reason in sorted(reasons.items())]

    def _in_the_way(self, change: FileSides, going: Collection[str]) -> str:
        """What is wrong on disk at a path, without following links."""
        parts = change.path.split("/")
        for number in range(1, len(parts)):
            parent = "/".join(parts[:number])
            mode = mode_of(self.path / parent)
            if mode is None:
                break
            if not stat.S_ISDIR(mode) and parent not in going:
                return f"cannot be written: {parent} is {'a symbolic link' if stat.S_ISLNK(mode) else 'a file'}"
        mode = mode_of(self.path / change.path)
        if change.old is not None:
            return "" if mode is not None and stat.S_ISREG(mode) else "is not there as a regular file"
        if mode is None or (stat.S_ISDIR(mode) and self._goes(change.path, going)):
            return ""
        return "is there, and git does not track it"

    def _goes(self, folder: str, going: Collection[str]) -> bool:
        """Whether everything below a folder is deleted."""
        below = [Path(place) / name for place, _folders, files in os.walk(self.path / folder) for name in files]
        return bool(below) and all(path.relative_to(self.path).as_posix() in going for path in below)

    def _listed(self, *words: str, paths: Collection[str]) -> list[str]:
        """What a git command lists for paths; these are given in portions, since a command line is bounded."""
        found: list[str] = []
        every = list(paths)
        for start in range(0, len(every), 500):
            answer = self.git(*words, "--", *every[start : start + 500], environ={"GIT_LITERAL_PATHSPECS": "1"})
            found += [part for part in answer.split("\0") if part]
        return found


def _side(mode: str, blob: str) -> Side | None:
    return Side(mode, blob) if int(mode, 8) else None


def mode_of(path: Path) -> int | None:
    """The mode of what lies at a path, a link itself and not what it names; None where nothing does."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_executable(side: Side) -> bool:
    """Whether a file is to be executable."""
    return side.mode == _EXECUTABLE


def open_work_tree(path: Path) -> WorkTree:
    """The work tree whose root is `path`.

    Raises:
        BadInput: there is none, it is bare, has no commit or ids of another kind, or something is under way in it.
    """
    root = path.resolve()
    if not (root / ".git").exists():
        raise BadInput(f"--tree {path}: not the root of a git work tree; `headwater checkout RELEASE` lays one out")
    asked = ("--show-object-format", "--absolute-git-dir", "--git-path", "objects")
    try:
        kind, own, objects = PersonalGit(root / ".git", root)("rev-parse", *asked).splitlines()
    except GitFailed as error:
        raise BadInput(f"--tree {path}: git cannot read it: {error.stderr}") from error
    if kind != "sha1":
        raise BadInput(f"--tree {path}: its ids are {kind}, and Headwater works with sha1; clone it as sha1")
    tree = WorkTree(root, PersonalGit(Path(own), root), (root / objects).resolve())
    try:
        tree.head()
    except GitFailed as error:
        raise BadInput(f"--tree {path}: it has no commit yet; check a revision out first") from error
    for name, what in _UNDER_WAY.items():
        if (tree.git.path / name).exists():
            raise BadInput(f"--tree {path}: a {what} is under way there ({name}); finish or abort it first")
    return tree
