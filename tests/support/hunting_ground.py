# SPDX-License-Identifier: Apache-2.0
"""A small library with releases and a history of commits in which it is known what broke when; torch is a stand-in, so
that an environment and a probe take no time.

Commit 0 to 28 of the main line, one a day; x.y.0 was cut from every fourth: 5.0.0 from 0, 5.7.0 from 28. 5.2.1, 5.2.2
and 5.4.1 are maintenance releases. Each name of `HISTORIES` is a module of the library, and what it does changes from
commit to commit: "g" works, "b" has the bug, "o" fails otherwise, "i" cannot be imported, "a" lacks the function, "h"
fails with hub 1.5, "m" and "n" fail otherwise until a series mends that, and are "g" and "b" beneath; a word is a text
of `parted.py`. `RELEASES_APART` says where a release differs.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from forking import PACKAGE, measured, run_module
from index_server import IndexServer, make_wheel
from packaging.version import Version
from parted import PARTED, PARTED_APART, PARTED_HISTORIES, TORCH
from upstream_repo import Builder

from headwater.core.pins import EnvironmentGroup, Pin
from headwater.core.pins_text import add_releases, set_groups

MAIN = tuple(f"5.{minor}.0" for minor in range(8))
MAINTENANCE = ("5.2.1", "5.2.2", "5.4.1")
RELEASES = tuple(sorted((*MAIN, *MAINTENANCE), key=Version))
COMMITS = 29
_STEP = 4
_FIRST_DAY = datetime(2026, 3, 1, 12, tzinfo=UTC)

PINS = """\
schema = 1
package = "transformers"
first = "5.0.0"
torch = "2.13.0"
tests = ["tests/utils/test_cache_utils.py", "tests/utils/test_masking_utils.py"]
sdist_tests = ["tests/test_executorch.py"]
"""
SETUP = """
from setuptools import setup
setup(name="transformers", python_requires=">=3.10.0", install_requires=["hub>=1.0"])
"""
MASK = "def use():\n    raise KeyError('of another kind')\n    one = 1\n    two = 2\n    three = 3\n    four = 4\n"
UNMASK = """\
From: A <a@invalid.example>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH] mend

---

diff --git a/src/transformers/masked.py b/src/transformers/masked.py
--- a/src/transformers/masked.py
+++ b/src/transformers/masked.py
@@ -1,4 +1,3 @@
 def use():
-    raise KeyError('of another kind')
     one = 1
     two = 2
"""
SOURCE = {
    "g": "def use():\n    return 8\n",
    "b": "def use():\n    raise RuntimeError('the cache broke at 8')\n",
    "o": "def use():\n    raise KeyError('of another kind')\n",
    "i": "raise ImportError('nothing there to import')\n",
    "a": "def other():\n    return 8\n",
    "m": f"{MASK}    return 8\n",
    "n": f"{MASK}    raise RuntimeError('the cache broke at 8')\n",
    "h": "import hub\ndef use():\n    if hub.NUMBER > 1.2:\n        raise RuntimeError('the cache broke at 8')\n",
    **PARTED,
}
# What a module does from which commit on.
HISTORIES: Mapping[str, Mapping[int, str]] = {
    "plain": {0: "g", 14: "b"},
    "mended": {0: "b", 14: "g"},
    "early": {0: "g", 2: "b"},
    "arrived": {0: "a", 14: "b"},
    "again": {0: "g", 6: "b", 17: "g", 22: "b"},
    "passed": {0: "g", 6: "b", 18: "g"},
    "never": {0: "g"},
    "always": {0: "b"},
    "clouded": {0: "g", 11: "o", 14: "b"},
    "fogged": {0: "g", 10: "i", 19: "b"},
    "masked": {0: "m", 14: "n"},
    "packages": {0: "h"},
    "meanwhile": {0: "g", 14: "h"},
    "wheel_only": {0: "g"},
    "wheel_clouded": {0: "g", 10: "b"},
    "maintained": {0: "g", 14: "b"},
    "undone": {0: "g", 9: "b"},
    "broken_end": {0: "o", 14: "b"},
    **PARTED_HISTORIES,
}
RELEASES_APART: Mapping[str, Mapping[str, str]] = {
    "wheel_only": dict.fromkeys(("5.4.0", "5.4.1", "5.5.0", "5.6.0", "5.7.0"), "b"),
    "wheel_clouded": {"5.2.0": "o"},
    "maintained": {"5.2.2": "b"},
    "undone": {"5.4.1": "g"},
    "masked": {"5.2.0": "g"},
    **PARTED_APART,
}


def at_commit(name: str, number: int) -> str:
    """The letter of a module at a commit."""
    return HISTORIES[name][max(start for start in HISTORIES[name] if start <= number)]


def at_release(name: str, version: str) -> str:
    """The letter of a module in a release."""
    apart = RELEASES_APART.get(name, {}).get(version)
    return apart or at_commit(name, Version(version).release[1] * _STEP)


def day(number: int) -> datetime:
    """When a commit was made."""
    return _FIRST_DAY + timedelta(days=number)


def _library(letters: Mapping[str, str], version: str, serial: str) -> dict[str, str]:
    files = {f"transformers/{name}.py": SOURCE[letter] for name, letter in letters.items()}
    files["transformers/__init__.py"] = f'__version__ = "{version}"\n'
    files["transformers/serial.py"] = f"NUMBER = '{serial}'\n"
    return files


def of_release(version: str) -> dict[str, str]:
    """The files of a release's wheel."""
    letters = {name: at_release(name, version) for name in HISTORIES}
    number = Version(version).release[1] * _STEP
    serial = str(number) if version in MAIN else version
    return _library(letters, version, serial)


