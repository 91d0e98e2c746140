# SPDX-License-Identifier: Apache-2.0
"""What all tests share: no home folder, and the way to run `headwater` as a user does."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from forking import run_module
from founding import FOUNDING
from hypothesis import settings
from index_server import IndexServer, serving

ROOT = Path(__file__).resolve().parent.parent
# Releases, environments and verdicts of the tests stay here between runs; a fresh clone begins with nothing.
CACHE = Path(os.environ.get("HEADWATER_TEST_CACHE", ROOT / ".cache" / "tests"))
# A machine that is busy with probes must not fail a property for its time. Every day a property is tried on fewer
# examples than where all are asked for, as in .ci/run; and where HEADWATER_TEST_FIXED is set, as there, every run draws
# the same, so that what lands does not hang on luck.
settings.register_profile("whole", deadline=None, derandomize="HEADWATER_TEST_FIXED" in os.environ)
settings.register_profile("everyday", settings.get_profile("whole"), max_examples=30)
settings.load_profile("whole" if os.environ.get("HEADWATER_TEST_EXAMPLES") == "all" else "everyday")
_UNSET = (
    "HEADWATER_WORKSPACE", "HEADWATER_CASES", "HEADWATER_DEVICE", "HEADWATER_ALLOW_CUDA_TORCH",
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
)  # fmt: skip


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tests' home folders are made."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def no_home(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder that must be empty when the test ends: nothing of ours is written there."""
    home = Path(tempfile.mkdtemp(dir=homes))
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in _UNSET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(CACHE / "uv"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", "")  # a repository of a test begins without fourteen files of examples
    yield home
    assert list(home.iterdir()) == [], "something was written to the home folder"
    home.rmdir()


MakeOnce = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """`make_once(NAME, MAKE)`: the folder NAME, filled by MAKE once for all workers of the run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make_once(name: str, make: Callable[[Path], None]) -> Path:
        folder, made = shared / name, shared / f"{name}.made"
        with FileLock(shared / f"{name}.lock"):
            if not made.exists():
                shutil.rmtree(folder, ignore_errors=True)  # left by a worker in which it failed
                folder.mkdir()
                make(folder)
                made.touch()
        return folder

    return make_once


@dataclass(frozen=True)
class Done:
    """How a run of `headwater` ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON object and nothing else."""
        return json.loads(self.out)

    def verdicts(self) -> dict[str, str]:
        """Verdict by case, of a run with `--json` on one device."""
        return {probe["case"]: probe["verdict"] for probe in self.json["probes"]}


Run = Callable[..., Done]


def run_headwater(*words: str | Path, cwd: Path = ROOT, environ: Mapping[str, str] | None = None) -> Done:
    """Run `headwater WORDS` as a process of its own, on the tests' caches."""
    extra = {"HEADWATER_CACHE": str(CACHE), "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120", **(environ or {})}
    ended = run_module([str(word) for word in words], cwd, {**os.environ, **extra})
    return Done(ended.status, ended.out, ended.err)


@pytest.fixture
def headwater() -> Run:
    """Run `headwater` with the given words in the repository, or in the folder `cwd`."""
    return run_headwater


@pytest.fixture
def whole_workspace(tmp_path: Path) -> Path:
    """A copy of the workspace (pins, locks, series, cases, atlas) that a test may change; it shares the caches."""
    root = tmp_path / "workspace"
    for part in ("upstream/transformers.toml", "upstream/locks", "patches", "tests/repro"):
        source, target = ROOT / part, root / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return root


@pytest.fixture
def workspace(whole_workspace: Path) -> Path:
    """The same with the founding cases alone, and what the atlas says of them."""
    folder = whole_workspace / "tests" / "repro"
    for path in folder.glob("*.py"):
        if not path.stem.endswith("kit") and path.stem.replace("_", "-") not in FOUNDING:
            path.unlink()
    atlas = folder / "atlas.toml"
    head, *tables = re.split(r"(?m)^(?=\[\[)", atlas.read_text(encoding="utf-8"))
    kept = [table for table in tables if any(f'\ncase = "{case}"\n' in table for case in FOUNDING)]
    atlas.write_text("".join([head, *kept]), encoding="utf-8")
    return whole_workspace


@pytest.fixture
def index_server() -> Iterator[IndexServer]:
    """An empty package index on this machine that answers as long as the test lasts."""
    with serving() as index:
        yield index


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def test_cache() -> Path:
    """The caches that tests on real releases share between runs."""
    return CACHE
