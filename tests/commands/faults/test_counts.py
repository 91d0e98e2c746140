# SPDX-License-Identifier: Apache-2.0
"""What a fixed set of probes costs, counted: compilations, downloads, environments, servers, forks; and eight runs at
once on one cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from founding import ONLY_FOUNDING

if TYPE_CHECKING:
    from tests.commands.faults.conftest import Ground, WheelIndex

pytestmark = [pytest.mark.releases, pytest.mark.slow]

# Files of transformers 5.10.1 that the founding cases import. Of those, 5.10.2 changed `__init__.py` alone.
IMPORTED = 33
CASES = 5


def entries(ground: Ground) -> int:
    """The entries of the byte-code cache."""
    return len(list(ground.cache.glob("code/*/*/*")))


def test_cold_neighbour_and_warm(bare: Ground) -> None:
    cold = bare.counts()
    assert cold == Counter(compilations=IMPORTED, environments=1, servers=1, forks=CASES)
    assert entries(bare) == IMPORTED
    neighbour = bare.counts(release="5.10.2")
    assert neighbour == Counter(compilations=1, servers=1, forks=CASES)
    assert entries(bare) == IMPORTED + 1
    for release in ("5.10.1", "5.10.2"):
        assert bare.counts("--fresh", release=release) == Counter(servers=1, forks=CASES)
        assert bare.counts(release=release) == Counter()
    assert bare.counts("--fresh", "--case", "early-init", "--repeat", "3") == Counter(servers=1, forks=3)
    patched = bare.run("repro", "5.10.1", "--series", "hybrid-static-cache", *ONLY_FOUNDING, "--json").json
    assert patched["counts"]["compilations"] == 1
    assert +Counter(patched["counts"]) == Counter(compilations=1, servers=1, forks=CASES)
    assert entries(bare) == IMPORTED + 2
    assert bare.is_at_rest()


def test_a_wheel_is_downloaded_once(fresh: Ground, wheel_index: WheelIndex) -> None:
    fresh.without("wheels").environ = wheel_index.environ
    # The environment was probed in before: what a server imports ahead is known.
    assert fresh.counts() == Counter(compilations=IMPORTED, downloads=1, servers=1, forks=CASES)
    assert fresh.counts("--fresh") == Counter(servers=1, forks=CASES)
    fresh.without("transformers.git", "trees", "blobs")
    assert fresh.counts("--fresh") == Counter(servers=1, forks=CASES)
    assert wheel_index.fetched == ["transformers-5.10.1-py3-none-any.whl"]


def test_eight_runs_at_once(bare: Ground) -> None:
    environ = {**os.environ, "HEADWATER_CACHE": str(bare.cache), "PYTHONPATH": str(bare.repository / "src")}
    argv = [sys.executable, "-m", "headwater", "repro", "5.10.1", "--case", "early-init,batch-size", "--json"]
    runs = [
        subprocess.Popen(
            argv, cwd=bare.repository, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _number in range(8)
    ]
    ended = [(run.communicate(), run.returncode) for run in runs]
    assert [status for _said, status in ended] == [0] * 8, ended
    objects = [json.loads(out) for (out, _err), _status in ended]
    for seen in objects:
        assert {p["case"]: p["verdict"] for p in seen["probes"]} == {"early-init": "bad", "batch-size": "good"}
        assert {p["tree"] for p in seen["probes"]} == {bare.pin().tree}
    assert [err for (_out, err), _status in ended if "warning" in err or "damaged" in err] == []
    counts: Counter[str] = sum((Counter(seen["counts"]) for seen in objects), Counter())
    assert counts["environments"] == 1
    assert counts["downloads"] == 0
    assert bare.commit() == bare.pin().mirror_commit
    assert bare.processes() == []
    assert bare.is_at_rest()
    assert bare.counts("--case", "early-init,batch-size") == Counter()
    assert bare.counts("--case", "early-init", "--fresh") == Counter(servers=1, forks=1)
