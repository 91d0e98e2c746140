# SPDX-License-Identifier: Apache-2.0
"""A Dask scheduler and workers of it, as processes of their own on this machine, each worker on a ground of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from bench import wait_for
from hunting_ground import Ground, Ran, copy_ground

# Writes down where it began; waits on one release as long as the file `wait` is there.
HELD = """\
# /// case
# id = "held"
# title = "The cache breaks"
# references = []
# severity = "crash"
# [[signature]]
# type = "RuntimeError"
# message = 'the cache broke'
# ///
import os
import time
from pathlib import Path


def run(device):
    import transformers
    from transformers import plain

    folder = Path({folder!r})
    with (folder / "begun").open("a") as file:
        file.write(f"{{transformers.__version__}} {{os.getcwd()}}\\n")
    if transformers.__version__ == {version!r}:
        while (folder / "wait").exists():
            time.sleep(0.01)
    plain.use()
"""


@dataclass
class Held:
    """The case `held` in a folder of cases; `begun` says of every probe of it where it began."""

    folder: Path

    @property
    def words(self) -> tuple[str | Path, ...]:
        """The options that bring it into a run."""
        return "--cases-dir", self.folder

    @property
    def begun(self) -> Mapping[str, list[str]]:
        """The working folders of the probes that began, by release, in their order."""
        found: dict[str, list[str]] = {}
        for line in (self.folder / "begun").read_text(encoding="utf-8").splitlines():
            version, _space, place = line.partition(" ")
            found.setdefault(version, []).append(place)
        return found

    def let_go(self) -> None:
        """What waits goes on."""
        (self.folder / "wait").unlink()


def held(folder: Path, version: str) -> Held:
    """A case that waits on a release."""
    folder.mkdir()
    for name in ("wait", "begun"):
        (folder / name).touch()
    (folder / "held.py").write_text(HELD.format(folder=str(folder), version=version), encoding="utf-8")
    return Held(folder)


@dataclass
class Scale:
    """A scheduler at `address`, and workers by name, each with the ground that it runs on."""

    client: Ground
    template: Path
    folder: Path
    address: str
    grounds: dict[str, Ground] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def ground(self, name: str) -> Ground:
        """The ground of a worker that is to be started: the client's workspace as it is now, and caches without any
        verdict."""
        folder = self.folder / name
        folder.mkdir()
        self.grounds[name] = ground = copy_ground(self.template, folder)
        shutil.copytree(self.client.root, ground.root, dirs_exist_ok=True)
        return ground

    def start(self, *names: str) -> None:
        """Start workers, and wait until they are ready."""
        for name in names:
            ground = self.grounds.get(name) or self.ground(name)
            self.processes[name] = ground.start("worker", self.address, "--name", name)
        for name in names:
            errors = self.processes[name].stderr
            assert errors is not None
            said = list(takewhile(lambda line: "is ready" not in line, errors))
            assert self.processes[name].poll() is None, "".join(said)

    def at(self, place: str) -> str:
        """The worker that a folder belongs to."""
        return next(name for name, ground in self.grounds.items() if Path(place).is_relative_to(ground.cache))

    @property
    def words(self) -> tuple[str, ...]:
        """The options that run a command on the workers."""
        return "--executor", "dask", "--scheduler", self.address

    def matrix(self, *words: str | Path) -> Ran:
        """`headwater matrix` on the workers, with `--json`."""
        return checked(self.client.run("matrix", *words, *self.words, "--json"))

    def end(self) -> None:
        """End every process."""
        for ground in self.grounds.values():
            for process in ground.started:
                process.kill()
                process.communicate()


def listening(number: int) -> set[str]:
    """On Linux the addresses, in the kernel's hexadecimal, at which a process takes connections."""
    process = Path(f"/proc/{number}")
    links = [str(link.readlink()) for link in (process / "fd").iterdir()]
    sockets = {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:[")}
    lines = [line.split() for table in ("tcp", "tcp6") for line in (process / "net" / table).read_text().splitlines()]
    return {line[1].partition(":")[0] for line in lines if line[3] == "0A" and line[9] in sockets}


def checked(done: Ran) -> Ran:
    """A run that met no bug of ours."""
    assert "Traceback" not in done.err, done.err
    return done


def headwater_scheduler(client: Ground, folder: Path) -> str:
    """The address of `headwater scheduler`, which ends with the client's ground."""
    file = folder / "address"
    client.start("scheduler", "--port", "0", "--address-file", file)
    wait_for(file.exists, 60)
    return file.read_text(encoding="utf-8").strip()


def plain_scheduler(client: Ground, folder: Path) -> str:
    """The address of `dask scheduler` in a process that cannot import Headwater; it ends with the client's ground."""
    file = folder / "scheduler.json"
    code = "import sys; sys.modules['headwater'] = None; from distributed.cli.dask_scheduler import main; main()"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=client.here, env=client.surroundings, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    client.started.append(process)
    wait_for(lambda: file.exists() and file.stat().st_size > 0, 60)
    address: str = json.loads(file.read_text(encoding="utf-8"))["address"]
    return address
