# SPDX-License-Identifier: Apache-2.0
"""The rules of the house are checked, and the check can fail: a planted fault is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="the dependency group `lint` is not installed here")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the import contracts on a copy, by the way that `nox -s lint` takes."""
    code = "from headwater.bootstrap import run_tool; run_tool(['lint-imports', '--no-cache'])"
    environ = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("core/releases.py", "import subprocess", "core does no I/O"),
        ("core/releases.py", "import headwater.effects.proc", "Imports run one way"),
        ("commands/repro.py", "import subprocess", "One door to processes"),
        ("effects/trees.py", "import requests", "One door to the index"),
        ("commands/repro.py", "import git", "One door to git"),
    ],
)
def test_a_planted_import_breaks_its_contract(root: Path, tmp_path: Path, file: str, line: str, contract: str) -> None:
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", tmp_path)
    whole = lint_imports(tmp_path)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    path = tmp_path / "src" / "headwater" / file
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    broken = lint_imports(tmp_path)
    assert broken.returncode == 1
    assert f"{contract}" in broken.stdout
    assert "BROKEN" in broken.stdout
