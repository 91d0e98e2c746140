# SPDX-License-Identifier: Apache-2.0
"""Moving a work tree from one commit to another: all of it or nothing, whenever the process is killed.

A journal says what is under way, git's own `index.lock` keeps every other git command out meanwhile, and what was
killed is ended by the next command: back while files were being written, forward once they all are. Only the files that
differ between the two commits are touched.
"""

from __future__ import annotations

import fcntl
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from headwater.core.applied import AppliedSeries, FileSides, Journal, Side, write_applied, write_journal
from headwater.core.errors import BadInput
from headwater.effects.files import clear_away, write_atomically
from headwater.effects.git import GitFailed
from headwater.effects.moved_files import MovedFiles
from headwater.effects.work_tree import WorkTree, mode_of

_NOTHING = "0" * 40
_KEPT = 50


@dataclass(frozen=True)
class Move:
    """What is to be done: HEAD goes from `before` to `after`, and with it index and files, unless they lie there
    already (`keeps_files`).

    `recorded` gives the applied series for the folders that were made. Of the folders that become empty those in
    `removable` go, or all, as with git, where it is None. `files` are replaced in the workspace, in this order.
    """

    purpose: str
    before: str
    after: str
    recorded: Callable[[tuple[str, ...]], Sequence[AppliedSeries]]
    keeps_files: bool = False
    removable: tuple[str, ...] | None = None
    files: Mapping[Path, bytes] = field(default_factory=dict)


