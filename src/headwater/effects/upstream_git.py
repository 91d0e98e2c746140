# SPDX-License-Identifier: Apache-2.0
"""The history of the upstream repository, read from a git remote or from a clone of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from headwater.core.commits import LOG_FORMAT, Commit, kind_of_location, read_log
from headwater.core.errors import BadInput, HarnessError
from headwater.core.events import Emit, silent
from headwater.effects.git import GitDir, GitFailed, lines_of, missing_of
from headwater.effects.upstream_sources import LocalSource, RemoteSource, Source
from headwater.effects.workspace import Cache

# Where the main line is looked for, in this order: a person's clone often has a fork as its origin.
_MAIN = ("refs/remotes/upstream/main", "refs/remotes/origin/main", "refs/heads/main",
         "refs/remotes/upstream/master", "refs/remotes/origin/master", "refs/heads/master")  # fmt: skip


class Upstream:
    """The history of the upstream repository. Nothing is fetched before something is asked of it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._prepared = False
        self.name = source.name

    def _prepare(self) -> None:
        if not self._prepared:
            self._source.prepare()
            self._prepared = True

    @property
    def git(self) -> GitDir:
        """The repository to read from.

        Raises:
            HarnessError: it cannot be had.
        """
        self._prepare()
        return self._source.git

    def refs(self) -> dict[str, str]:
        """Every ref, "HEAD" among them, and the id of what it names (a commit or a tag)."""
        self._prepare()
        return self._source.refs()

    def refresh(self) -> bool:
        """Look for new commits, once a run; False where nothing can have changed."""
        self._prepare()
        return self._source.refresh()

    def commit(self, name: str) -> Commit:
        """The commit of an id or of a full ref.

        Raises:
            GitFailed: there is none.
        """
        return read_log(self.git("log", "-1", "-z", f"--format={LOG_FORMAT}", "--end-of-options", name))[0]

    def main(self) -> Commit:
        """The newest commit of the main line.

        Raises:
            BadInput: there is no branch main or master, and no HEAD.
        """
        refs = self.refs()
        for name in (*_MAIN, "HEAD"):
            if name in refs:
                return self.commit(refs[name])
        raise BadInput(f"{self.name} has no branch main or master: is it a clone of the upstream repository?")

    def first_parent(self, old: Commit, new: Commit) -> list[Commit]:
        """The commits from `old` to `new`, both included, each the first parent of the next.

        Raises:
            BadInput: `old` is no first-parent ancestor of `new`; the message names the last commit that is and that
                `old` contains.
        """
        if old.sha == new.sha:
            return [old]
        log = self.git("log", "--first-parent", "-z", f"--format={LOG_FORMAT}", f"{old.sha}..{new.sha}")
        line = read_log(log)[::-1]
        if line and line[0].parent == old.sha:
            return [old, *line]
        if not line or self._contains(old, new):
            raise BadInput(f"{old.short} comes after {new.short}; give the older commit first")
        if line[0].parent is None:
            raise BadInput(f"{old.short} and {new.short} have no history in common; were both meant for {self.name}?")
        base = self.commit(line[0].parent)
        raise BadInput(
            f"{old} is not on the first-parent line of {new}, which leaves it at {base}; use {base.short} instead"
        )

    def _contains(self, commit: Commit, other: Commit) -> bool:
        try:
            self.git("merge-base", "--is-ancestor", other.sha, commit.sha)
        except GitFailed as error:
            if error.status != 1:
                raise
            return False
        return True

    def paths(self, commit: str, *paths: str) -> dict[str, str]:
        """The ids of those of `paths` that a commit has, files or folders."""
        listed = self.git("ls-tree", "-t", "-z", "--full-tree", commit, "--", *paths)
        heads = (line.split("\t", 1) for line in listed.split("\0") if line)
        return {path: head.split()[2] for head, path in heads if path in paths}

    def files(self, blobs: Sequence[str]) -> dict[str, bytes]:
        """The contents of files, by blob id; what is not here is fetched in one go."""
        self._have(blobs)
        return {blob: self.git.raw("cat-file", "blob", blob) for blob in dict.fromkeys(blobs)}

    def objects_of(self, tree: str) -> list[str]:
        """The ids of a tree, the folders and the files below it, whether the files are here or not."""
        listed = self.git("rev-list", "--objects", "--no-object-names", "--missing=print", tree)
        return [line.removeprefix("?") for line in listed.splitlines()]

    def pack(self, objects: Sequence[str]) -> bytes:
        """A pack of exactly these objects; what is not here is fetched in one go.

        Raises:
            HarnessError: an object cannot be had.
        """
        self._have(objects)
        with lines_of(objects) as names:
            # Differences are taken over from the packs as they are; looking for better ones would take seconds.
            return self.git.raw("pack-objects", "--stdout", "-q", "--window=0", stdin=names)

    def bring_beside(self, commit: str, paths: Sequence[str]) -> None:
        """Have the files of every folder on the way to `paths`, as git wants them to write these folders anew."""
        folders = sorted({str(folder) for path in paths for folder in PurePosixPath(path).parents})
        blobs = []
        for folder in folders:
            place = [] if folder == "." else ["--", f"{folder}/"]
            listed = self.git("ls-tree", "-z", "--full-tree", commit, *place)
            heads = [line.split("\t", 1)[0].split() for line in listed.split("\0") if line]
            blobs += [name for _mode, kind, name in heads if kind == "blob"]
        self._have(blobs)

    def _have(self, objects: Sequence[str]) -> None:
        if missing := missing_of(self.git, objects):
            self._source.fetch(missing)
            if still := missing_of(self.git, missing):
                raise HarnessError(f"{self.name} did not give {len(still)} objects, {still[0]} among them")


def open_upstream(cache: Cache, location: str, emit: Emit = silent, offline: bool = False) -> Upstream:
    """The upstream repository at an address or a path.

    Raises:
        BadInput: `location` is neither, or the path is no git repository.
    """
    if kind_of_location(location) == "path":
        return Upstream(LocalSource(cache, Path(location).expanduser()))
    return Upstream(RemoteSource(cache, location, emit, offline))
