# SPDX-License-Identifier: Apache-2.0
"""`headwater init`: a workspace out of what Headwater ships, in a folder that was empty."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.commands.init import init
from headwater.commands.remote.identity import code_of
from headwater.core.errors import BadInput
from headwater.effects import shipping
from headwater.effects.workspace import Workspace, find_root
from tests.conftest import Run


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_shipped_workspace_is_whole(tmp_path: Path, root: Path) -> None:
    report = init(tmp_path / "new", None, None, None)
    folder = tmp_path / "new"
    assert files_below(folder) == sorted(report.files)
    new, own = Workspace(find_root(folder)), Workspace(root)
    assert new.pins == own.pins
    assert new.atlas == own.atlas
    assert new.cases() == own.cases()
    assert new.conformance() == own.conformance()
    assert all(new.lock_text(group.lock) == own.lock_text(group.lock) for group in new.pins.groups)
    assert new.series("hybrid-static-cache").patches == own.series("hybrid-static-cache").patches
    assert os.access(folder / "scripts" / "bisect.py", os.X_OK)


def test_another_library_s_workspace_can_be_read(tmp_path: Path) -> None:
    init(tmp_path / "new", "small", "1.0", None)
    workspace = Workspace(find_root(tmp_path / "new"))
    assert (workspace.pins.package, workspace.pins.releases) == ("small", ())
    assert list(workspace.cases()) == ["example"]
    kit = runpy.run_path(str(tmp_path / "new" / "tests" / "repro" / "casekit.py"))
    assert kit["LIBRARY"] == "small"


def test_a_session_of_nox_for_every_release_and_none_of_headwater_s_own(tmp_path: Path) -> None:
    init(tmp_path / "new", None, None, None)
    listed = subprocess.run(
        [sys.executable, "-m", "nox", "-l"], cwd=tmp_path / "new", capture_output=True, text=True, check=True
    ).stdout
    assert "- repro-5.10.1 ->" in listed
    assert "- pr-diff ->" in listed
    assert "faults" not in listed


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BadInput, match=r"full is not empty: mine\.txt would be in the way; name a new folder"):
        init(tmp_path / "full", None, None, None)
    assert files_below(tmp_path / "full") == ["mine.txt"]
    with pytest.raises(BadInput, match=r"mine\.txt is a file; name a folder"):
        init(tmp_path / "full" / "mine.txt", None, None, None)


def test_an_empty_repository_becomes_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    init(tmp_path, "small", "1.0", None)
    asked = ["git", "status", "--porcelain", "--untracked-files=all"]
    (tmp_path / "upstream" / "small.git").mkdir()
    (tmp_path / "upstream" / "small.git" / "HEAD").touch()
    shown = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "upstream/small.toml" in shown
    assert "small.git" not in shown


def test_what_the_command_says(headwater: Run, tmp_path: Path) -> None:
    done = headwater("init", "work", "--library", "small", "--first", "1.0", cwd=tmp_path)
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "work is a workspace for small: 8 files. Next:", "  cd work", "  headwater pins update --trees",
        "  headwater repro 1.0",
    ]  # fmt: skip
    outside = headwater("repro", "1.0", cwd=tmp_path)
    assert outside.status == 2
    assert "lay one out with `headwater init FOLDER`" in outside.err


@pytest.mark.parametrize("script", ["headwater.py", "bisect.py"])
def test_a_python_without_headwater_is_told_what_it_lacks(tmp_path: Path, script: str) -> None:
    init(tmp_path / "new", "small", "1.0", None)
    words = [sys.executable, "-I", "-S", str(tmp_path / "new" / "scripts" / script)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    wanted = f"headwater is not installed for {sys.executable}: python -m pip install headwater\n"
    assert done.stderr == wanted


def test_a_wheel_ships_its_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipping, "_PACKAGE", tmp_path / "headwater")
    for place in ("headwater/shipped/noxfile.py", "headwater/shipped/tests/repro/a.py"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(place, encoding="utf-8")
    assert shipping.shipped_files() == {
        "noxfile.py": b"headwater/shipped/noxfile.py", "tests/repro/a.py": b"headwater/shipped/tests/repro/a.py",
    }  # fmt: skip
    # Whether it is there says nothing of the code.
    without = code_of(tmp_path)
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "b.py").touch()
    assert code_of(tmp_path) == without
