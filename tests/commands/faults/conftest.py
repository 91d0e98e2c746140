# SPDX-License-Identifier: Apache-2.0
"""Caches of a test's own to damage, with a real environment and real wheels, and an index on this machine."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from founding import ONLY_FOUNDING

from headwater.core.pins import IndexFile, Pin
from headwater.effects.index import Index
from headwater.effects.workspace import Workspace

Run = Callable[..., Any]
RELEASES = ("5.10.1", "5.10.2")
VERDICTS = {
    "early-init": "bad", "is-initialized": "bad", "max-cache-len": "bad", "max-batch-size": "bad", "batch-size": "good",
}  # fmt: skip


@dataclass
class Ground:
    """A cache of a test's own. `run` runs `headwater` on it; what is said on standard error stays in `said`."""

    cache: Path
    repository: Path
    headwater: Run
    environ: dict[str, str] = field(default_factory=dict)
    said: str = ""

    def run(self, *words: str) -> Any:
        """Run `headwater WORDS` on this cache; it must end with status 0."""
        done = self.headwater(*words, environ={"HEADWATER_CACHE": str(self.cache), **self.environ})
        self.said = done.err
        assert done.status == 0, done.err
        return done

    def repro(self, *words: str, release: str = "5.10.1") -> Any:
        """Probe a release, and check its verdicts and its tree's id. Gives the JSON object."""
        chosen = words if "--case" in words else (*words, *ONLY_FOUNDING)
        seen = self.run("repro", release, *chosen, "--json").json
        verdicts = {probe["case"]: probe["verdict"] for probe in seen["probes"]}
        assert verdicts == {case: VERDICTS[case] for case in verdicts}, self.said
        assert {probe["tree"] for probe in seen["probes"]} == {self.pin(release).tree}
        return seen

    def counts(self, *words: str, release: str = "5.10.1") -> Counter[str]:
        """Probe a release; what the run counted."""
        return +Counter(self.repro(*words, release=release)["counts"])

    def pin(self, release: str = "5.10.1") -> Pin:
        """A release's pin."""
        return Workspace(self.repository).pins.find(release)

    def tree(self, release: str = "5.10.1") -> Path:
        """Where a release's tree lies."""
        tree = self.pin(release).tree
        assert tree is not None
        return self.cache / "trees" / tree

    def commit(self, release: str = "5.10.1") -> str:
        """The id of a release's commit in the mirror."""
        argv = ["git", "--git-dir", str(self.cache / "transformers.git"), "rev-parse"]
        ref = f"refs/headwater/releases/{release}"
        return subprocess.run([*argv, ref], capture_output=True, text=True, check=True).stdout.strip()

    def without(self, *names: str) -> Ground:
        """The same without some of its parts."""
        for name in names:
            for path in self.cache.glob(name):
                path.unlink() if path.is_file() or path.is_symlink() else shutil.rmtree(path)
        return self

    def is_at_rest(self) -> bool:
        """Whether nothing is being built, nothing was left, and every lock can be had at once."""
        for path in self.cache.glob("*.lock"):
            with FileLock(path, timeout=0):
                pass
        incoming = self.cache / "incoming"
        return not incoming.is_dir() or list(incoming.iterdir()) == []

    def processes(self) -> list[str]:
        """The processes that run on this cache, as `PID command`."""
        mark = os.fsencode(self.cache)
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                environ, command = (path / "environ").read_bytes(), (path / "cmdline").read_bytes()
                state = (path / "stat").read_bytes().rpartition(b")")[2].split()[0]
            except OSError:
                continue
            if state != b"Z" and (mark in environ or mark in command):
                found.append(f"{path.name} {command[:200]!r}")
        return found


