# SPDX-License-Identifier: Apache-2.0
"""A small workspace of its own on a package index of its own, for the commands that talk to the index."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from index_server import IndexServer
from packaging.version import Version

from headwater.core.grouping import locked_versions
from headwater.core.pins import Pins, read_pins

HEAD = """\
# Written by a person.
schema = 1
package = "transformers" # kept
# The oldest release that is pinned.
first = "5.0.0"
torch = "2.13.0"
"""


@dataclass
class Bench:
    """A workspace whose pins follow `index`, and `headwater` run in it as a process."""

    index: IndexServer
    root: Path
    cache: Path
    headwater: Callable[..., Any]
    environ: dict[str, str]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def pins_file(self) -> Path:
        """The pins."""
        return self.root / "upstream" / "transformers.toml"

    @property
    def text(self) -> str:
        """The text of the pins."""
        return self.pins_file.read_text(encoding="utf-8")

    @property
    def pins(self) -> Pins:
        """The pins, read."""
        return read_pins(self.text, "transformers.toml")

    def versions(self) -> list[str]:
        """What is pinned."""
        return [str(version) for version in self.pins.versions]

    def groups(self) -> list[tuple[str, str]]:
        """First and last release of every environment group."""
        return [(str(group.first), str(group.last)) for group in self.pins.groups]

    def locked(self, version: str) -> dict[str, str]:
        """The versions in the lock that serves a release."""
        lock = self.root / "upstream" / self.pins.group_of(Version(version)).lock
        return {name: str(v) for name, v in locked_versions(lock.read_text(encoding="utf-8")).items()}

    def files(self) -> dict[str, bytes]:
        """Every file of the workspace and what stands in it: pins, locks, and whatever should not be there."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}

    def release(self, version: str, requires: Sequence[str] = ("hub<2",), yanked: str | bool = False) -> None:
        """Publish a release in the index."""
        self.index.add("transformers", version, requires=requires, yanked=yanked)

    def run(self, *words: str, **environ: str) -> Any:
        """Run `headwater WORDS`."""
        return self.headwater(*words, cwd=self.root, environ={**self.environ, **environ})

    def update(self, *words: str) -> str:
        """Run `headwater pins update WORDS`, which must end well; what it said."""
        done = self.run("pins", "update", *words)
        assert done.status == 0, done.err
        return str(done.out)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start `headwater WORDS` and do not wait. Ended after the test."""
        process = subprocess.Popen(
            [sys.executable, "-m", "headwater", *words], cwd=self.root, env={**os.environ, **self.environ}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.started.append(process)
        return process


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