def of_commit(number: int) -> dict[str, str]:
    """The files of a commit, by their places in the repository."""
    letters = {name: at_commit(name, number) for name in HISTORIES}
    version = f"5.{number // _STEP}.0" if number % _STEP == 0 else f"5.{number // _STEP + 1}.0.dev0"
    return {f"src/{path}": text for path, text in _library(letters, version, str(number)).items()}


def git(folder: Path, *argv: str, **environ: str) -> str:
    """Plain git, not by our door."""
    settings = ("user.name=Somebody", "user.email=somebody@invalid.example", "init.defaultBranch=main")
    words = [word for setting in settings for word in ("-c", setting)]
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *words, *argv], cwd=folder, env={**os.environ, **own, **environ}, capture_output=True, check=True
    )
    return done.stdout.decode().removesuffix("\n")


def build_history(path: Path) -> list[str]:
    """The repository; the ids of its commits."""
    new = Builder(git, path)
    for number in range(COMMITS):
        files = {**of_commit(number), "setup.py": SETUP}
        files["tests/test_plain.py"] = "from transformers.plain import use\n\ndef test_use():\n    assert use() == 8\n"
        # The test was not always there; it is hunted as the newest commit has it.
        if number < 20:
            del files["tests/test_plain.py"]
        new.commit(f"Change {number} (#{100 + number})", files, date=day(number).isoformat())
        if number % _STEP == 0:
            new.run("tag", f"v5.{number // _STEP}.0")
    new.run("config", "uploadpack.allowFilter", "true")
    # It is copied often: one file instead of two hundred.
    new.run("repack", "--quiet", "-a", "-d")
    return git(path, "rev-list", "--reverse", "main").splitlines()


def installed(name: str) -> tuple[str, bytes]:
    """A distribution of this interpreter's as a wheel, and its version."""
    found = importlib.metadata.distribution(name)
    files = {
        str(file): Path(str(file.locate())).read_bytes()
        for file in found.files or ()
        if file.suffix in (".py", ".typed") and ".." not in file.parts and Path(str(file.locate())).is_file()
    }
    return found.version, make_wheel(name, found.version, files)


def case_source(name: str) -> str:
    """A case of the bug that a module has."""
    return f"""\
# /// case
# id = "{name.replace("_", "-")}"
# title = "The cache breaks"
# references = []
# severity = "crash"
# [[signature]]
# type = "RuntimeError"
# message = 'the cache broke at \\d+'
# ///


class Absent(Exception):
    headwater_outcome = "absent"


def run(device):
    from transformers import {name}

    if not hasattr({name}, "use"):
        raise Absent("there is no use()")
    {name}.use()
"""


