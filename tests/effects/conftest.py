# SPDX-License-Identifier: Apache-2.0
"""The engine on the tests' own package index, a cache, real git; and a guarded home folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from index_server import IndexServer
from packaging.version import Version
from upstream_repo import UpstreamRepo, build, commits_of

import headwater
from headwater.core.events import Event
from headwater.core.pins import EnvironmentGroup, IndexFile, Pin, Pins
from headwater.effects.git import GitDir
from headwater.effects.index import Index
from headwater.effects.mirror import Mirror
from headwater.effects.workspace import Cache

MACHINE = dict(os.environ)
UPLOADED = datetime(2026, 5, 1, 10, 0, 0, tzinfo=UTC)
SOURCES = Path(headwater.__file__).parent.parent


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder that has to stay empty, no settings of the machine's, and no way out to the network."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "GIT_", "HEADWATER_", "XDG_", "HF_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / f".{name.lower()}"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "uv"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    yield folder
    assert sorted(folder.rglob("*")) == [], "something was written into the home folder"


@pytest.fixture
def machine() -> Mapping[str, str]:
    """The environment that the tests were started in."""
    return MACHINE


@pytest.fixture
def events() -> list[Event]:
    """Where `events.append` collects what the engine says."""
    return []


@pytest.fixture
def index(index_server: IndexServer, events: list[Event], monkeypatch: pytest.MonkeyPatch) -> Index:
    """The engine's door to the server, with short pauses."""
    monkeypatch.setenv("PIP_INDEX_URL", index_server.url())
    return Index(events.append, pause=0.01)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty cache."""
    return Cache(tmp_path / "cache", "transformers")


@pytest.fixture
def pins() -> Callable[..., Pins]:
    """Pins for wheels: version=IndexFile pairs in a mapping; `trees` and `commits` by version."""

    def make(
        wheels: Mapping[str, IndexFile], trees: Mapping[str, str] | None = None,
        commits: Mapping[str, str] | None = None, groups: tuple[EnvironmentGroup, ...] = (),
    ) -> Pins:  # fmt: skip
        releases = tuple(
            Pin(Version(v), UPLOADED, ">=3.10", None, file, None, (trees or {}).get(v), (commits or {}).get(v))
            for v, file in wheels.items()
        )
        return Pins("transformers", releases[0].version, "2.9.1", groups, releases)

    return make


@pytest.fixture
def mirror_of(
    index_server: IndexServer, index: Index, cache: Cache, pins: Callable[..., Pins]
) -> Callable[..., tuple[Mirror, list[str]]]:
    """Make a mirror of releases, given as version -> files; the mirror and the releases' commits."""

    def make(releases: Mapping[str, Mapping[str, bytes]]) -> tuple[Mirror, list[str]]:
        wheels = {version: index_server.add("transformers", version, files) for version, files in releases.items()}
        all_pins = pins(wheels)
        mirror = Mirror(cache, all_pins, index)
        return mirror, [mirror.ensure(pin) for pin in all_pins.releases]

    return make


@pytest.fixture
def git() -> Callable[..., str]:
    """Plain git, not by our door, in a folder: `git(folder, "commit", "-m", "x")`."""

    def run(folder: Path, *argv: str, **environ: str) -> str:
        settings = (
            "-c",
            "user.name=Somebody",
            "-c",
            "user.email=somebody@invalid.example",
            "-c",
            "init.defaultBranch=main",
        )
        done = subprocess.run(
            ["git", *settings, *argv], cwd=folder, env={**os.environ, **environ}, capture_output=True, check=True
        )
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    return run


@pytest.fixture
def repo(git: Callable[..., str], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> UpstreamRepo:
    """A repository in the shape of upstream's; made once, and copied for each test."""
    template = tmp_path_factory.getbasetemp() / "upstream-template"
    if not template.exists():
        build(git, template)
    shutil.copytree(template, tmp_path / "upstream")
    return UpstreamRepo(tmp_path / "upstream", commits_of(git, tmp_path / "upstream"))


@pytest.fixture
def refs() -> Callable[[GitDir], dict[str, str]]:
    """Every ref of a repository and what it names."""

    def read(repository: GitDir) -> dict[str, str]:
        lines = repository("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {name: commit for name, _, commit in (line.partition(" ") for line in lines)}

    return read


@pytest.fixture
def start_python() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start python on a text of code, with Headwater importable and `sys.argv[1:]` as given. Ended after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *argv: object) -> subprocess.Popen[str]:
        environ = {**os.environ, "PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, argv)], env=environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
