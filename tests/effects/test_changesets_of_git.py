# SPDX-License-Identifier: Apache-2.0
"""Changesets of what git itself says of two trees: none of the units is the one, all are the other."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headwater.core.changesets import TreeFile, Unit, read_changeset
from headwater.effects.git import GitDir, init_bare

LINES = [
    b"a\n",
    b"b\r\n",
    b"c\n",
    b"\xff\n",
    b"\n",
    b"d\n",
    b"-- \n",
    b"@@ -1 +1 @@\n",
    b"\\ No newline at end of file\n",
]
PATHS = ["a.py", "folder/b.py", "with space.txt", 'quo"te', "ümlaut.py", "tab\tbed", "c.bin"]
Files = dict[str, TreeFile]


def content(rng: random.Random) -> bytes:
    text = b"".join(rng.choices(LINES, k=rng.randint(0, 12)))
    return {0: text[:-1], 1: text + b"\0", 2: b""}.get(rng.randint(0, 9), text)


def files(rng: random.Random) -> Files:
    chosen = rng.sample(PATHS, rng.randint(1, len(PATHS)))
    return {path: TreeFile(content(rng), rng.choice(["100644", "100644", "100755"])) for path in chosen}


def tree_of(git: GitDir, folder: Path, made: Files) -> str:
    """The id of a tree of these files."""
    for path, (data, mode) in made.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(int(mode, 8) & 0o777)
    index = folder.with_suffix(".index")
    git("add", "--all", ".", work_tree=folder, index=index)
    return git("write-tree", work_tree=folder, index=index)


@pytest.mark.parametrize("seed", range(25))
def test_none_is_one_tree_and_all_are_the_other(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    git = GitDir(tmp_path / "repository.git")
    init_bare(git.path)
    old, new = files(rng), files(rng)
    ids = []
    for name, made in (("old", old), ("new", new)):
        (tmp_path / name).mkdir()
        ids.append(tree_of(git, tmp_path / name, made))
    diff = git.raw("diff", "-U0", "--no-renames", *ids)
    changes = read_changeset(
        diff, {path: file.content for path, file in old.items()}, {path: file.content for path, file in new.items()}
    )
    assert {file.path for file in changes.files} == {p for p in PATHS if old.get(p) != new.get(p)}
    for path in changes.by_path:
        assert changes.made(path, frozenset()) == old.get(path)
    made_all = changes.applied(changes.units)
    assert made_all == {path: new.get(path) for path in changes.by_path}
    lines: list[Unit] = [line for unit in changes.units for line in changes.lines(unit) or (unit,)]
    rng.shuffle(lines)
    assert changes.applied(lines) == made_all