@dataclass
class WheelIndex:
    """An index of wheels on this machine. `seconds`: how long a wheel takes; `fetched`: the wheels that were sent."""

    wheels: Mapping[str, Path]
    pins: Mapping[str, IndexFile]
    port: int = 0
    seconds: float = 0.0
    fetched: list[str] = field(default_factory=list)

    def listing(self) -> bytes:
        """The page of the package in the JSON form of the simple index."""
        files = [
            {
                "filename": name, "url": f"../../files/{name}", "hashes": {"sha256": pin.sha256}, "size": pin.size,
                "upload-time": "2026-05-01T10:00:00.000000Z", "requires-python": ">=3.10", "yanked": False,
            }
            for name, pin in self.pins.items()
        ]  # fmt: skip
        page = {"meta": {"api-version": "1.1"}, "name": "transformers", "files": files, "versions": []}
        return json.dumps(page).encode()

    @property
    def environ(self) -> dict[str, str]:
        """What makes it the index of a run."""
        return {"PIP_INDEX_URL": f"http://127.0.0.1:{self.port}/simple/", "NO_PROXY": "127.0.0.1"}


class _Handler(BaseHTTPRequestHandler):
    index: WheelIndex

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        page = name not in self.index.wheels
        body = self.index.listing() if page else self.index.wheels[name].read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json" if page else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            if not page:
                self.index.fetched.append(name)
            pieces = 1 if page else 50
            step = -(-len(body) // pieces)
            for number in range(pieces):
                self.wfile.write(body[number * step : (number + 1) * step])
                time.sleep(0 if page else self.index.seconds / pieces)
        except ConnectionError:
            pass  # the other end was killed


@pytest.fixture
def wheels(root: Path, headwater: Run) -> dict[str, Path]:
    """The wheels of the releases that these tests work on, by name; downloaded where the tests' cache has none."""
    folder = tests_cache(headwater) / "wheels"
    pins = Workspace(root).pins
    return {
        (file := pins.find(release).wheel).file: Index().download(pins.package, file, folder) for release in RELEASES
    }


@pytest.fixture
def wheel_index(root: Path, wheels: dict[str, Path]) -> Iterator[WheelIndex]:
    """The index, which answers as long as the test lasts."""
    pins = Workspace(root).pins
    index = WheelIndex(wheels, {(file := pins.find(release).wheel).file: file for release in RELEASES})
    handler = type("Handler", (_Handler,), {"index": index})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        index.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield index
        server.shutdown()
        thread.join()


@functools.cache
def tests_cache(headwater: Run) -> Path:
    """The cache that all tests share."""
    return Path(str(headwater("cache", "info", "--json").json["root"]))


@pytest.fixture
def environment(headwater: Run) -> Path:
    """The tests' environment for 5.10.1, built if it is not there."""
    done = headwater("repro", "5.10.1", "--case", "batch-size", "--json")
    assert done.status == 0, done.err
    key: str = done.json["surroundings"]["environment"]
    folder = tests_cache(headwater) / "envs" / key[:20]
    if not folder.is_dir():  # the verdict was known, and the environment is gone
        headwater("repro", "5.10.1", "--case", "batch-size", "--fresh")
    return folder


@pytest.fixture
def bare(tmp_path: Path, root: Path, headwater: Run, wheels: dict[str, Path]) -> Iterator[Ground]:
    """A cache that holds nothing but wheels."""
    ground = Ground(tmp_path / "cache", root, headwater)
    (ground.cache / "wheels").mkdir(parents=True)
    for name, wheel in wheels.items():
        shutil.copy(wheel, ground.cache / "wheels" / name)
    yield ground
    # Environments are large, and pytest keeps the folders of three runs.
    shutil.rmtree(ground.cache, ignore_errors=True)


@pytest.fixture
def fresh(bare: Ground, environment: Path) -> Ground:
    """A cache that holds wheels and the environment of 5.10.1, as a link to the tests' own."""
    envs = bare.cache / "envs"
    envs.mkdir()
    (envs / environment.name).symlink_to(environment)
    preload = environment.with_suffix(".preload.json")
    shutil.copy(preload, envs / preload.name)
    return bare


@pytest.fixture
def whole(fresh: Ground, make_once: Callable[..., Path]) -> Ground:
    """A cache on which 5.10.1 was probed before; the wheels are kept."""
    parts = ("transformers.git", "blobs", "trees", "code", "store.sqlite3")

    def make(folder: Path) -> None:
        fresh.repro()
        subprocess.run(["cp", "-a", *(fresh.cache / part for part in parts), folder], check=True)

    kept = make_once("whole", make)
    fresh.without(*parts)
    # In one go, so that files that are shared stay so.
    subprocess.run(["cp", "-a", *(kept / part for part in parts), fresh.cache], check=True)
    return fresh
