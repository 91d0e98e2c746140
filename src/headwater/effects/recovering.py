# SPDX-License-Identifier: Apache-2.0
"""Ending a move of a work tree that was killed: forward where every file had been written, else back."""

from __future__ import annotations

import contextlib
import time

from headwater.core.applied import Journal, read_journal
from headwater.core.errors import BadInput
from headwater.effects.files import clear_away
from headwater.effects.moved_files import MovedFiles
from headwater.effects.moving import Mover
from headwater.effects.work_tree import WorkTree

# How long a git that outlived the killed run may take to let go of HEAD, in seconds.
_PATIENCE = 3.0


def recover(tree: WorkTree) -> str | None:
    """End the move that is under way in a tree that is held; what was done, in words, or None where there was none.

    Raises:
        BadInput: git is at work in the tree, so that nothing can be done now.
    """
    mover = Mover(tree)
    for part in tree.state.glob(".*"):
        part.unlink()  # What was written to be renamed.
    if not mover.journal_file.is_file():
        clear_away(tree.state / "incoming")
        return None
    journal = read_journal(mover.journal_file.read_text(encoding="utf-8"), str(mover.journal_file))
    # Somebody who removed the lock may have used git since: then nothing is certain but what the files show.
    locked = mover.has_lock(journal)
    if not locked:
        mover.take_lock(journal)
    what = f"`headwater patch {journal.purpose}` was killed in {tree.path}"
    moved = journal.before != journal.after
    if locked and moved and journal.phase == "written":
        _free_head(tree, mover, journal)
    head = tree.head()
    if journal.phase == "written" and (
        (moved and head == journal.after) or (head == journal.before and (locked or _all_new(tree, journal)))
    ):
        _set_head(mover, journal)
        mover.complete(journal, mover.new_index(journal.changes, to_new=True, only_other=not locked))
        return f"{what} when all files were written: it was completed"
    if head == journal.before:
        return _back(tree, mover, journal, what)
    if journal.phase == "begun":
        mover.end(journal)
        return f"{what} before it had changed anything"
    kept = tree.state / "saved" / journal.token
    kept.parent.mkdir(exist_ok=True)
    if not kept.exists():  # A recovery that was killed here has moved it.
        (tree.state / "incoming").rename(kept)
    mover.end(journal)
    return f"{what}, and HEAD has moved since: files are left as they are; what they were before lies in {kept}"


def _back(tree: WorkTree, mover: Mover, journal: Journal, what: str) -> str:
    if journal.phase == "written":
        index = mover.new_index(journal.changes, to_new=False, only_other=True)
        if index is not None:
            index.replace(tree.index)
    saved = mover.back(journal)
    words = f"{what}: it was taken back"
    return f"{words}; what was edited since is kept as {', '.join(saved)}" if saved else words


def _all_new(tree: WorkTree, journal: Journal) -> bool:
    files = MovedFiles(tree, journal.token)
    return journal.keeps_files or all(files.is_new(change) for change in journal.changes)


def _free_head(tree: WorkTree, mover: Mover, journal: Journal) -> None:
    """Wait for a git of the killed run that is moving HEAD, and remove what one that was killed with it left locked:
    locks that are younger than the journal, and hold the commit of this move or nothing yet."""
    limit = time.monotonic() + _PATIENCE
    while locks := [lock for lock in tree.head_locks() if lock.exists()]:
        if time.monotonic() > limit:
            begun = mover.journal_file.stat().st_mtime_ns
            for lock in locks:
                with contextlib.suppress(FileNotFoundError):  # It has let go after all.
                    if lock.stat().st_mtime_ns >= begun and lock.read_bytes().strip() in (b"", journal.after.encode()):
                        lock.unlink()
            return
        time.sleep(0.05)


def _set_head(mover: Mover, journal: Journal) -> None:
    """Move HEAD, waiting for a git of the killed run that is doing so."""
    limit = time.monotonic() + _PATIENCE
    while True:
        try:
            mover.set_head(journal)
        except BadInput:
            if time.monotonic() > limit:
                raise
            time.sleep(0.05)
        else:
            return
