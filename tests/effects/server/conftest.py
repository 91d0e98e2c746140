# SPDX-License-Identifier: Apache-2.0
"""A bare environment with a stand-in for torch, a tiny library, and probes of small cases by a fork server."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from headwater.core.cases import Case
from headwater.core.events import Counted, Event, Note
from headwater.core.keys import Limits
from headwater.core.pins import IndexFile, Pin
from headwater.core.recording import Recording
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Outcome, Signature, Verdict, judge
from headwater.effects import probe_keys
from headwater.effects.blobs import blob_id
from headwater.effects.child_process import Scratch
from headwater.effects.environment_server import EnvironmentServers
from headwater.effects.envs import DatedLock, Environment, Environments
from headwater.effects.folders import Folders
from headwater.effects.git import GitDir, init_bare
from headwater.effects.outcomes import outcome_of
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.effects.trees import Tree, Trees
from headwater.effects.watch import ChildRun
from headwater.effects.workspace import Cache

LIMITS = Limits(seconds=20, memory=4 << 30, output=1 << 20, processes=64)
PACKAGE = "transformers"
TORCH = "import random\n\ndef empty(*shape, device=None):\n    pass\n"
LIBRARY = {
    "__init__.py": "from transformers.cache_utils import call, update\n",
    "cache_utils.py": (
        "def update():\n    raise RuntimeError('The size of tensor a (8) must match')\n\n\n"
        "def call(function):\n    return function()\n"
    ),
    "late.py": "X = 1\n",
    "data.json": "[1]\n",
}
BUG = Signature("RuntimeError", r"The size of tensor a \(8\)")


@dataclass(frozen=True)
class Probed:
    """What a probe gave: the run, its outcome, and the verdict by the signature of the bug."""

    run: ChildRun
    outcome: Outcome
    verdict: Verdict

    def code(self) -> tuple[int, int, list[str]]:
        """How many files of the tree were compiled, how many came from the cache, which entries were damaged."""
        said = self.run.last("code")
        assert said is not None, self.outcome
        return said["compiled"], said["loaded"], said["damaged"]


class ReadyEnvironments(Environments):
    """One environment, which is always there and always whole."""

    def __init__(self, folder: Path) -> None:
        self.environment = Environment("e" * 64, "all", "none.txt", "2.0", "3.11.0", "here", folder)

    def describe(self, pin: Pin, dated: DatedLock | None = None) -> Environment:
        return self.environment

    def ensure(self, environment: Environment) -> bool:
        return False

    def look_again(self, environment: Environment) -> bool:
        return False


@dataclass
class Lab:
    """A cache with a mirror that is filled from folders, and the fork servers of one run."""

    root: Path
    cache: Cache
    git: GitDir
    environments: ReadyEnvironments
    servers: EnvironmentServers
    events: list[Event]

    @property
    def trees(self) -> Trees:
        """The trees of the mirror."""
        return Trees(self.cache, self.git, PACKAGE, self.events.append)

    def write(self, files: Mapping[str, str] | None = None) -> Path:
        """A folder with the library, where `files` replaces or adds some."""
        folder = self.root / "library"
        for name, text in {**LIBRARY, **(files or {})}.items():
            place = folder / PACKAGE / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        return folder

    def read(self, folder: Path) -> str:
        """The id of the tree that a folder holds now."""
        return Folders(self.cache, self.git, PACKAGE).read(folder)

    def tree(self, files: Mapping[str, str] | None = None) -> Tree:
        """A tree with the library, where `files` replaces or adds some."""
        return self.trees.ensure(self.read(self.write(files)))

    def run(self, body: str = "", *, tree: Tree | None = None, limits: Limits = LIMITS) -> Probed:
        """Have a fork run the lines of a case's `run(device)` on a tree."""
        environment, request = self.environments.environment, self._request(tree or self.tree(), limits)
        renew = partial(self._scratch.renew, {"case.py": case_text(body).encode()})
        run = self.servers.answer(environment.key, environment.python, environment.preload, request, limits, renew)
        outcome = outcome_of(run, limits)
        return Probed(run, outcome, judge(outcome, [BUG]))

    @property
    def _scratch(self) -> Scratch:
        return self.servers.scratch_of(self.environments.environment.key)

    def _request(self, tree: Tree, limits: Limits = LIMITS) -> dict[str, object]:
        scratch = self._scratch
        return {
            "op": "probe", "tree": str(tree.path), "manifest": str(tree.manifest), "code": str(self.cache.code),
            "package": PACKAGE, "cases": str(scratch.cases), "case": "case.py", "device": "cpu",
            "memory": limits.memory, "work": str(scratch.work), "variables": {"HEADWATER_DEVICE": "cpu"},
            "torch": self.environments.environment.torch is not None,
        }  # fmt: skip

    def import_ahead(self, tree: Tree) -> None:
        """Have the library of a tree imported by the server, if it runs, without waiting for it."""
        request = {**self._request(tree), "seconds": LIMITS.seconds}
        self.servers.import_ahead(self.environments.environment.key, request)

    def home(self) -> list[str]:
        """What is in the home folder of probes now."""
        return [path.name for path in self._scratch.home.iterdir()]

    def end_server(self) -> None:
        """End the server of the environment: the next probe's has nothing imported."""
        self.servers.discard(self.environments.environment.key)

    @contextlib.contextmanager
    def prober(self) -> Iterator[Callable[..., ProbeResult]]:
        """Probe as a command does: a function of a case's lines, its time limit, and the tree's id."""
        options = ProbeOptions(fresh=True)
        with Prober(self.cache, self.environments, PACKAGE, options, self.events.append) as prober:

            def probe(body: str = "", seconds: int = 20, tree: str | None = None) -> ProbeResult:
                return prober.probe(*self._asked(body, seconds, tree), "cpu")

            yield probe

    @contextlib.contextmanager
    def recorder(self, fresh: bool = False) -> Iterator[Callable[..., Recording]]:
        """Record as a command does: as `prober`, and with `network` for a case that needs it."""
        options = ProbeOptions(fresh=fresh, allow_network=True)
        with Prober(self.cache, self.environments, PACKAGE, options, self.events.append) as prober:

            def record(body: str = "", seconds: int = 20, tree: str | None = None, network: bool = False) -> Recording:
                subject, case = self._asked(body, seconds, tree)
                return prober.record(subject, replace(case, network=network), "cpu")

            yield record

    def _asked(self, body: str, seconds: int, tree: str | None) -> tuple[Subject, Case]:
        case = Case(
            "c", "a case", "case.py", (), "unclear", (BUG,), seconds, False, "", "",
            {"case.py": case_text(body).encode()},
        )  # fmt: skip
        tree = tree or self.read(self.write())
        return Subject("1.0", a_pin(), tree, partial(self.trees.ensure, tree)), case

    def counted(self, what: str) -> int:
        """What was counted, over all probes of this test."""
        return sum(event.number for event in self.events if isinstance(event, Counted) and event.what == what)

    def warnings(self) -> list[str]:
        """The warnings so far, which are forgotten then."""
        found = [event.text for event in self.events if isinstance(event, Note) and event.warning]
        self.events[:] = [event for event in self.events if not isinstance(event, Note)]
        return found

    def entry(self, text: str) -> Path:
        """The entry of the byte-code cache for a file of this content."""
        [entry] = self.cache.code.glob(f"*/*/{blob_id(text.encode())}")
        return entry

    def left(self) -> list[str]:
        """The processes that still run for this test, as `PID command`: those that its folder or its fork servers
        gave birth to, other than the servers themselves, and those that a case wrote down in the folder `pids`."""
        mark, servers = os.fsencode(self.root), self.server_processes()
        written = {int(path.name) for path in (self.root / "pids").iterdir()}
        found = []
        for number in [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]:
            said = [about(number, name) for name in ("stat", "environ", "cmdline")]
            fields = said[0].rpartition(b")")[2].split()
            gone = not fields or fields[0] == b"Z"
            if not gone and number not in servers and (number in written or mark in said[1] or mark in said[2]):
                found.append(f"{number} {said[2][:80]!r}")
        return found

    def server_processes(self) -> set[int]:
        """The processes that the servers themselves are, with those that wait for their ends."""
        outer = {pid for pid in descendants(os.getpid(), 1) if os.fsencode(self.root) in about(pid, "cmdline")}
        inner = {pid for waits in outer for pid in descendants(waits)}
        return outer | {pid for pid in inner if b"socket:" in links(pid)}

    def left_after(self, seconds: float = 1.0) -> list[str]:
        """The processes that still run when there was time for the last of them to be collected."""
        end = time.monotonic() + seconds
        while (left := self.left()) and time.monotonic() < end:
            time.sleep(0.02)
        return left


