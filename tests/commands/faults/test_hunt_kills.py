# SPDX-License-Identifier: Apache-2.0
"""kill -9 at any probe of a hunt: the resumed hunt loses the probe in flight and no other, and has the same answer."""

from __future__ import annotations

import signal
import sys

import pytest
from bench import wait_for
from hunting_ground import Ground, git

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what a killed run leaves running ends with it on Linux alone"),
]
CASE = """\
# /// case
# id = "counted"
# title = "The cache breaks"
# references = []
# severity = "crash"
# [[signature]]
# type = "RuntimeError"
# message = 'the cache broke'
# ///
import time
from pathlib import Path


def run(device):
    from transformers import plain, serial

    folder = Path({folder!r})
    with (folder / "begun").open("a") as file:
        file.write(serial.NUMBER + "\\n")
    number = len((folder / "begun").read_text().split())
    while (folder / f"stop-{{number}}").exists():
        time.sleep(0.01)
    plain.use()
"""
HUNTS = {
    "releases": ("--good", "5.0.0", "--bad", "5.7.0"),
    "auto": ("--good", "5.0.0", "--bad", "5.7.0", "--repo", "{repo}"),
    "all": ("--find", "all", "--good", "5.0.0", "--bad", "5.7.0"),
}
# How many probes each makes, undisturbed.
PROBES = {"releases": 9, "auto": 15, "all": 12}
KILLS = [("releases", 1), ("releases", 9)] + [("auto", n) for n in range(1, 16, 2)] + [("all", n) for n in range(1, 11)]


def written(ground: Ground) -> list[str]:
    """What every probe that began ran on."""
    return (ground.here / "begun").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("kind", HUNTS)
def test_undisturbed(ground: Ground, kind: str) -> None:
    prepare(ground)
    done = ground.hunt("counted", *words(ground, kind))
    assert done.status == 0, done.err
    assert done.json["probes_run"] == len(written(ground)) == PROBES[kind]


@pytest.mark.parametrize(("kind", "at"), KILLS)
def test_a_killed_hunt(ground: Ground, kind: str, at: int) -> None:
    prepare(ground)
    (ground.here / f"stop-{at}").touch()
    process = ground.start("bisect", "counted", *words(ground, kind), "--json")
    wait_for(lambda: len(written(ground)) == at)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (ground.here / f"stop-{at}").unlink()
    done = ground.hunt("counted", *words(ground, kind))
    assert (done.status, done.change["candidates"][0]) == (0, ground.commits[14] if kind == "auto" else "5.4.0")
    assert done.json["probes_run"] == PROBES[kind] - (at - 1)
    # The one in flight began twice, and every other once.
    assert len(written(ground)) == PROBES[kind] + 1
    assert ground.hunt("counted", *words(ground, kind)).json["probes_run"] == 0
    assert git(ground.repo, "status", "--porcelain") == ""


def prepare(ground: Ground) -> None:
    """The case, and what it writes to."""
    (ground.here / "begun").touch()
    text = CASE.format(folder=str(ground.here))
    (ground.root / "tests" / "repro" / "counted.py").write_text(text, encoding="utf-8")


def words(ground: Ground, kind: str) -> list[str]:
    """The words of a hunt."""
    return [word.replace("{repo}", str(ground.repo)) for word in HUNTS[kind]]
