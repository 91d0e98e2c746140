# SPDX-License-Identifier: Apache-2.0
"""kill -9 while a tree is moved: the next command puts everything in order, and nothing of the person's is lost.

HEADWATER_KILLS scales how many moments of a move are killed at in the slow tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from grounds import (
    DRIVER,
    NEVER,
    Grounds,
    checkout_of,
    clone_of,
    fsck,
    git,
    make_a_mess,
    put,
    snapshot,
    steps_of,
    take,
)
from kills import KILLS

from headwater.core.errors import BadInput
from headwater.core.events import Note

pytestmark = pytest.mark.slow


def is_in_order(tree: Path) -> bool:
    """Whether nothing is under way, and nothing was left by a run that was killed."""
    folder = Path(git(tree, "rev-parse", "--absolute-git-dir"))
    left = sorted(path.name for path in (folder / "headwater").iterdir())
    return left in (["applied.json", "lock"], ["lock"]) and not (folder / "index.lock").exists()


class Ends:
    """A tree before and after the series, as `snapshot` sees it, and how many steps lie between, either way."""

    def __init__(self, grounds: Grounds, tree: Path) -> None:
        make_a_mess(tree)
        self.before = snapshot(tree)
        applied = steps_of(grounds, tree, "apply")
        self.after = snapshot(tree)
        undone = steps_of(grounds, tree, "undo")
        assert snapshot(tree) == self.before != self.after
        assert applied and undone
        self.steps = {"apply": applied, "undo": undone}


def kill_at(grounds: Grounds, tree: Path, ends: Ends, what: str, moment: int) -> None:
    """Kill a command at a step of its move, and see that the same command then does what it should have done, and that
    the other way leads back."""
    if what == "undo":
        put(grounds, tree)
    assert steps_of(grounds, tree, what, moment) is None
    again(grounds, tree, what)
    assert snapshot(tree) == (ends.after if what == "apply" else ends.before)
    if what == "apply":
        take(grounds, tree)
        assert snapshot(tree) == ends.before
    assert is_in_order(tree)


def again(grounds: Grounds, tree: Path, what: str) -> None:
    """Run a command in-process once more. Undoing what the recovery has undone says that nothing is applied."""
    if what == "apply":
        put(grounds, tree)
        return
    try:
        take(grounds, tree)
    except BadInput as error:
        assert "is applied" in str(error)


@pytest.mark.parametrize("what", ["apply", "undo"])
def test_killed_at_some_steps(ready: Grounds, what: str) -> None:
    tree = clone_of(ready)
    ends = Ends(ready, tree)
    before, last = ends.steps[what]
    for moment in (before // 2, before + 2, last - 2):
        kill_at(ready, tree, ends, what, moment)
    fsck(tree)
    fsck(ready.mirror())
    words = [event.text for event in ready.events if isinstance(event, Note)]
    assert any("was taken back" in line for line in words)
    assert any("was completed" in line for line in words)


@pytest.mark.slow
@pytest.mark.parametrize("make", [clone_of, checkout_of])
@pytest.mark.parametrize("what", ["apply", "undo"])
def test_killed_at_many_steps(ready: Grounds, what: str, make: Callable[[Grounds], Path]) -> None:
    tree = make(ready)
    ends = Ends(ready, tree)
    steps = range(1, ends.steps[what][1] + 1)
    for moment in random.Random(what).sample(steps, min(len(steps), 10 * KILLS)):
        kill_at(ready, tree, ends, what, moment)
    fsck(tree)
    fsck(ready.mirror())


def undisturbed(ready: Grounds, tree: Path, what: str) -> float:
    """How long, in seconds, the driver takes here where nobody kills it: moments are drawn from that."""
    process = ready.start(DRIVER, tree, what, NEVER)
    assert process.stdout is not None
    process.stdout.readline()
    begun = time.monotonic()
    process.communicate()
    assert process.returncode == 0
    return time.monotonic() - begun


@pytest.mark.slow
@pytest.mark.parametrize("group", [False, True])
def test_killed_at_any_time(ready: Grounds, group: bool) -> None:
    """Alone, so that a git that it started runs on, or with its whole group."""
    tree = clone_of(ready)
    ends = Ends(ready, tree)
    chance = random.Random(group)
    killed = 0
    lasts = {what: undisturbed(ready, tree, what) for what in ("apply", "undo")}
    for number in range(8 * KILLS):
        what = ("apply", "undo")[number % 2]
        process = ready.start(DRIVER, tree, what, NEVER)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0, lasts[what]))
        killed += process.poll() is None
        if group:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.communicate()
        again(ready, tree, what)
        assert snapshot(tree) == (ends.after if what == "apply" else ends.before)
        assert is_in_order(tree)
    assert killed > KILLS
    fsck(tree)


@pytest.mark.parametrize("branch", [True, False])
@pytest.mark.parametrize("stranger", ["", "another's", "older"])
def test_when_git_was_killed_while_it_moved_head(ready: Grounds, branch: bool, stranger: str) -> None:
    """Its locks stay behind; those of this move go, and whatever else is locked is left to whom it belongs."""
    tree = clone_of(ready)
    if not branch:
        git(tree, "checkout", "--quiet", "--detach")
    ends = Ends(ready, tree)
    assert steps_of(ready, tree, "apply", ends.steps["apply"][0]) is None
    journal = json.loads((tree / ".git/headwater/journal.json").read_text("utf-8"))
    assert (journal["phase"], journal["before"]) == ("written", git(tree, "rev-parse", "HEAD"))
    names = ["HEAD", git(tree, "symbolic-ref", "HEAD")] if branch else ["HEAD"]
    locks = [tree / ".git" / f"{name}.lock" for name in names]
    locks[-1].write_text("another\n" if stranger == "another's" else f"{journal['after']}\n", encoding="utf-8")
    if branch:
        locks[0].touch()
    if stranger == "older":
        os.utime(locks[-1], (1, 1))
    if not stranger:
        put(ready, tree)
        assert snapshot(tree) == ends.after
        assert is_in_order(tree)
        return
    with pytest.raises(BadInput, match=r"cannot be moved.*cannot lock ref"):
        put(ready, tree)
    locks[-1].unlink()
    put(ready, tree)
    assert snapshot(tree) == ends.after
