# SPDX-License-Identifier: Apache-2.0
"""Checkouts for people: what lies there is never overwritten."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.core.errors import BadInput
from headwater.effects.checkouts import checkouts_of, lay_out_checkout, works_of_people
from headwater.effects.git import GitDir, GitFailed
from headwater.effects.mirror import Mirror
from headwater.effects.workspace import Cache

Git = Callable[..., str]
FILES = {"transformers/__init__.py": b"__version__ = '5.0.0'\n", "transformers/crlf.py": b"a = 1\r\n"}


@pytest.fixture
def release(mirror_of: Callable[..., tuple[Mirror, list[str]]]) -> tuple[GitDir, str]:
    """The mirror's repository and the commit of a release in it."""
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    return mirror.git, commit


def test_a_checkout_is_a_git_work_tree_of_the_release(
    cache: Cache, release: tuple[GitDir, str], tmp_path: Path, git: Git
) -> None:
    repository, commit = release
    target = tmp_path / "checkouts" / "5.0.0"
    assert checkouts_of(cache) == set()
    assert lay_out_checkout(repository, cache, target, commit) is False
    assert checkouts_of(cache) == {str(target)}
    assert git(target, "rev-parse", "HEAD") == commit
    assert git(target, "status", "--porcelain") == ""
    assert (target / "src" / "transformers" / "crlf.py").read_bytes() == b"a = 1\r\n"


def test_what_a_person_did_there_stays(cache: Cache, release: tuple[GitDir, str], tmp_path: Path, git: Git) -> None:
    repository, commit = release
    target = tmp_path / "checkouts" / "5.0.0"
    lay_out_checkout(repository, cache, target, commit)
    file = target / "src" / "transformers" / "__init__.py"
    file.write_bytes(b"mine\n")
    git(target, "switch", "--quiet", "-c", "my-work")
    git(target, "commit", "--quiet", "-am", "mine")
    mine = git(target, "rev-parse", "HEAD")
    file.write_bytes(b"mine, not committed\n")
    assert lay_out_checkout(repository, cache, target, commit) is True
    assert file.read_bytes() == b"mine, not committed\n"
    assert git(target, "branch", "--show-current") == "my-work"
    assert git(target, "rev-parse", "HEAD") == mine


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "other repository", "dangling link"])
def test_something_else_that_lies_there_is_refused_and_stays(
    cache: Cache, release: tuple[GitDir, str], tmp_path: Path, git: Git, kind: str
) -> None:
    repository, commit = release
    target = tmp_path / "5.0.0"
    if kind == "file":
        target.write_bytes(b"mine\n")
    elif kind == "dangling link":
        target.symlink_to(tmp_path / "nowhere")
    else:
        target.mkdir()
        if kind == "folder":
            (target / "mine").write_bytes(b"mine\n")
        elif kind == "other repository":
            git(target, "init", "--quiet")
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in [target, *target.rglob("*")])
    with pytest.raises(BadInput, match=rf"{target} is there and is no checkout"):
        lay_out_checkout(repository, cache, target, commit)
    assert sorted((str(path), path.lstat().st_mtime_ns) for path in [target, *target.rglob("*")]) == before


def test_a_checkout_that_a_person_removed_can_be_made_again_when_its_registration_goes(
    cache: Cache, release: tuple[GitDir, str], tmp_path: Path, git: Git
) -> None:
    repository, commit = release
    target = tmp_path / "checkouts" / "5.0.0"
    lay_out_checkout(repository, cache, target, commit)
    shutil.rmtree(target)
    assert checkouts_of(cache) == set()
    with pytest.raises(BadInput, match=rf"{target} and is gone") as caught:
        lay_out_checkout(repository, cache, target, commit)
    [_, said, *_rest] = str(caught.value).rpartition("if it was deleted, ")[2].split("`")
    git(tmp_path, *shlex.split(said.removeprefix("git ")))
    assert lay_out_checkout(repository, cache, target, commit) is False
    assert (target / "src" / "transformers" / "__init__.py").is_file()


def test_a_checkout_that_a_person_moved_keeps_what_was_done_there(
    cache: Cache, release: tuple[GitDir, str], tmp_path: Path, git: Git
) -> None:
    repository, commit = release
    target, moved = tmp_path / "checkouts" / "5.0.0", tmp_path / "elsewhere"
    lay_out_checkout(repository, cache, target, commit)
    (target / "src" / "transformers" / "__init__.py").write_bytes(b"mine\n")
    git(target, "commit", "--quiet", "-am", "mine")
    mine = git(target, "rev-parse", "HEAD")
    target.rename(moved)
    with pytest.raises(BadInput, match=r"If it was moved, run `git worktree repair` in it"):
        lay_out_checkout(repository, cache, target, commit)
    git(moved, "worktree", "repair")
    assert checkouts_of(cache) == {str(moved)}
    assert lay_out_checkout(repository, cache, target, commit) is False
    assert git(moved, "rev-parse", "HEAD") == mine
    assert git(moved, "status", "--porcelain") == ""
    assert works_of_people(repository, cache) == sorted([str(target), str(moved)])


def test_branches_and_stashes_are_works_of_people(
    cache: Cache, release: tuple[GitDir, str], tmp_path: Path, git: Git
) -> None:
    repository, commit = release
    assert works_of_people(repository, cache) == []
    target = tmp_path / "5.0.0"
    lay_out_checkout(repository, cache, target, commit)
    assert works_of_people(repository, cache) == [str(target)]
    git(target, "branch", "my-work")
    (target / "src" / "transformers" / "__init__.py").write_bytes(b"mine\n")
    git(target, "stash", "--quiet")
    refs = ["refs/heads/my-work", "refs/stash"]
    assert works_of_people(repository, cache) == [str(target), *refs]
    shutil.rmtree(target)
    assert works_of_people(repository, cache) == refs


def test_checkouts_of_a_damaged_mirror_are_still_known(
    cache: Cache, release: tuple[GitDir, str], tmp_path: Path
) -> None:
    repository, commit = release
    lay_out_checkout(repository, cache, tmp_path / "5.0.0", commit)
    (cache.mirror / "HEAD").unlink()
    assert checkouts_of(cache) == {str(tmp_path / "5.0.0")}
    assert works_of_people(repository, cache) == [str(tmp_path / "5.0.0")]


def test_a_checkout_that_fails_leaves_nothing(cache: Cache, release: tuple[GitDir, str], tmp_path: Path) -> None:
    repository, commit = release
    target = tmp_path / "5.0.0"
    with pytest.raises(GitFailed):
        lay_out_checkout(repository, cache, target, "1" * 40)
    assert not target.exists()
    assert lay_out_checkout(repository, cache, target, commit) is False


def test_a_checkout_behind_a_link_is_known_again(cache: Cache, release: tuple[GitDir, str], tmp_path: Path) -> None:
    repository, commit = release
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    target = tmp_path / "link" / "5.0.0"
    assert lay_out_checkout(repository, cache, target, commit) is False
    assert lay_out_checkout(repository, cache, target, commit) is True


def test_without_a_mirror_there_are_none(cache: Cache) -> None:
    assert checkouts_of(cache) == set()
    assert works_of_people(GitDir(cache.mirror), cache) == []


def test_the_mirror_itself_is_no_checkout_even_behind_a_link(release: tuple[GitDir, str], cache: Cache) -> None:
    link = cache.root.with_name("link")
    link.symlink_to(cache.root)
    linked = Cache(link, "transformers")
    assert checkouts_of(linked) == set()
