# SPDX-License-Identifier: Apache-2.0
"""kill -9 at a seeded moment in each phase: the next run completes, with the ids and verdicts of an undisturbed one.

HEADWATER_KILLS sets how many moments each phase is killed at.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kills import KILLS

if TYPE_CHECKING:
    from tests.commands.faults.conftest import Ground, WheelIndex

pytestmark = [
    pytest.mark.releases,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]


def building(name: str) -> Callable[[Ground], bool]:
    """A phase begins when its folder is there."""
    return lambda ground: any(ground.cache.glob(f"incoming/{name}-*"))


def writing(ground: Ground) -> bool:
    """Whether something was written to the store that is not yet in its main file."""
    with contextlib.suppress(FileNotFoundError):
        log = ground.cache / "store.sqlite3-wal"
        return probing(ground) and log.stat().st_size > 0
    return False


def probing(ground: Ground) -> bool:
    """Whether the fork server was started."""
    return any(ground.cache.glob("incoming/probe-*/*/server.log"))


@dataclass(frozen=True)
class Phase:
    """What is missing from a whole cache, when the phase has begun, and how long it takes about, in seconds."""

    missing: tuple[str, ...]
    has_begun: Callable[[Ground], bool]
    seconds: float


PHASES = {
    "download": Phase(
        ("wheels", "transformers.git", "trees", "blobs"), lambda ground: any(ground.cache.glob("wheels/.part-*")), 1.0
    ),
    "import": Phase(("transformers.git", "trees", "blobs"), building("import"), 1.2),
    "tree": Phase(("trees", "blobs"), building("tree"), 0.6),
    "environment": Phase(("envs",), building("env"), 9.0),
    "probe": Phase((), probing, 2.5),
    "store": Phase((), writing, 0.004),
}
CASES = ("--case", "early-init,batch-size")


def kill_within(ground: Ground, phase: Phase, seed: str) -> bool:
    """Start a run, and kill it within a phase of it; False where it ended before."""
    chance = random.Random(seed)
    environ = {**os.environ, "HEADWATER_CACHE": str(ground.cache), "PYTHONPATH": str(ground.repository / "src")}
    process = subprocess.Popen(
        [sys.executable, "-m", "headwater", "repro", "5.10.1", *CASES, "--fresh", "--json"],
        cwd=ground.repository, env={**environ, **ground.environ}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not phase.has_begun(ground) and process.poll() is None:
        time.sleep(0.0005)
    moment = time.monotonic() + chance.uniform(0, phase.seconds)
    while time.monotonic() < moment and process.poll() is None:
        time.sleep(0.0005)
    ran = process.poll() is None
    # It alone, and not its group: what it started has to end by itself.
    process.kill()
    process.wait()
    return ran


def end(ground: Ground) -> list[str]:
    """The processes on this cache after five seconds, which are ended then."""
    limit = time.monotonic() + 5
    while (left := ground.processes()) and time.monotonic() < limit:
        time.sleep(0.1)
    for line in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), signal.SIGKILL)
    return left


@pytest.mark.parametrize("moment", range(KILLS))
@pytest.mark.parametrize("name", PHASES)
def test_a_killed_run(whole: Ground, wheel_index: WheelIndex, name: str, moment: int) -> None:
    phase = PHASES[name]
    whole.without("store.sqlite3", *phase.missing)
    if name == "download":
        wheel_index.seconds = phase.seconds
        whole.environ = wheel_index.environ
    killed = kill_within(whole, phase, f"{name} {moment}")
    left = end(whole)
    wheel_index.seconds = 0.0
    whole.repro(*CASES)
    assert "damaged" not in whole.said
    assert whole.commit() == whole.pin().mirror_commit
    assert whole.repro(*CASES)["probes_run"] == 0
    whole.run("cache", "prune")
    assert whole.is_at_rest()
    assert leftovers(whole) == []
    assert killed or name in ("probe", "environment", "tree"), "the run ended before its moment"
    assert left == []


def leftovers(ground: Ground) -> list[Path]:
    """What no run should leave once the cache was pruned."""
    parts = ("wheels/.*", "blobs/*/.*", "code/*/*/tmp*", ".removed-*", "*/.removed-*")
    return [path for part in parts for path in ground.cache.glob(part)]
