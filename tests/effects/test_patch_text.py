# SPDX-License-Identifier: Apache-2.0
"""A commit as a patch file: what is read from it, applied and written again is the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.core.errors import BadInput
from headwater.core.mail import read_patch
from headwater.effects.git import GitDir
from headwater.effects.merging import Bench
from headwater.effects.patch_text import patch_text

Git = Callable[..., str]


@pytest.fixture
def work(tmp_path: Path, git: Git) -> Path:
    """A repository with one commit: a text, a script, a binary."""
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "text.py").write_bytes(b"".join(b"line %d\n" % n for n in range(40)))
    (folder / "script").write_bytes(b"#!/bin/sh\n" * 9)
    (folder / "binary").write_bytes(bytes(range(256)))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "base")
    return folder


def change_text(folder: Path) -> None:
    path = folder / "text.py"
    path.write_bytes(path.read_bytes().replace(b"line 7\n", b"Zeile 7\r\n") + b"no end of line")


def change_binary(folder: Path) -> None:
    (folder / "binary").write_bytes(bytes(reversed(range(256))))


def rename(folder: Path) -> None:
    (folder / "text.py").rename(folder / "te\u00dft file.py")


def make_executable(folder: Path) -> None:
    (folder / "script").chmod(0o755)


def delete(folder: Path) -> None:
    (folder / "script").unlink()


@pytest.mark.parametrize("change", [change_text, change_binary, rename, make_executable, delete])
@pytest.mark.parametrize(
    "message", ["plain", f"{'long ' * 30}\n\nBody.\n\n  indented\n\nBug: here\nHeadwater-Case: x", "Größe\n\nüber"]
)
def test_what_is_applied_gives_the_same_text(
    tmp_path: Path, work: Path, git: Git, change: Callable[[Path], None], message: str
) -> None:
    base = git(work, "rev-parse", "HEAD")
    change(work)
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", message, GIT_AUTHOR_NAME="Zoë, the Ångström")
    repository = GitDir(work / ".git")
    text = patch_text(repository, "HEAD")
    patch = read_patch("0001-x.patch", text)
    bench = Bench(repository, tmp_path)
    commit = bench.commit(patch, bench.apply_strictly(patch, base, "example", "5.0.0"), base)
    assert bench.tree_of(commit) == bench.tree_of("HEAD")
    assert patch_text(repository, commit) == text
    assert git(work, "log", "-1", "--format=%an%n%B") == git(work, "log", "-1", "--format=%an%n%B", commit)


def test_what_no_patch_file_can_hold(work: Path, git: Git) -> None:
    repository = GitDir(work / ".git")
    git(work, "commit", "--quiet", "--allow-empty", "-m", "nothing")
    with pytest.raises(BadInput, match=r"\(nothing\) changes no file"):
        patch_text(repository, "HEAD")
    change_text(work)
    git(work, "commit", "--quiet", "-am", "cut\n\nbefore\n---\nafter")
    with pytest.raises(BadInput, match=r"\(cut\) would be cut"):
        patch_text(repository, "HEAD")
