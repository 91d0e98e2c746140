# SPDX-License-Identifier: Apache-2.0
"""The rules of the house are checked, and the check can fail: a planted fault is found."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.effects.workspace import Cache

ROOT = Path(__file__).resolve().parent.parent.parent

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
        ("commands/remote/workers.py", "import distributed", "One door to Dask"),
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


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no git checkout")
def test_no_cache_can_be_committed(root: Path) -> None:
    """Caches hold upstream's code, and lie in the workspace unless HEADWATER_CACHE names another place."""
    cache = Cache(root / "upstream", "transformers")
    places = [getattr(cache, name) for name, kind in vars(Cache).items() if isinstance(kind, property)]
    places += [root / "upstream" / name for name in ("use.lock", "checkouts/5.0.0", ".store.sqlite3.lock", "whatever")]
    for place in places:
        asked = ["git", "check-ignore", "--quiet", "--no-index", str(place / "x")]
        assert subprocess.run(asked, cwd=root, check=False).returncode == 0, f"{place} is not ignored"
    for name in ("transformers.toml", "locks/5.0-5.15.txt"):
        asked = ["git", "check-ignore", "--quiet", "--no-index", f"upstream/{name}"]
        assert subprocess.run(asked, cwd=root, check=False).returncode == 1, f"{name} is ignored"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no git checkout")
def test_nothing_but_pins_and_locks_is_tracked_beside_upstream(root: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "upstream"], cwd=root, capture_output=True, text=True, check=True)
    strange = [name for name in listed.stdout.split() if not re.fullmatch(r"upstream/(\w+\.toml|locks/.+\.txt)", name)]
    assert strange == []


def test_files_and_functions_are_short(root: Path) -> None:
    files = [root / "noxfile.py", *(root / "scripts").glob("*.py"), *(root / "src").rglob("*.py")]
    long = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        long += [str(file)] if text.count("\n") > 400 else []
        functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
        long += [f"{file}: {one.name}" for one in functions if (one.end_lineno or 0) - one.lineno >= 40]
    assert long == []
