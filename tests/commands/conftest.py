# SPDX-License-Identifier: Apache-2.0
"""A workspace whose pins follow a package index on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bench import HEAD, Bench
from hunting_ground import Ground, build_ground, copy_ground
from index_server import IndexServer, serving

from headwater.effects.locks import TEST_PACKAGES


@pytest.fixture
def bench(
    index_server: IndexServer, headwater: Callable[..., Any], tmp_path: Path, root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Bench]:  # fmt: skip
    """A workspace with a pins file without releases; the index has hub 1.0, 1.5 and 2.0, torch and the test packages.

    Nothing of the machine's settings counts, and nothing but the index on this machine can be reached.
    """
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "HEADWATER_")):
            monkeypatch.delenv(name)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.delenv(name.lower(), raising=False)
    for version in ("1.0", "1.5", "2.0"):
        index_server.add("hub", version)
    for name in (*TEST_PACKAGES, "filelock"):
        index_server.add(name, "1.0")
    index_server.add("torch", "2.13.0", requires=["filelock", "nvidia-blas==1; sys_platform == 'linux'"])
    workspace, cache = tmp_path / "workspace", tmp_path / "cache"
    (workspace / "upstream").mkdir(parents=True)
    environ = {
        "HEADWATER_CACHE": str(cache),
        "NO_PROXY": "127.0.0.1",
        "PIP_INDEX_URL": index_server.url(),
        "PYTHONPATH": str(root / "src"),
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "UV_HTTP_RETRIES": "0",
    }
    made = Bench(index_server, workspace, cache, headwater, environ)
    made.pins_file.write_text(HEAD, encoding="utf-8")
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Workspaces and caches that were made once, to copy: the index says the same in every test."""
    return tmp_path_factory.mktemp("shelf")


def with_two_releases(bench: Bench, made: Path, *words: str) -> Bench:
    """5.0.0 and 5.1.0 in the index, and what `headwater pins update WORDS` makes of them."""
    bench.release("5.0.0")
    bench.release("5.1.0")
    if made.is_dir():
        shutil.copytree(made, bench.root.parent, dirs_exist_ok=True)
    else:
        bench.update(*words)
        for folder in (bench.root, bench.cache):
            shutil.copytree(folder, made / folder.name, dirs_exist_ok=True)
    return bench


@pytest.fixture
def pinned(bench: Bench, shelf: Path) -> Bench:
    """A workspace with 5.0.0 and 5.1.0 pinned, in one group, without tree ids."""
    bench.cache.mkdir()
    return with_two_releases(bench, shelf / "pinned")


@pytest.fixture
def imported(bench: Bench, shelf: Path) -> Bench:
    """A workspace with 5.0.0 and 5.1.0 pinned, in one group, with tree ids, and in the mirror."""
    return with_two_releases(bench, shelf / "imported", "--trees")


@pytest.fixture(scope="session")
def ground_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What grounds are copies of, with environments built and releases imported."""
    folder = tmp_path_factory.mktemp("ground")
    with serving() as index:
        build_ground(folder, index)
    return folder


@pytest.fixture
def ground(ground_template: Path, tmp_path: Path) -> Iterator[Ground]:
    """A workspace on a small library of which all is known; its caches know no verdict."""
    made = copy_ground(ground_template, tmp_path)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()
