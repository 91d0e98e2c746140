# SPDX-License-Identifier: Apache-2.0
"""Where commits come from: a git remote, or a clone of the user's, which is never written to.

Either way Headwater reads through a bare repository of its own in the cache. For a remote it is a partial clone: all
commits and folders, and files only as they are needed, many at once. For a clone of the user's it is empty and borrows
the clone's objects (gitrepository-layout(5), "objects/info/alternates"): neither the clone's settings nor its hooks
count, and git cannot fetch anything into it. No repository of Headwater's names its remote in its settings, so git
never fetches by itself.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Protocol

from filelock import FileLock

from headwater.core.commits import kind_of_location
from headwater.core.errors import BadInput, HarnessError, NotCached
from headwater.core.events import Emit, Finished, Note, Started
from headwater.core.redaction import redact
from headwater.effects.git import GitDir, GitFailed, init_bare, lines_of
from headwater.effects.workspace import Cache

_CLONE_SPACE = 2_000_000_000
# A name that no user's settings have an address for.
_REMOTE = "headwater-upstream"
_UNFILTERED = "filtering not recognized"


class Source(Protocol):
    """Where a repository's objects come from. `name` is what people call it, `git` the repository to read from."""

    name: str
    git: GitDir

    def prepare(self) -> None:
        """Make the repository to read from, if it is not there."""

    def refs(self) -> dict[str, str]:
        """Every ref, "HEAD" among them, and the id of what it names (a commit or a tag)."""

    def refresh(self) -> bool:
        """Look for new commits; False where there can be none that were not seen."""

    def fetch(self, objects: Sequence[str]) -> None:
        """Bring objects that are not here.

        Raises:
            HarnessError: they cannot be had.
        """


