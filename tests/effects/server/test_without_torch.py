# SPDX-License-Identifier: Apache-2.0
"""A library that needs no torch is probed in an environment that has none, on cpu alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.core.verdicts import Verdict
from headwater.effects.probe import ProbeOptions, Prober
from headwater.effects.watch import ChildRun

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

BODY = "assert 'torch' not in sys.modules and device == 'cpu'\ntransformers.call(int)"


@pytest.fixture
def torchless(lab: Lab, tmp_path: Path) -> Lab:
    """The lab, with an environment that holds nothing at all."""
    folder = tmp_path / "torchless"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    lab.environments.environment = replace(lab.environments.environment, torch=None, folder=folder)
    return lab


def test_a_case_runs_and_is_judged(torchless: Lab) -> None:
    with torchless.prober() as probe:
        assert probe(BODY).verdict is Verdict.GOOD
        assert probe("transformers.update()").evidence.frame == "transformers/cache_utils.py:2 in update"


def test_as_a_process_of_its_own_too(torchless: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Prober._answer

    def plainly(self: Prober, environment: Any, request: Any, files: Any, limits: Any, plain: bool) -> ChildRun:
        return answer(self, environment, request, files, limits, plain=True)

    monkeypatch.setattr(Prober, "_answer", plainly)
    with torchless.prober() as probe:
        assert probe(BODY).verdict is Verdict.GOOD


@pytest.mark.parametrize("device", ["meta", "cuda"])
def test_no_device_but_cpu_is_there(torchless: Lab, device: str) -> None:
    with Prober(
        torchless.cache, torchless.environments, "transformers", ProbeOptions(), torchless.events.append
    ) as one:
        row = one.probe(*torchless._asked(BODY, 20, None), device)
    assert row.verdict is Verdict.UNAVAILABLE
    assert row.evidence.message == "transformers is probed without torch, and so on cpu alone"


def test_an_environment_that_should_have_torch_and_has_none_is_no_matter_of_the_library(torchless: Lab) -> None:
    torchless.environments.environment = replace(torchless.environments.environment, torch="2.0", key="f" * 64)
    with torchless.prober() as probe:
        row = probe(BODY)
    assert row.verdict is Verdict.HARNESS_ERROR
    assert "No module named 'torch'" in str(row.evidence.message)
