# SPDX-License-Identifier: Apache-2.0
"""Workspaces whose pins follow a package index on this machine, and grounds for `headwater patch`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bench import HEAD, Bench
from carries import RELEASES, Carries, write_series
from grounds import INIT, ONE, RELEASE, THREE, TWO, Grounds, text
from hunting_ground import Ground, build_ground, copy_ground
from index_server import IndexServer, serving
from scale import Scale, headwater_scheduler

from headwater.effects.locks import TEST_PACKAGES

TOP = b"top = 1\n" * 9


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


@pytest.fixture
def grounds(tmp_path: Path, index_server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> Grounds:
    """A workspace without releases and series, on an index and with caches of its own."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "GIT_", "HEADWATER_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", index_server.url())
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "workspace").mkdir()
    return Grounds(tmp_path / "workspace", index_server)


def shelved(grounds: Grounds, made: Path, make: Callable[[], None]) -> Grounds:
    """The grounds as `make` makes them, which is done once."""
    parts = ("workspace", "cache")
    if not made.is_dir():
        make()
        for part in parts:
            shutil.copytree(grounds.root.parent / part, made / part)
    for part in parts:
        shutil.copytree(made / part, grounds.root.parent / part, dirs_exist_ok=True)
    return grounds


@pytest.fixture
def ready(grounds: Grounds, shelf: Path) -> Grounds:
    """5.0.0, with the series `example`; 5.1.0, where its lines have moved; 5.2.0, where one of them is another."""
    releases = {
        "5.0.0": RELEASE,
        "5.1.0": {
            **RELEASE,
            "transformers/__init__.py": INIT.replace(b"5.0", b"5.1"),
            "transformers/a.py": TOP + text(),
        },
        "5.2.0": {
            **RELEASE,
            "transformers/__init__.py": INIT.replace(b"5.0", b"5.2"),
            "transformers/a.py": text(l30=b"other"),
        },
    }
    grounds.releases.update({version: dict(files) for version, files in releases.items()})

    def make() -> None:
        grounds.add_releases(releases)
        grounds.series("example", "5.0.0", [ONE, TWO, THREE])

    return shelved(grounds, shelf / "ready", make)


@pytest.fixture
def carries(grounds: Grounds, shelf: Path, headwater: Callable[..., Any]) -> Carries:
    """Releases on which patches of the series `mend` and `twins` have every state, and `headwater patch` on them."""
    grounds.releases.update({version: dict(files) for version, files in RELEASES.items()})

    def make() -> None:
        grounds.add_releases(RELEASES)
        write_series(grounds)

    return Carries(shelved(grounds, shelf / "carries", make), headwater)


@pytest.fixture
def kinds(ready: Grounds, headwater: Callable[..., Any]) -> Carries:
    """`headwater patch` on the series `example`, whose patches change files of every kind in every way."""
    return Carries(ready, headwater)


@pytest.fixture
def scale(ground: Ground, ground_template: Path, tmp_path: Path) -> Iterator[Scale]:
    """A scheduler, and no worker yet."""
    made = Scale(ground, ground_template, tmp_path, headwater_scheduler(ground, tmp_path))
    yield made
    made.end()


@pytest.fixture(scope="session")
def ground_template(make_once: Callable[..., Path]) -> Path:
    """What grounds are copies of, with environments built and releases imported."""

    def make(folder: Path) -> None:
        with serving() as index:
            build_ground(folder, index)

    return make_once("ground", make)


@pytest.fixture
def ground(ground_template: Path, tmp_path: Path) -> Iterator[Ground]:
    """A workspace on a small library of which all is known; its caches know no verdict."""
    made = copy_ground(ground_template, tmp_path)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()