@dataclass
class Ran:
    """How a run of `headwater` ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON object."""
        return json.loads(self.out)

    @property
    def change(self) -> Any:
        """The one change of a hunt with `--json`, the last where it went on to commits."""
        return self.json["changes"][-1]

    @property
    def notes(self) -> str:
        """The notes of a hunt with `--json`."""
        return "\n".join(self.json["notes"])

    def verdicts(self) -> dict[str, str]:
        """Verdicts by revision."""
        return {probe["revision"]: probe["verdict"] for probe in self.json["probes"]}


@dataclass
class Ground:
    """The workspace at `root`, with its caches and the clone `repo`, whose main line is `commits`. `here` is the folder
    of a user's files, in which `headwater` runs."""

    root: Path
    cache: Path
    repo: Path
    here: Path
    wheels: Path
    commits: Sequence[str]
    environ: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def surroundings(self) -> dict[str, str]:
        """The variables of a run."""
        own = {
            "HEADWATER_CACHE": str(self.cache), "HEADWATER_WORKSPACE": str(self.root), "PYTHONPATH": str(PACKAGE),
            "UV_FIND_LINKS": str(self.wheels), "COLUMNS": "200", "HOME": os.environ["HOME"],
            "PATH": os.environ["PATH"], "PIP_INDEX_URL": "http://127.0.0.1:9/simple/",
        }  # fmt: skip
        return {**measured(), **own, **self.environ}

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        """Start `headwater WORDS` in the user's folder; ended with the test."""
        process = subprocess.Popen(
            [sys.executable, "-m", "headwater", *map(str, words)], cwd=self.here, env=self.surroundings, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.started.append(process)
        return process

    def run(self, *words: str | Path) -> Ran:
        """Run `headwater WORDS`."""
        ended = run_module([str(word) for word in words], self.here, self.surroundings, seconds=120)
        return Ran(ended.status, ended.out, ended.err)

    def hunt(self, what: str | Path, *words: str | Path) -> Ran:
        """`headwater bisect WHAT WORDS --json`."""
        done = self.run("bisect", what, *words, "--json")
        assert "Traceback" not in done.err, done.err
        return done

    def between(self, what: str | Path, good: str, bad: str, *words: str | Path) -> Ran:
        """A hunt between two ends."""
        return self.hunt(what, "--good", good, "--bad", bad, *words)

    def write(self, name: str, text: str, executable: bool = False) -> Path:
        """A file of the user's."""
        path = self.here / name
        path.write_text(text, encoding="utf-8")
        if executable:
            path.chmod(0o755)
        return path

    def series(self, name: str, base: str, patch: str) -> None:
        """A series of one patch on a release."""
        folder = self.root / "patches" / name
        folder.mkdir(parents=True)
        tree = git(self.cache / "transformers.git", "rev-parse", f"refs/headwater/releases/{base}:src/transformers")
        (folder / "series").write_text(f"base: {base} {tree}\n0001-mend.patch\n", encoding="utf-8")
        (folder / "0001-mend.patch").write_text(patch, encoding="utf-8")

    def serve(self, index: IndexServer) -> None:
        """Have an index of packages, on which hub 1.5 came two days after 5.3.0 and two before 5.4.0."""
        for version in RELEASES:
            files = {path: text.encode() for path, text in of_release(version).items()}
            index.add("transformers", version, files, ["hub>=1.0"])
        dated = (("torch", "2.13.0", -9), ("pytest", "8.0", -9), ("hypothesis", "6.0", -9), ("hub", "1.0", -9),
                 ("hub", "1.5", 14))  # fmt: skip
        for name, version, when in dated:
            inside = {f"{name}/__init__.py": f"NUMBER = {version}\n".encode()} if name == "hub" else None
            index.add(name, version, inside, upload_time=f"{day(when):%Y-%m-%dT%H:%M:%SZ}")
        # What lies in a folder has no day: torch alone comes from there.
        links = self.here.parent / "torch"
        links.mkdir()
        shutil.copy(self.wheels / "torch-2.13.0-py3-none-any.whl", links)
        self.environ |= {
            "PIP_INDEX_URL": index.url(), "NO_PROXY": "127.0.0.1", "UV_CACHE_DIR": str(self.here.parent / "uv"),
            "UV_FIND_LINKS": str(links),
        }  # fmt: skip

    def number(self, revision: str) -> int:
        """The number of a commit, by its id."""
        return list(self.commits).index(revision)


def build_ground(folder: Path, index: IndexServer) -> None:
    """Everything that grounds are copies of: workspace, caches with environments and releases, and the repository."""
    root = folder / "workspace"
    (root / "upstream" / "locks").mkdir(parents=True)
    (root / "tests" / "repro").mkdir(parents=True)
    for name in HISTORIES:
        (root / "tests" / "repro" / f"{name}.py").write_text(case_source(name), encoding="utf-8")
    wheels = folder / "wheels"
    wheels.mkdir()
    _lay(wheels, "torch", "2.13.0", make_wheel("torch", "2.13.0", {"torch/__init__.py": TORCH.encode()}))
    _write_pins(root, wheels, index)
    build_history(folder / "repo")
    ground = Ground(root, folder / "cache", folder / "repo", folder, wheels, ())
    ground.environ = {"PIP_INDEX_URL": index.url(), "NO_PROXY": "127.0.0.1", "UV_CACHE_DIR": str(folder / "uv")}
    done = ground.hunt("never", "--find", "all", "--exhaustive")
    assert done.status == 0, done.err
    # A few files are copied sooner than a hundred.
    git(folder / "cache" / "transformers.git", "repack", "-a", "-d", "--quiet")


def _write_pins(root: Path, wheels: Path, index: IndexServer) -> None:
    pins = []
    for version in RELEASES:
        files = {path: text.encode() for path, text in of_release(version).items()}
        uploaded = day(Version(version).release[1] * _STEP) + timedelta(hours=3, days=Version(version).release[2])
        wheel = index.add("transformers", version, files, ["hub>=1.0"])
        pins.append(Pin(Version(version), uploaded, ">=3.10", None, wheel, None))
    groups = []
    names = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
    tools = [_lay(wheels, name, *installed(name)) for name in names]
    for first, last, hub in (("5.0.0", "5.3.0", "1.0"), ("5.4.0", "5.7.0", "1.5")):
        line = _lay(wheels, "hub", hub, make_wheel("hub", hub, {"hub/__init__.py": f"NUMBER = {hub}\n".encode()}))
        name = f"{first[:3]}-{last[:3]}"
        lock = f"locks/{name}.txt"
        (root / "upstream" / lock).write_text("\n".join([*tools, line, ""]), encoding="utf-8")
        groups.append(EnvironmentGroup(name, Version(first), Version(last), lock))
    (root / "upstream/transformers.toml").write_text(set_groups(add_releases(PINS, pins), groups), encoding="utf-8")


def _lay(wheels: Path, name: str, version: str, wheel: bytes) -> str:
    """Put a wheel where uv finds it; its line in a lock."""
    (wheels / f"{name}-{version}-py3-none-any.whl").write_bytes(wheel)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel).hexdigest()}"


def copy_ground(template: Path, folder: Path) -> Ground:
    """A ground of a test's own. Environments are links to the template's: nothing is written to them."""
    for part in ("workspace", "cache", "repo"):
        shutil.copytree(template / part, folder / part, symlinks=True, ignore=shutil.ignore_patterns("envs", "store*"))
    (folder / "cache" / "envs").mkdir()
    for env in (template / "cache" / "envs").iterdir():
        if env.is_dir():
            (folder / "cache" / "envs" / env.name).symlink_to(env)
        else:
            shutil.copy(env, folder / "cache" / "envs" / env.name)
    (folder / "here").mkdir()
    commits = git(folder / "repo", "rev-list", "--reverse", "main").splitlines()
    workspace, cache, repo, here = (folder / part for part in ("workspace", "cache", "repo", "here"))
    return Ground(workspace, cache, repo, here, template / "wheels", commits)


def interrupt(process: subprocess.Popen[str]) -> Ran:
    """What a person does who presses Ctrl-C."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return Ran(process.returncode, out, err)
