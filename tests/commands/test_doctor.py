# SPDX-License-Identifier: Apache-2.0
"""`headwater doctor`, and a machine that lacks git: words, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
NAMES = {
    "Python", "git", "uv", "system", "workspace", "disk", "index", "torch", "devices", "remote", "locale", "nox",
    "dask", "chromium", "npm",
}  # fmt: skip


def findings(done: Any) -> dict[str, dict[str, Any]]:
    """What was found, by name."""
    return {one["name"]: one for one in done.json["findings"]}


@pytest.fixture
def no_git(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH holds no git. GitPython would print, or raise, by this variable."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    return {"PATH": str(tmp_path / "bin"), "GIT_PYTHON_REFRESH": "raise", "HEADWATER_CACHE": str(tmp_path / "cache")}


def test_everything_is_told_of_and_nothing_is_changed(headwater: Run, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = headwater("doctor", "--offline", "--json", environ={"HEADWATER_CACHE": str(cache)})
    seen = findings(done)
    assert seen.keys() == NAMES
    assert {seen[name]["state"] for name in ("Python", "git", "uv", "workspace")} == {"here"}
    assert (seen["index"]["state"], seen["devices"]["state"]) == ("not asked", "not asked")
    assert done.json["well"] == (done.status == 0)
    assert not cache.exists()
    for one in seen.values():
        assert one["found"]
        assert bool(one["cost"]) == (one["state"] == "lacking"), one


def test_without_git(headwater: Run, no_git: dict[str, str]) -> None:
    done = headwater("doctor", "--offline", environ=no_git)
    assert done.status == 1
    assert "git" in done.out.splitlines()[-1]
    assert "no release can be imported or laid out" in " ".join(done.out.split())
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize(
    ("words", "status"),
    [(["--version"], 0), (["audit", "5.10.1"], 1), (["case", "list"], 0), (["patch", "status"], 5)],
)
def test_a_command_without_git_says_so(headwater: Run, no_git: dict[str, str], words: list[str], status: int) -> None:
    done = headwater(*words, environ=no_git)
    assert done.status == status, done.err
    assert "Traceback" not in done.out + done.err
    assert ("git is not installed, or not on PATH" in done.err) == (status == 5)


def test_a_git_that_does_not_start_is_named(headwater: Run, no_git: dict[str, str]) -> None:
    (Path(no_git["PATH"]) / "git").write_text("nothing", encoding="utf-8")
    done = headwater("patch", "status", environ=no_git)
    assert done.status == 5
    assert "git cannot be started" in done.err
    assert "Traceback" not in done.err


def test_outside_of_a_workspace_the_rest_is_told(headwater: Run, tmp_path: Path) -> None:
    done = headwater("doctor", "--json", cwd=tmp_path)
    seen = findings(done)
    assert done.status == 1
    assert (seen["workspace"]["state"], seen["workspace"]["necessary"]) == ("lacking", True)
    assert seen["git"]["state"] == "here"


def test_an_index_and_a_remote_that_do_not_answer(headwater: Run, tmp_path: Path, workspace: Path) -> None:
    environ = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple/", "UV_DEFAULT_INDEX": "", "UV_INDEX_URL": "",
        "UV_HTTP_RETRIES": "0", "NO_PROXY": "127.0.0.1", "HEADWATER_CACHE": str(tmp_path / "cache"),
    }  # fmt: skip
    done = headwater("doctor", "--json", "--repo", tmp_path / "none", cwd=workspace, environ=environ)
    seen = findings(done)
    assert done.status == 1
    assert (seen["index"]["state"], seen["index"]["necessary"]) == ("lacking", True)
    assert "127.0.0.1:9" in seen["index"]["found"]
    assert seen["remote"]["state"] == "lacking"
    assert str(tmp_path / "none") in seen["remote"]["found"]


def test_a_terminal_without_our_signs_shows_question_marks(headwater: Run) -> None:
    done = headwater("audit", "5.10.1", environ={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.status == 1
    assert "Traceback" not in done.err
    assert done.out.isascii()
