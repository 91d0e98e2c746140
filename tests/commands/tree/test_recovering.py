# SPDX-License-Identifier: Apache-2.0
"""A move that was killed at one of its steps is ended by the next command; `test_killed_moves.py` kills at any moment.

Each test breaks off one run, at a step by name, and looks at what comes of the tree.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from grounds import Grounds, clone_of, git, put, snapshot, take

from headwater.core.applied import Journal
from headwater.core.errors import BadInput
from headwater.core.events import Note
from headwater.effects import recovering
from headwater.effects.moving import Mover

SUBJECTS = ["Change 3", "Change 2", "Change 1", "upstream"]
A = "src/transformers/a.py"

# Applies the series, and kills itself where it would take a step.
BREAK_OFF = """
import os, signal, sys
from contextlib import ExitStack
from pathlib import Path
from headwater.commands.context import Context
from headwater.commands.patch.apply import apply
from headwater.effects.moving import Mover

setattr(Mover, sys.argv[3], lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
with ExitStack() as exits:
    apply(Context(Path(sys.argv[1]), lambda event: None, offline=True, exits=exits), "example", Path(sys.argv[2]))
"""


def broken_off(grounds: Grounds, step: str) -> Path:
    """A clone in which an apply was killed when it came to a step."""
    tree = clone_of(grounds)
    assert grounds.run(BREAK_OFF, tree, step).status == -signal.SIGKILL
    return tree


def told(grounds: Grounds) -> str:
    """What the recovery said."""
    [words] = [event.text for event in grounds.events if isinstance(event, Note) and event.warning]
    return words


def subjects(tree: Path) -> list[str]:
    return git(tree, "log", "--format=%s").splitlines()


def is_applied(grounds: Grounds, tree: Path) -> bool:
    """Whether the next command finds the series there, all of it."""
    changed = put(grounds, tree).changed
    return not changed and subjects(tree) == SUBJECTS and git(tree, "status", "--porcelain") == ""


@pytest.mark.parametrize("step", ["take_lock", "new_index"])
def test_before_all_files_are_written_it_is_taken_back(ready: Grounds, step: str) -> None:
    tree = broken_off(ready, step)
    part = tree / ".git" / "headwater" / ".applied.json.part"
    part.touch()
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, tree)
    assert told(ready) == f"`headwater patch apply example` was killed in {tree}: it was taken back"
    assert (git(tree, "status", "--porcelain"), subjects(tree), part.exists()) == ("", ["upstream"], False)


@pytest.mark.parametrize("step", ["set_head", "complete"])
def test_once_all_files_are_written_it_is_completed(ready: Grounds, step: str) -> None:
    tree = broken_off(ready, step)
    assert is_applied(ready, tree)
    assert (
        told(ready)
        == f"`headwater patch apply example` was killed in {tree} when all files were written: it was completed"
    )


def test_an_edit_made_after_the_kill_is_kept_aside(ready: Grounds) -> None:
    tree = broken_off(ready, "new_index")
    (tree / A).write_bytes(b"mine\n")
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, tree)
    _, _, kept = told(ready).partition("it was taken back; what was edited since is kept as ")
    assert Path(kept).read_bytes() == b"mine\n"
    assert git(tree, "status", "--porcelain") == ""


def test_where_the_lock_is_gone_and_the_files_are_new_it_is_completed(ready: Grounds) -> None:
    tree = broken_off(ready, "set_head")
    (tree / ".git" / "index.lock").unlink()
    assert is_applied(ready, tree)


@pytest.mark.parametrize("staged", [False, True])
def test_where_the_lock_is_gone_and_a_file_is_another_it_is_taken_back(ready: Grounds, staged: bool) -> None:
    tree = broken_off(ready, "set_head")
    (tree / ".git" / "index.lock").unlink()
    (tree / A).write_bytes(b"mine\n")
    if staged:
        git(tree, "add", "src/transformers/fresh/deep/new.py")
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, tree)
    assert "it was taken back; what was edited since is kept as" in told(ready)
    assert (git(tree, "status", "--porcelain"), subjects(tree)) == ("", ["upstream"])


def test_where_head_has_moved_since_files_are_left_as_they_are(ready: Grounds) -> None:
    tree = broken_off(ready, "new_index")
    (tree / ".git" / "index.lock").unlink()
    git(tree, "commit", "--quiet", "--all", "-m", "mine")
    before = snapshot(tree)
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, tree)
    assert snapshot(tree) == before
    _, _, kept = told(ready).partition(
        "HEAD has moved since: files are left as they are; what they were before lies in "
    )
    assert Path(kept).is_dir()


def test_a_recovery_that_was_killed_too_is_ended(ready: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = broken_off(ready, "new_index")
    (tree / ".git" / "index.lock").unlink()
    git(tree, "commit", "--quiet", "--all", "-m", "mine")

    def killed(mover: Mover, journal: Journal) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during, pytest.raises(KeyboardInterrupt):
        during.setattr(Mover, "end", killed)
        take(ready, tree)
    assert (tree / ".git" / "index.lock").exists()
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, tree)
    assert Path(told(ready).partition("what they were before lies in ")[2]).is_dir()
    assert not (tree / ".git" / "index.lock").exists()


def test_where_nothing_had_been_changed_none_of_it_is_said_to_be_kept(ready: Grounds) -> None:
    tree = broken_off(ready, "_planned")
    (tree / ".git" / "index.lock").unlink()
    git(tree, "commit", "--quiet", "--allow-empty", "-m", "mine")
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, tree)
    assert told(ready).endswith("before it had changed anything")
    assert not (tree / ".git" / "headwater" / "saved").exists()


@pytest.mark.parametrize("whose", ["the move's", "another's", "older"])
def test_a_lock_of_head_goes_where_it_is_of_this_move(
    ready: Grounds, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovering, "_PATIENCE", 0.1)
    tree = broken_off(ready, "set_head")
    lock = tree / ".git" / "HEAD.lock"
    lock.write_text("another\n" if whose == "another's" else "", encoding="utf-8")
    if whose == "older":
        os.utime(lock, (1, 1))
    if whose == "the move's":
        assert is_applied(ready, tree)
        return
    with pytest.raises(BadInput, match=r"cannot be moved.*cannot lock ref"):
        put(ready, tree)
    lock.unlink()
    assert is_applied(ready, tree)


def test_an_interrupt_right_behind_the_step_that_decides(ready: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = clone_of(ready)
    set_head = Mover.set_head

    def interrupted(mover: Mover, journal: Journal) -> None:
        set_head(mover, journal)
        raise KeyboardInterrupt

    monkeypatch.setattr(Mover, "set_head", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put(ready, tree)
    assert is_applied(ready, tree)


def test_a_commit_made_meanwhile_is_not_lost(ready: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = clone_of(ready)
    take_lock = Mover.take_lock

    def late(mover: Mover, journal: Journal) -> None:
        git(tree, "commit", "--quiet", "--allow-empty", "-m", "mine")
        take_lock(mover, journal)

    monkeypatch.setattr(Mover, "take_lock", late)
    with pytest.raises(BadInput, match=r"HEAD of .* has moved to .* meanwhile; run the command again"):
        put(ready, tree)
    assert subjects(tree) == ["mine", "upstream"]
    assert git(tree, "status", "--porcelain") == ""
