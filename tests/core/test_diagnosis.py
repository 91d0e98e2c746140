# SPDX-License-Identifier: Apache-2.0
"""What a machine has and lacks: states, costs, and what is necessary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headwater.core import diagnosis
from headwater.core.diagnosis import Finding, State, exit_status
from headwater.core.pins import read_pins

PINS = read_pins((Path(__file__).parents[2] / "upstream" / "transformers.toml").read_text(encoding="utf-8"), "pins")


def look(finding: Finding) -> tuple[State, bool]:
    """Its state, and whether it is necessary."""
    assert bool(finding.cost) == (finding.state is State.LACKING), "what lacks, and nothing else, costs something"
    assert bool(finding.remedy) >= (finding.state is State.LACKING)
    return finding.state, finding.necessary


@pytest.mark.parametrize(
    ("finding", "state", "necessary"),
    [
        (diagnosis.of_python("3.11.7", PINS), State.HERE, True),
        (diagnosis.of_python("3.10.2", None), State.LACKING, True),
        (diagnosis.of_git("2.38.0", ""), State.HERE, True),
        (diagnosis.of_git("2.37.9", ""), State.LACKING, True),
        (diagnosis.of_git("2.9.5", ""), State.LACKING, True),
        (diagnosis.of_git("2.47.windows", ""), State.HERE, True),
        (diagnosis.of_git(None, "no git"), State.LACKING, True),
        (diagnosis.of_uv("0.8.3", ""), State.HERE, True),
        (diagnosis.of_uv(None, "no uv"), State.LACKING, True),
        (diagnosis.of_workspace("here", 55), State.HERE, True),
        (diagnosis.of_workspace(None, 0), State.LACKING, True),
        (diagnosis.of_caches("here", True, 4_000_000_000), State.HERE, True),
        (diagnosis.of_caches("here", True, 3_999_999_999), State.LACKING, True),
        (diagnosis.of_caches("here", False, 9_000_000_000), State.LACKING, True),
        (diagnosis.of_index("index", None, True), State.HERE, False),
        (diagnosis.of_index("index", "no answer", True), State.LACKING, False),
        (diagnosis.of_index("index", "no answer", False), State.LACKING, True),
        (diagnosis.of_torch("2.13.0+cpu", "", ["here"]), State.HERE, True),
        (diagnosis.of_torch(None, "no wheel", []), State.LACKING, True),
        (diagnosis.of_devices(None, False), State.NOT_ASKED, False),
        (diagnosis.of_devices(["cuda:0 (some GPU)"], True), State.HERE, False),
        (diagnosis.of_devices([], False), State.LACKING, False),
        (diagnosis.of_devices(None, False, "torch does not start"), State.LACKING, False),
        (diagnosis.of_remote("clone", None), State.HERE, False),
        (diagnosis.of_remote("clone", "no repository"), State.LACKING, False),
        (diagnosis.of_remote(None, None), State.LACKING, False),
        (diagnosis.of_platform("linux"), State.HERE, False),
        (diagnosis.of_platform("darwin"), State.LACKING, False),
        (diagnosis.of_encoding("UTF-8"), State.HERE, False),
        (diagnosis.of_encoding("ascii"), State.LACKING, False),
        (diagnosis.of_program("nox", "bin/nox", "cost", "remedy"), State.HERE, False),
        (diagnosis.of_program("nox", None, "cost", "remedy"), State.LACKING, False),
    ],
)
def test_states(finding: Finding, state: State, necessary: bool) -> None:
    assert look(finding) == (state, necessary)
    assert exit_status([finding]) == int(necessary and state is State.LACKING)


def test_releases_that_want_another_python_are_named() -> None:
    *older, before, newest = PINS.releases
    changed = [replace(pin, requires_python=">=3.14") for pin in (before, newest)]
    found = diagnosis.of_python("3.13.1", replace(PINS, releases=(*older, *changed)))
    assert look(found) == (State.LACKING, False)
    assert found.cost == f"{before.version}..{newest.version}: untestable with it"


def test_the_accelerators_that_lack_are_named() -> None:
    assert diagnosis.of_devices([], False).cost == "probes on cuda, mps, xpu are unavailable"
    assert diagnosis.of_devices(["cuda:0 (some GPU)"], True).found == "cpu, meta, cuda:0 (some GPU)"


def test_one_lack_that_is_necessary_is_enough() -> None:
    assert exit_status([diagnosis.of_git("2.39.5", ""), diagnosis.of_remote(None, None)]) == 0
    assert exit_status([diagnosis.of_git(None, "none"), diagnosis.of_git("2.39.5", "")]) == 1
