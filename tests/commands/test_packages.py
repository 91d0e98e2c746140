# SPDX-License-Identifier: Apache-2.0
"""The packages: built, installed in a bare environment, and put to work there on a workspace of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import uv

from tests.conftest import CACHE, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.releases, pytest.mark.xdist_group("packages")]
UV = uv.find_uv_bin()


def call(*words: str | Path, cwd: Path, environ: Mapping[str, str] | None = None, status: int = 0) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env={**kept, **(environ or {})}, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("packages")
    environ = {"UV_CACHE_DIR": str(CACHE / "uv")}
    call(UV, "build", "--quiet", "--out-dir", folder, ROOT, cwd=folder, environ=environ)
    return folder


def test_an_sdist_holds_no_caches_and_a_wheel_only_headwater(packages: Path) -> None:
    [sdist], [wheel] = packages.glob("*.tar.gz"), packages.glob("*.whl")
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    upstream = [name for name in names if name.startswith("upstream/")]
    assert all(name.endswith((".toml", ".txt")) for name in upstream), upstream
    assert {"tests/conftest.py", "docs/architecture.md", "CHANGELOG.md", "SECURITY.md"} <= set(names)
    with zipfile.ZipFile(wheel) as archive:
        inside = archive.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in inside} == {"headwater"}
    assert not any("__pycache__" in name for name in inside)


def test_a_bare_environment_and_a_workspace_elsewhere(packages: Path, tmp_path: Path) -> None:
    [wheel] = packages.glob("*.whl")
    call(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    call(UV, "pip", "install", "--quiet", "--python", python, wheel, cwd=tmp_path)
    headwater, work = tmp_path / "venv" / "bin" / "headwater", tmp_path / "work"
    environ = {"HEADWATER_CACHE": str(CACHE)}
    call(headwater, "init", work, "--library", "toolz", "--first", "1.1.0", cwd=tmp_path)
    call(headwater, "pins", "update", "--trees", cwd=work, environ=environ)
    shown = call(python, work / "scripts" / "headwater.py", "repro", "1.1.0", cwd=work, environ=environ)
    assert "example" in shown and "1 good." in shown
    call(headwater, "init", tmp_path / "whole", cwd=tmp_path)
    # 1: there are known bugs.
    listed = call(headwater, "audit", "5.10.1", "--json", cwd=tmp_path / "whole", environ=environ, status=1)
    assert '"early-init"' in listed
