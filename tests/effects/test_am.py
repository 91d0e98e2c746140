# SPDX-License-Identifier: Apache-2.0
"""`git am` in a repository that goes away: the same trees as in a full clone, and git's own words where it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hunting_ground import git

from headwater.core.errors import PatchFailed
from headwater.effects.am import run_am
from headwater.effects.git import GitDir

FILES = {
    "src/lib/a.py": "a = 1\n",
    "src/lib/deep/b.py": "b = 1\n",
    "README.md": "read\n",
    "src/lib/crlf.py": "c = 1\r\n",
}


@pytest.fixture
def author(tmp_path: Path) -> Path:
    """A repository with two commits on top of its first."""
    folder = tmp_path / "author"
    folder.mkdir()
    git(folder, "init", "--quiet")
    steps = [FILES, {"src/lib/a.py": "a = 2\n", "tests/utils/test_a.py": "x\n"}, {"src/lib/crlf.py": "c = 2\r\n"}]
    for number, files in enumerate(steps):
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode())
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", f"Step {number}")
    return folder


def patches_of(author: Path) -> list[Path]:
    git(author, "format-patch", "--quiet", "-o", str(author.parent / "patches"), "HEAD~2")
    return sorted((author.parent / "patches").iterdir())


def test_the_same_trees_as_the_authors(author: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in (author / ".git").iterdir())
    base = git(author, "rev-parse", "HEAD~2")
    (tmp_path / "am").mkdir()
    found = run_am(tmp_path / "am", [GitDir(author / ".git")], base, patches_of(author), "src/lib")
    assert found == [
        (git(author, "rev-parse", f"{one}^{{tree}}"), git(author, "rev-parse", f"{one}:src/lib"))
        for one in ("HEAD~1", "HEAD")
    ]
    assert sorted(path.name for path in (author / ".git").iterdir()) == before


def test_what_git_refuses_is_told_in_its_words(author: Path, tmp_path: Path) -> None:
    patches = patches_of(author)
    head = git(author, "rev-parse", "HEAD")
    (tmp_path / "am").mkdir()
    with pytest.raises(PatchFailed, match=r"Patch failed at 0001 Step 1"):
        run_am(tmp_path / "am", [GitDir(author / ".git")], head, patches, "src/lib")


def test_a_file_that_is_there_already(author: Path, tmp_path: Path) -> None:
    """Upstream has got a test of the same name meanwhile: only on the whole tree is that seen."""
    patches = patches_of(author)
    git(author, "checkout", "--quiet", "HEAD~2")
    (author / "tests" / "utils").mkdir(parents=True, exist_ok=True)
    (author / "tests" / "utils" / "test_a.py").write_text("another\n", encoding="utf-8")
    git(author, "add", "--all")
    git(author, "commit", "--quiet", "-m", "Meanwhile")
    (tmp_path / "am").mkdir()
    with pytest.raises(PatchFailed, match=r"tests/utils/test_a.py: already exists in index"):
        run_am(tmp_path / "am", [GitDir(author / ".git")], git(author, "rev-parse", "HEAD"), patches, "src/lib")
