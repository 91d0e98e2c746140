# SPDX-License-Identifier: Apache-2.0
"""Seeded random series on random trees with a person's files among theirs: applied and undone, with kill -9 between,
everything is as before.

HEADWATER_KILLS scales the slow test; 5 make 50 rounds.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from grounds import Grounds, fsck, git, put, snapshot, steps_of, take, write_files
from kills import KILLS

from headwater.core.errors import BadInput

pytestmark = pytest.mark.slow

FOLDERS = ("", "cache/", "models/gpt/", "models/\u00fc ml/")
NAMES = ("a.ini", "b.txt", "with space.cfg", "\u00e9.md", "tool*")


def content(chance: random.Random) -> bytes:
    """A text of some lines with either line end, with or without the last one; or bytes."""
    if chance.random() < 0.15:
        return chance.randbytes(chance.randrange(1, 300))
    end = chance.choice([b"\n", b"\n", b"\r\n"])
    lines = [b"v%d = %d" % (number, chance.randrange(1000)) for number in range(chance.randrange(1, 30))]
    return end.join(lines) + chance.choice([b"", end])


def release(chance: random.Random) -> dict[str, bytes]:
    """A release's files."""
    paths = [f"transformers/{folder}{name}" for folder in FOLDERS for name in NAMES]
    chosen = chance.sample(paths, 12)
    return {"transformers/__init__.py": b"__version__ = '5.0.0'\n", **{path: content(chance) for path in chosen}}


def changed(chance: random.Random, files: dict[str, bytes], number: int) -> dict[str, bytes]:
    """The files after a patch: some edited, deleted, moved, made executable; one is always new."""
    after = dict(files)
    for path in chance.sample(sorted(files), 4):
        kind = chance.choice(["edit", "edit", "delete", "move", "mode", "replace"])
        if path.endswith("__init__.py"):
            continue
        old = after.pop(path)
        if kind == "edit":
            lines = old.splitlines(keepends=True) or [b"x"]
            lines[chance.randrange(len(lines))] = b"w = %d\n" % chance.randrange(1000)
            after[path] = b"".join(lines)
        elif kind == "move":
            after[f"src/transformers/moved/{number}/{Path(path).name}"] = old
        elif kind == "mode":
            after[path.removesuffix("*") if path.endswith("*") else f"{path}*"] = old
        elif kind == "replace":
            after[path] = content(chance)
    after[f"tests/models/t{number}/test_{number}.txt"] = content(chance)
    return after


def lie_about(chance: random.Random, tree: Path, theirs: set[str]) -> None:
    """A person's own: untracked and ignored files, some in folders of the release, staged ones, and edits of files that
    no patch touches."""
    write_files(tree, {f"src/transformers/mine{number}.py": content(chance) for number in range(2)})
    write_files(tree, {"build/x.log": b"ignored", "tests/models/notes.txt": content(chance), "staged.py": b"s = 1\n"})
    git(tree, "add", "staged.py")
    (tree / "staged.py").write_bytes(b"s = 2\n")
    tracked = [path for path in git(tree, "ls-files", "-z").split("\0") if path and path not in theirs]
    for path in chance.sample(tracked, min(2, len(tracked))):
        (tree / path).write_bytes(b"edited\n")
        if chance.random() < 0.5:
            git(tree, "--literal-pathspecs", "add", path)


def play(grounds: Grounds, seed: int, tree: Path, name: str, killing: bool) -> int:
    """Write a random series; apply and undo it, killed now and then; how many times it was."""
    chance = random.Random(seed)
    states = [grounds.sources("5.0.0")]
    for number in range(chance.randrange(1, 4)):
        states.append(changed(chance, states[-1], number))
    grounds.series(name, "5.0.0", states[1:])
    theirs = {path.removesuffix("*") for state in states[1:] for path in state.keys() ^ states[0].keys()}
    theirs |= {path.removesuffix("*") for state in states[1:] for path in state if state[path] != states[0].get(path)}
    lie_about(chance, tree, theirs)
    before = snapshot(tree)
    killed = killing and steps_of(grounds, tree, "apply", chance.randrange(1, 160), name) is None
    put(grounds, tree, name)
    for path, wanted in states[-1].items():
        if path.removesuffix("*") in theirs:
            assert (tree / path.removesuffix("*")).read_bytes() == wanted, (seed, path)
    killed_again = killing and steps_of(grounds, tree, "undo", chance.randrange(1, 160), name) is None
    try:
        take(grounds, tree, name)
    except BadInput as error:
        assert killing and "not applied" in str(error)
    assert snapshot(tree) == before, seed
    git(tree, "reset", "--quiet", "--hard")
    git(tree, "clean", "-qfdx")
    return killed + killed_again


def rounds(grounds: Grounds, seed: int, count: int, killing: bool) -> None:
    """Some series on one random release, on a clone and on a checkout in turn."""
    grounds.add_releases({"5.0.0": release(random.Random(seed))})
    trees = [grounds.clone("5.0.0", {".gitignore": b"*.log\n"}), grounds.checkout("5.0.0")]
    killed = [play(grounds, 1000 * seed + n, trees[n % 2], f"random-{n}", killing) for n in range(count)]
    assert not killing or sum(killed) > count // 2
    fsck(trees[0])
    fsck(grounds.mirror())


def test_some_random_series(grounds: Grounds) -> None:
    rounds(grounds, 0, 2, killing=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, KILLS + 1))
def test_random_series_with_kills(grounds: Grounds, seed: int) -> None:
    rounds(grounds, seed, 10, killing=True)