def descendants(number: int, generations: int = 9) -> set[int]:
    """The children of a process, theirs, and so on."""
    stats = {int(path.name): about(int(path.name), "stat") for path in Path("/proc").iterdir() if path.name.isdigit()}
    parents = {pid: int(stat.rpartition(b")")[2].split()[1]) for pid, stat in stats.items() if stat}
    found: set[int] = set()
    for _generation in range(generations):
        found |= {pid for pid, parent in parents.items() if parent == number or parent in found}
    return found


def links(number: int) -> bytes:
    """What the descriptors of a process lead to: a fork for a probe has closed its server's socket."""
    found = []
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{number}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.append(os.fsencode(path.readlink()))
    return b"\n".join(found)


def about(number: int, name: str) -> bytes:
    """A file of /proc about a process; empty where it has ended."""
    try:
        return Path(f"/proc/{number}/{name}").read_bytes()
    except OSError:
        return b""


def case_text(body: str) -> str:
    """A case with these lines in its `run(device)`."""
    lines = textwrap.indent(textwrap.dedent(body).strip() or "pass", "    ")
    return f"import os, signal, subprocess, sys, time, transformers\ndef run(device):\n{lines}\n"


def a_pin() -> Pin:
    """A release that no index has."""
    file = IndexFile("transformers-1.0-py3-none-any.whl", "0" * 64, 1)
    return Pin(Version("1.0"), datetime(2026, 5, 1, tzinfo=UTC), "", None, file, None)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds nothing but the stand-in for torch."""
    folder = tmp_path_factory.mktemp("environment") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "torch.py").write_text(TORCH, encoding="utf-8")
    return folder


@pytest.fixture
def lab(tmp_path: Path, bare: Path, cache: Cache, events: list[Event]) -> Iterator[Lab]:
    """The lab; when the test ends no process of it may be left."""
    environment = tmp_path / "env"
    environment.symlink_to(bare)
    (tmp_path / "pids").mkdir()
    cache.root.mkdir(parents=True)
    init_bare(cache.mirror)
    with cache.building("probe") as scratch, EnvironmentServers(scratch, events.append) as servers:
        lab = Lab(tmp_path, cache, GitDir(cache.mirror), ReadyEnvironments(environment), servers, events)
        yield lab
    # A case may have dug deeper than Python's own way to remove a folder reaches.
    subprocess.run(["rm", "-rf", str(cache.root)], check=True)
    left = lab.left_after()
    for line in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), signal.SIGKILL)
    assert left == []


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the limits of a prober: memory, output in bytes, processes."""

    def set_limits(**named: Any) -> None:
        for name, value in named.items():
            monkeypatch.setattr(probe_keys, f"_{name.upper()}", value)

    return set_limits
