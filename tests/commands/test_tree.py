# SPDX-License-Identifier: Apache-2.0
"""Checkouts and `--tree`: what a person edits is probed as it is, at once, and left as it was."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.releases
Run = Callable[..., Any]

PATCH = "patches/hybrid-static-cache/0001-early-initialization-skips-layers-without-key-value-states.patch"


def git(folder: Path, *words: str | Path) -> str:
    """Run git in a checkout."""
    done = subprocess.run(["git", *map(str, words)], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def checkout(headwater: Run, workspace: Path) -> Iterator[Path]:
    """A checkout of 5.10.1 in a workspace of the test's own."""
    done = headwater("checkout", "5.10.1", "--json", cwd=workspace)
    assert done.status == 0, done.err
    path = Path(done.json["path"])
    assert path == workspace / "upstream" / "checkouts" / "5.10.1"
    yield path
    git(path, "worktree", "remove", "--force", path)


def verdict(headwater: Run, workspace: Path, tree: Path) -> str:
    """The verdict of early-init on a folder."""
    done = headwater("repro", "--tree", tree, "--case", "early-init", "--json", cwd=workspace)
    [word] = done.verdicts().values()
    return str(word)


def test_edit_until_good_and_undo(headwater: Run, workspace: Path, checkout: Path) -> None:
    assert verdict(headwater, workspace, checkout) == "bad"
    git(checkout, "apply", workspace / PATCH)
    assert verdict(headwater, workspace, checkout) == "good"
    git(checkout, "apply", "--reverse", workspace / PATCH)
    assert verdict(headwater, workspace, checkout) == "bad"
    assert git(checkout, "status", "--porcelain") == ""


def test_to_what_a_case_applies_says_nothing_of_a_folder(
    headwater: Run, workspace: Path, checkout: Path, tmp_path: Path
) -> None:
    source = (workspace / "tests" / "repro" / "early_init.py").read_text(encoding="utf-8")
    cases = tmp_path / "cases"
    cases.mkdir()
    later = source.replace('id = "early-init"', 'id = "t-later"\n# applies = ">=5.13"')
    (cases / "later.py").write_text(later, encoding="utf-8")
    words = ("repro", "--cases-dir", cases, "--case", "t-later", "--json")
    assert headwater(*words, "5.10.1", cwd=workspace).verdicts() == {"t-later": "absent"}
    assert headwater(*words, "--tree", checkout, cwd=workspace).verdicts() == {"t-later": "bad"}


def test_a_checkout_that_is_there_is_left_as_it_is(headwater: Run, workspace: Path, checkout: Path) -> None:
    file = checkout / "src" / "transformers" / "cache_utils.py"
    file.write_text("# mine\n", encoding="utf-8")
    done = headwater("checkout", "5.10.1", "--json", cwd=workspace)
    assert (done.status, done.json["existed"]) == (0, True)
    assert file.read_text(encoding="utf-8") == "# mine\n"


def test_the_mirror_stays_while_a_checkout_depends_on_it(headwater: Run, workspace: Path, tmp_path: Path) -> None:
    cache = {"HEADWATER_CACHE": str(tmp_path / "cache")}
    path = Path(headwater("checkout", "5.10.1", "--json", cwd=workspace, environ=cache).json["path"])
    done = headwater("cache", "clean", cwd=workspace, environ=cache)
    assert done.status == 0
    assert str(path) in done.err
    assert git(path, "log", "--format=%s") == "transformers 5.10.1\n"


def test_a_clone_with_its_own_branch_and_dirty_files_is_left_as_it_was(
    headwater: Run, workspace: Path, checkout: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--no-hardlinks", checkout, clone)
    git(clone, "switch", "--quiet", "--create", "mine")
    git(clone, "apply", workspace / PATCH)
    git(clone, "add", "src/transformers/cache_utils.py")
    (clone / "src" / "transformers" / "scratch.py").write_text("x = 1\n", encoding="utf-8")
    before = snapshot(clone)
    assert verdict(headwater, workspace, clone) == "good"
    assert snapshot(clone) == before


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Size, modification time and mode of every file, git's own included."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(place) / name
            state = path.lstat()
            found[str(path)] = (state.st_size, state.st_mtime_ns, state.st_mode)
    return found
