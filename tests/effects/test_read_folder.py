# SPDX-License-Identifier: Apache-2.0
"""A person's own clone: read as Python would import it, and left byte for byte as it was."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.core.errors import BadInput
from headwater.effects.folders import Folders
from headwater.effects.git import GitDir, init_bare
from headwater.effects.trees import Trees
from headwater.effects.workspace import Cache

Git = Callable[..., str]


@pytest.fixture
def clone(tmp_path: Path, git: Git) -> Path:
    """A clone of a repository, on a branch of its own."""
    upstream, clone = tmp_path / "upstream", tmp_path / "clone"
    library = upstream / "src" / "transformers"
    (library / "models").mkdir(parents=True)
    (library / "__init__.py").write_bytes(b"__version__ = '5.0.0'\n")
    (library / "crlf.py").write_bytes(b"a = 1\r\nb = 2\r\n")
    (library / "models" / "x.py").write_bytes(b"x = 1\n")
    (library / "run.sh").write_bytes(b"#!/bin/sh\n")
    (library / "run.sh").chmod(0o755)
    (upstream / "setup.py").write_bytes(b"# outside the library\n")
    (upstream / ".gitignore").write_bytes(b"local_*.py\n__pycache__/\n")
    git(upstream, "init", "--quiet")
    git(upstream, "add", "--all")
    git(upstream, "commit", "--quiet", "-m", "one")
    git(tmp_path, "clone", "--quiet", str(upstream), str(clone))
    git(clone, "switch", "--quiet", "-c", "my-work")
    return clone


@pytest.fixture
def folders(cache: Cache) -> Folders:
    """What reads folders into an empty mirror."""
    cache.root.mkdir()
    init_bare(cache.mirror)
    return Folders(cache, GitDir(cache.mirror), "transformers")


@pytest.fixture
def trees(cache: Cache, folders: Folders) -> Trees:
    """The trees of the mirror that folders are read into."""
    return Trees(cache, GitDir(cache.mirror), "transformers")


def id_by_git(git: Git, clone: Path, tmp_path: Path) -> str:
    """The id that git itself gives to the library as it lies there, by way of an index of its own."""
    aside = {"GIT_INDEX_FILE": str(tmp_path / "aside")}
    git(clone, "-c", "core.autocrlf=false", "add", "--all", "--force", "src/transformers", **aside)
    tree = git(clone, "write-tree", **aside)
    (tmp_path / "aside").unlink()
    return git(clone, "rev-parse", f"{tree}:src/transformers")


def snapshot(folder: Path) -> dict[str, object]:
    """Everything that can be seen of a folder."""
    seen: dict[str, object] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        state = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        seen[str(path)] = (state.st_mode, state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino, content)
    return seen


def edit(clone: Path, git: Git) -> None:
    """Staged, unstaged, staged and edited again, new, ignored, deleted, executable."""
    library = clone / "src" / "transformers"
    (library / "staged.py").write_bytes(b"staged = 1\n")
    git(clone, "add", "src/transformers/staged.py")
    (library / "models" / "x.py").write_bytes(b"x = 2\n")
    git(clone, "add", "src/transformers/models/x.py")
    (library / "models" / "x.py").write_bytes(b"x = 3\n")
    (library / "new.py").write_bytes(b"new = 1\r\n")
    (library / "local_hack.py").write_bytes(b"ignored by git, not by import\n")
    (library / "run.sh").chmod(0o644)
    (library / "new.py").chmod(0o755)
    (library / "crlf.py").unlink()


def test_a_clean_clone_has_the_id_of_its_commit(clone: Path, git: Git, folders: Folders) -> None:
    assert folders.read(clone) == git(clone, "rev-parse", "HEAD:src/transformers")


def test_an_edited_clone_has_the_id_that_git_gives_it(
    clone: Path, git: Git, folders: Folders, trees: Trees, tmp_path: Path
) -> None:
    edit(clone, git)
    seen = folders.read(clone)
    assert seen == id_by_git(git, clone, tmp_path)
    assert seen != git(clone, "rev-parse", "HEAD:src/transformers")
    library = trees.ensure(seen).path / "transformers"
    names = sorted(path.relative_to(library).as_posix() for path in library.rglob("*") if path.is_file())
    assert names == ["__init__.py", "local_hack.py", "models/x.py", "new.py", "run.sh", "staged.py"]
    assert (library / "models" / "x.py").read_bytes() == b"x = 3\n"
    assert (library / "new.py").read_bytes() == b"new = 1\r\n"
    assert [bool((library / name).stat().st_mode & 0o111) for name in ("new.py", "run.sh")] == [True, False]


def test_the_clone_is_left_byte_for_byte_as_it_was(clone: Path, git: Git, folders: Folders, trees: Trees) -> None:
    edit(clone, git)
    before, status = snapshot(clone), git(clone, "status", "--porcelain", GIT_OPTIONAL_LOCKS="0")
    trees.ensure(folders.read(clone))
    assert snapshot(clone) == before
    assert git(clone, "status", "--porcelain", GIT_OPTIONAL_LOCKS="0") == status
    assert git(clone, "branch", "--show-current") == "my-work"


@pytest.mark.parametrize("part", [".", "src", "src/transformers"])
def test_the_root_its_src_or_the_library_itself(clone: Path, git: Git, folders: Folders, part: str) -> None:
    assert folders.read(clone / part) == git(clone, "rev-parse", "HEAD:src/transformers")


@pytest.mark.parametrize("part", ["src/transformers/models", ".git", "missing"])
def test_where_the_library_is_not(clone: Path, folders: Folders, part: str) -> None:
    with pytest.raises(BadInput, match=r"no src/transformers/__init__\.py there"):
        folders.read(clone / part)


@pytest.mark.parametrize(
    "name",
    [
        "__pycache__/x.cpython-311.pyc",
        "__pycache__/notes.txt", "models/__pycache__/y.pyc", "stray.pyc", "old.pyo", ".git/config",
        ".mypy_cache/3.11/x.json", ".ruff_cache/x", ".pytest_cache/x",
    ],
)  # fmt: skip
def test_what_no_import_reads_is_left_out(clone: Path, folders: Folders, name: str) -> None:
    before = folders.read(clone)
    path = clone / "src" / "transformers" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    assert folders.read(clone) == before


@pytest.mark.parametrize("pause", [False, True], ids=["at once", "with the same time stamp"])
def test_contents_of_the_same_size_in_the_same_second_differ(
    clone: Path, folders: Folders, trees: Trees, pause: bool
) -> None:
    file = clone / "src" / "transformers" / "models" / "x.py"
    ids = []
    for content in (b"x = 7\n", b"x = 8\n"):
        file.write_bytes(content)
        if pause:
            os.utime(file, (1_700_000_000, 1_700_000_000))
        ids.append(folders.read(clone))
    assert len(set(ids)) == 2
    for tree_id, content in zip(ids, (b"x = 7\n", b"x = 8\n"), strict=True):
        assert (trees.ensure(tree_id).path / "transformers" / "models" / "x.py").read_bytes() == content


def test_a_clone_that_changes_while_it_is_probed_does_not_change_the_tree(
    clone: Path, folders: Folders, trees: Trees
) -> None:
    tree = trees.ensure(folders.read(clone))
    (clone / "src" / "transformers" / "models" / "x.py").write_bytes(b"x = 9\n")
    assert (tree.path / "transformers" / "models" / "x.py").read_bytes() == b"x = 1\n"


@pytest.mark.parametrize("eol", ["lf", "crlf"])
def test_attributes_and_filters_have_no_say(clone: Path, git: Git, folders: Folders, trees: Trees, eol: str) -> None:
    library = clone / "src" / "transformers"
    (library / ".gitattributes").write_text(f"*.py text eol={eol} filter=shout\n", encoding="utf-8")
    git(clone, "config", "filter.shout.clean", "tr a-z A-Z")
    tree = trees.ensure(folders.read(clone))
    for name in ("crlf.py", "__init__.py", "models/x.py"):
        assert (tree.path / "transformers" / name).read_bytes() == (library / name).read_bytes()


def test_links_are_followed(clone: Path, folders: Folders, trees: Trees, tmp_path: Path) -> None:
    library, outside = clone / "src" / "transformers", tmp_path / "outside"
    outside.mkdir()
    (outside / "y.py").write_bytes(b"y = 1\n")
    (library / "linked").symlink_to(outside)
    (library / "z.py").symlink_to(outside / "y.py")
    laid_out = trees.ensure(folders.read(clone)).path / "transformers"
    assert (laid_out / "linked" / "y.py").read_bytes() == b"y = 1\n"
    assert (laid_out / "z.py").read_bytes() == b"y = 1\n"
    assert not (laid_out / "z.py").is_symlink()


def test_an_editors_dangling_lock_link_does_not_matter(clone: Path, folders: Folders) -> None:
    before = folders.read(clone)
    (clone / "src" / "transformers" / ".#cache_utils.py").symlink_to("somebody@machine.1234:1700000000")
    assert folders.read(clone) == before


def test_a_pipe_among_the_files_does_not_hang(clone: Path, folders: Folders) -> None:
    before = folders.read(clone)
    pipe = clone / "src" / "transformers" / "pipe"
    os.mkfifo(pipe)

    def release_whoever_reads() -> None:
        with contextlib.suppress(OSError):  # nobody reads
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))

    rescue = threading.Timer(5, release_whoever_reads)
    rescue.start()
    try:
        assert folders.read(clone) == before
    finally:
        rescue.cancel()


def test_a_link_to_a_folder_above_ends(clone: Path, folders: Folders, trees: Trees) -> None:
    (clone / "src" / "transformers" / "models" / "self").symlink_to("..")
    before = time.monotonic()
    library = trees.ensure(folders.read(clone)).path / "transformers"
    assert time.monotonic() - before < 10
    assert sum(1 for path in library.rglob("x.py")) <= 2


def test_a_line_feed_in_a_files_name_is_named(clone: Path, folders: Folders) -> None:
    (clone / "src" / "transformers" / "a\nb.py").write_bytes(b"")
    with pytest.raises(BadInput, match="line feed"):
        folders.read(clone)


@pytest.mark.parametrize("name", ['"quoted".py', " leading.py", "tab\t.py", "back\\slash.py", "\u00fc.py"])
def test_unusual_names(clone: Path, git: Git, folders: Folders, trees: Trees, tmp_path: Path, name: str) -> None:
    (clone / "src" / "transformers" / name).write_bytes(b"odd = 1\n")
    seen = folders.read(clone)
    assert seen == id_by_git(git, clone, tmp_path)
    assert (trees.ensure(seen).path / "transformers" / name).read_bytes() == b"odd = 1\n"