@contextmanager
def held(tree: WorkTree) -> Iterator[None]:
    """Hold a tree against other runs of Headwater.

    Raises:
        BadInput: another run works on it.
    """
    tree.state.mkdir(exist_ok=True)
    with (tree.state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInput(f"another run of Headwater works on {tree.path}; try again when it has ended") from error
        yield


class Mover:
    """The steps of moves, on one tree that is held."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree = tree
        self.journal_file = tree.state / "journal.json"
        self._lock = tree.git.path / "index.lock"

    def move(self, move: Move) -> None:
        """Make a move, or leave everything as it was.

        Raises:
            BadInput: naming what is in the way, or that HEAD has moved, or that git is at work in the tree.
            HarnessError: it could not be completed; the next command on the tree does that.
        """
        journal = Journal(secrets.token_hex(8), move.purpose, "begun", move.before, move.after, move.keeps_files)
        clear_away(self._tree.state / "incoming")
        files = MovedFiles(self._tree, journal.token)
        try:
            self.note(journal)
            self.take_lock(journal)
            journal = self._planned(move, journal, files)
            self.note(journal)
            if not move.keeps_files:
                files.write(journal.changes, move.removable)
            index = self.new_index(journal.changes, to_new=True, only_other=False)
            self.note(journal := journal.at("written"))
            self.set_head(journal)
        except BaseException:
            # An interrupt may come right behind the step that decides.
            if journal.phase == "written" and journal.before != journal.after == self._tree.head():
                self.complete(journal, index)
            else:
                if journal.phase != "begun" and not move.keeps_files:
                    files.take_back(journal.changes, journal.folders)
                self.end(journal)
            raise
        self.complete(journal, index)

    def note(self, journal: Journal) -> None:
        """Write down how far a move is."""
        write_atomically(self.journal_file, write_journal(journal))

    def take_lock(self, journal: Journal) -> None:
        """Take git's lock of the index, whole or not at all, with words in it for whoever finds it.

        Raises:
            BadInput: git has it.
        """
        folder = self._tree.state / "incoming"
        folder.mkdir(exist_ok=True)
        part = folder / "lock"
        part.write_text(_lock_text(journal), encoding="utf-8")
        try:
            self._lock.hardlink_to(part)
        except FileExistsError as error:
            raise BadInput(
                f"{self._lock} is there: git is at work in {self._tree.path}, or was killed; try again when it has "
                "ended, or remove that file"
            ) from error

    def has_lock(self, journal: Journal) -> bool:
        """Whether git's lock of the index is this move's."""
        try:
            return self._lock.read_text(encoding="utf-8", errors="replace") == _lock_text(journal)
        except FileNotFoundError:
            return False

    def set_head(self, journal: Journal) -> None:
        """Move HEAD, and the branch that it names, if it is where the move began.

        Raises:
            BadInput: it is elsewhere.
        """
        if journal.before == journal.after:
            return
        when = {"GIT_COMMITTER_DATE": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S+0000")}
        who = {"GIT_COMMITTER_NAME": "Headwater", "GIT_COMMITTER_EMAIL": "headwater@invalid.example"}
        words = ("update-ref", "-m", f"headwater: {journal.purpose}", "HEAD", journal.after, journal.before)
        try:
            self._tree.git(*words, environ=when | who)
        except GitFailed as error:
            if self._tree.head() != journal.after:
                raise BadInput(f"HEAD of {self._tree.path} cannot be moved: {error.stderr}") from error

    def complete(self, journal: Journal, index: Path | None) -> None:
        """What is left once HEAD has moved: index, files of the workspace, what is remembered."""
        if index is not None:
            index.replace(self._tree.index)
        for number, name in enumerate(journal.files):
            content = (self._tree.state / "incoming" / f"file-{number}").read_bytes()
            _replace_file(Path(name), content, journal.token)
        write_atomically(self._tree.record, write_applied(journal.applied))
        self.end(journal)

    def back(self, journal: Journal) -> list[str]:
        """Put the files back; the copies of those that somebody has edited meanwhile."""
        saved: list[str] = []
        if journal.phase != "begun" and not journal.keeps_files:
            saved = MovedFiles(self._tree, journal.token).restore(journal.changes, journal.folders)
        self.end(journal)
        return saved

    def end(self, journal: Journal) -> None:
        """Let go of the index and forget the move."""
        if self.has_lock(journal):
            self._lock.unlink()
        self.journal_file.unlink(missing_ok=True)
        clear_away(self._tree.state / "incoming")

    def new_index(self, changes: Sequence[FileSides], *, to_new: bool, only_other: bool) -> Path | None:
        """A copy of the index with the changed files as one side has them, and every other entry as it is; None where
        it would be the same. With `only_other` an entry counts only where it is as the other side has it."""
        entries = self._tree.entries([change.path for change in changes])
        lines = []
        for change in changes:
            wanted, other = (change.new, change.old) if to_new else (change.old, change.new)
            entry = entries.get(change.path)
            now = (entry.mode, entry.blob) if entry else None
            if now == _key(wanted) or (only_other and now != _key(other)):
                continue
            lines.append(f"{wanted.mode} {wanted.blob} 0\t{change.path}" if wanted else f"0 {_NOTHING}\t{change.path}")
        if not lines:
            return None
        # A git that outlived a run which was killed may still write to another copy.
        index = self._tree.state / "incoming" / f"index-{secrets.token_hex(4)}"
        self._tree.copy_index(index)
        with tempfile.TemporaryFile() as stdin:
            # What goes away goes first, since a folder may take a file's place.
            text = "".join(f"{line}\0" for line in sorted(lines, key=lambda line: not line.startswith("0 ")))
            stdin.write(text.encode("utf-8", "surrogateescape"))
            stdin.seek(0)
            self._tree.git("update-index", "-z", "--index-info", index=index, stdin=stdin)
        self._tree.git("update-index", "-q", "--unmerged", "--ignore-missing", "--refresh", index=index)
        return index

    def _planned(self, move: Move, journal: Journal, files: MovedFiles) -> Journal:
        """The move with all that it will do, after a look at whether it may.

        Raises:
            BadInput: HEAD has moved, or something is in the way.
        """
        head = self._tree.head()
        if head != move.before:
            raise BadInput(f"HEAD of {self._tree.path} has moved to {head[:12]} meanwhile; run the command again")
        changes = self._tree.changes(move.before, move.after)
        folders: tuple[str, ...] = ()
        if not move.keeps_files:
            if reasons := self._tree.blocked(changes):
                raise BadInput(
                    f"--tree {self._tree.path}: nothing was changed, since\n  " + "\n  ".join(reasons) + "\n"
                    "Commit, stash or move these away, and run the command again"
                )
            changes = files.prepare(changes)
            folders = _missing_folders(self._tree, changes)
        for number, content in enumerate(move.files.values()):
            (self._tree.state / "incoming" / f"file-{number}").write_bytes(content)
        applied = tuple(move.recorded(folders))[-_KEPT:]
        names = tuple(str(path) for path in move.files)
        return replace(journal, phase="writing", changes=changes, folders=folders, files=names, applied=applied)


def _key(side: Side | None) -> tuple[str, str] | None:
    return (side.mode, side.blob) if side else None


def _lock_text(journal: Journal) -> str:
    return (
        f"headwater {journal.token}\nHeld by `headwater patch {journal.purpose}`. If that was killed, the next "
        "`headwater patch apply`, `undo`, `refresh` or `new` on this tree puts everything in order.\n"
    )


def _missing_folders(tree: WorkTree, changes: Sequence[FileSides]) -> tuple[str, ...]:
    """The folders that have to be made, each after the one that it lies in; also where a file lies now that goes."""
    parents = {
        "/".join(parts[:number])
        for change in changes
        if change.new is not None
        for parts in [change.path.split("/")]
        for number in range(1, len(parts))
    }
    return tuple(sorted(parent for parent in parents if not stat.S_ISDIR(mode_of(tree.path / parent) or 0)))


def _replace_file(path: Path, content: bytes, token: str) -> None:
    """Write a file of the workspace in one step, unless it has that content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # A run that was killed has left it under the same name.
    part = path.with_name(f".{path.name}.{token}")
    part.write_bytes(content)
    if path.is_file() and path.read_bytes() == content:
        part.unlink()
    else:
        part.replace(path)