class RemoteSource:
    """A git remote: a partial clone of it in the cache."""

    def __init__(self, cache: Cache, url: str, emit: Emit, offline: bool) -> None:
        self.name = redact(url)
        self._cache, self._url, self._emit, self._offline = cache, url, emit, offline
        self.git = GitDir(_place(cache, url))
        self._fresh = False
        # A repository on this machine needs neither credentials nor a proxy.
        self._users = not url.lower().startswith("file:")
        self._told = False

    def prepare(self) -> None:
        """Clone, if that was not done before.

        Raises:
            NotCached: it is not there, and the network is not to be used.
            HarnessError: the remote cannot be reached.
        """
        with self._lock():
            if not self.git.path.is_dir():
                self._clone()

    def refs(self) -> dict[str, str]:
        """See `Source`."""
        return _refs(self.git)

    def refresh(self) -> bool:
        """Fetch what is new; once a run, and not offline."""
        if self._fresh or self._offline:
            return False
        with self._lock():
            self._update(self.git, f"fetching new commits from {self.name}")
        return True

    def fetch(self, objects: Sequence[str]) -> None:
        """Fetch files by their ids, all in one go."""
        if self._offline:
            raise NotCached(f"{len(objects)} files of {self.name} were never fetched, and --offline forbids it")
        with self._lock(), lines_of(objects) as wanted:
            self._talk(
                self.git, f"fetching {len(objects)} files from {self.name}",
                "--no-write-fetch-head", "--stdin", _REMOTE, stdin=wanted,
            )  # fmt: skip

    def _lock(self) -> FileLock:
        return self._cache.lock(f"remotes-{self.git.path.name}")

    def _clone(self) -> None:
        if self._offline:
            raise NotCached(f"{self.name} was never cloned, and --offline forbids it; run once without --offline")
        self._cache.require_space(_CLONE_SPACE, f"cloning {self.name}")
        with self._cache.building("clone") as folder:
            init_bare(folder / "clone")
            self._update(GitDir(folder / "clone"), f"cloning the history of {self.name}, without files")
            self.git.path.parent.mkdir(parents=True, exist_ok=True)
            (folder / "clone").rename(self.git.path)

    def _update(self, git: GitDir, what: str) -> None:
        said = self._talk(git, what, "--prune", _REMOTE, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        if _UNFILTERED in said:
            self._emit(Note(f"{self.name} does not know partial clones: it sent every file of every commit, too "
                            "(its setting uploadpack.allowFilter would spare that)", warning=True))  # fmt: skip
        listed, _said = git.talk("ls-remote", "--symref", _REMOTE, "HEAD", settings=self._settings(), users=self._users)
        if head := re.search(r"^ref: (refs/heads/\S+)\tHEAD$", listed, re.MULTILINE):
            git("symbolic-ref", "HEAD", head[1])
        self._fresh = True

    def _talk(self, git: GitDir, what: str, *words: str, stdin: IO[bytes] | None = None) -> str:
        if self._users and not self._told:
            self._told = True
            self._emit(Note(f"{self.name} is asked with your git settings (credentials, proxy); your hooks stay out"))
        self._emit(Started(what, what, long=True))
        note = "failed"
        try:
            options = ("--no-tags", "--no-auto-maintenance", "--recurse-submodules=no", "--filter=blob:none")
            said = git.talk("fetch", *options, *words, settings=self._settings(), users=self._users, stdin=stdin)[1]
            note = ""
        except GitFailed as error:
            raise HarnessError(f"{what} failed: {error.stderr or error}") from error
        finally:
            self._emit(Finished(what, note))
        return said

    def _settings(self) -> dict[str, str]:
        """What makes the remote a remote, for one call."""
        return {
            f"remote.{_REMOTE}.url": self._url,
            f"remote.{_REMOTE}.promisor": "true",
            f"remote.{_REMOTE}.partialclonefilter": "blob:none",
        }


class LocalSource:
    """A clone of the user's, which is only read."""

    def __init__(self, cache: Cache, path: Path) -> None:
        self.name = str(path)
        self._path = path
        self._users = GitDir(_git_folder(path))
        self._common = _common_folder(self._users.path)
        if not (self._common / "objects").is_dir():
            raise BadInput(f"--repo {path} is no git repository: {self._common} holds no objects")
        self.git = GitDir(_place(cache, str(path.resolve())))
        self._cache = cache

    def prepare(self) -> None:
        """Make the repository that borrows the clone's objects."""
        with self._cache.lock(f"remotes-{self.git.path.name}"):
            if not self.git.path.is_dir():
                with self._cache.building("borrow") as folder:
                    init_bare(folder / "borrow")
                    self.git.path.parent.mkdir(parents=True, exist_ok=True)
                    (folder / "borrow").rename(self.git.path)
            (self.git.path / "objects" / "info" / "alternates").write_text(
                f"{self._common.resolve() / 'objects'}\n", encoding="utf-8"
            )
            # Where the clone's history was cut off, what is beyond must not be looked for.
            ours, theirs = self.git.path / "shallow", self._common / "shallow"
            if theirs.is_file():
                shutil.copyfile(theirs, ours)
            else:
                ours.unlink(missing_ok=True)

    def refs(self) -> dict[str, str]:
        """See `Source`; tags are not followed here, which could make git fetch into a partial clone."""
        return _refs(self._users)

    def refresh(self) -> bool:
        """The clone is read anew each time; Headwater fetches nothing into it."""
        return False

    def fetch(self, objects: Sequence[str]) -> None:
        """Nothing is fetched into the user's clone.

        Raises:
            HarnessError: always.
        """
        raise HarnessError(
            f"{self._path} lacks {len(objects)} files of the commit, {objects[0]} among them: it is a partial clone, "
            "or damaged, and not written to. Give the address of its remote as --repo"
        )


def _git_folder(path: Path) -> Path:
    """The git folder of a clone, a work tree or a bare repository; see gitrepository-layout(5)."""
    dot = path / ".git"
    if dot.is_dir():
        return dot
    if dot.is_file():
        target = dot.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        return (path / target).resolve()
    if (path / "HEAD").is_file():
        return path
    raise BadInput(f"--repo {path} is no git repository; give the root of a clone, or the address of a remote")


def _common_folder(git_folder: Path) -> Path:
    """Where a work tree's repository keeps its objects."""
    file = git_folder / "commondir"
    return (git_folder / file.read_text(encoding="utf-8").strip()).resolve() if file.is_file() else git_folder


def _refs(git: GitDir) -> dict[str, str]:
    listed = git("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    refs = {name: sha for sha, _, name in (line.partition(" ") for line in listed)}
    try:
        refs["HEAD"] = git("rev-parse", "--verify", "--quiet", "HEAD")
    except GitFailed as error:
        if error.status != 1:  # A branch without a commit yet, or one that was not fetched.
            raise
    return refs


def ask_head(location: str) -> str:
    """The commit that HEAD names in the repository at an address or a path, which is asked and not fetched from.

    Raises:
        BadInput: `location` is neither.
        HarnessError: it does not answer, or has no commit.
    """
    users = kind_of_location(location) == "url" and not location.lower().startswith("file:")
    address = location if kind_of_location(location) == "url" else str(Path(location).expanduser().resolve())
    with tempfile.TemporaryDirectory() as folder:
        init_bare(Path(folder) / "asking")
        settings = {f"remote.{_REMOTE}.url": address}
        listed, _said = GitDir(Path(folder) / "asking").talk(
            "ls-remote", _REMOTE, "HEAD", settings=settings, users=users
        )
    if not listed:
        raise HarnessError(f"{redact(location)} has no commit")
    return listed.split()[0]


def _place(cache: Cache, location: str) -> Path:
    """The repository for a location; who asks (the user and password in an address) makes no difference."""
    known = redact(location)
    word = known.rstrip("/").removesuffix(".git").replace(":", "/").rpartition("/")[2]
    word = re.sub(r"[^A-Za-z0-9-]", "", word) or "repository"
    return cache.remotes / f"{word}-{hashlib.sha256(known.encode()).hexdigest()[:12]}.git"
