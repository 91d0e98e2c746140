# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/repro: each reads well and has its place in the atlas, and some say on real releases what they
are known to say."""

from __future__ import annotations

import ast
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headwater.core.cases import Case
from headwater.effects.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
WORKSPACE = Workspace(ROOT)
CASES = [pytest.param(case, id=case_id) for case_id, case in WORKSPACE.cases().items()]


@pytest.mark.parametrize("case", CASES)
def test_a_case_tells_a_person_what_it_is_about(case: Case) -> None:
    assert case.file == f"{case.id.replace('-', '_')}.py"
    assert case.user_sees.endswith(".")
    assert case.meanwhile.endswith(".")
    assert all(re.fullmatch(r"huggingface/transformers#\d+", reference) for reference in case.references)
    assert not case.network
    source = (ROOT / "tests" / "repro" / case.file).read_text(encoding="utf-8")
    assert (ast.get_docstring(ast.parse(source)) or "").endswith("."), "what must hold is the case's docstring"
    assert set(case.files) - {case.file} <= {"casekit.py", "layerkit.py", "modelkit.py"}


@pytest.mark.parametrize("case", CASES)
def test_the_atlas_knows_each_release(case: Case) -> None:
    ranges = [(entry.first, entry.last) for entry in WORKSPACE.atlas.entries if entry.case == case.id]
    assert ranges == sorted(ranges)
    named = {version for both in ranges for version in both}
    assert named <= set(WORKSPACE.pins.versions)
    unknown = [str(v) for v in WORKSPACE.pins.versions if WORKSPACE.atlas.expected(case.id, v) is None]
    assert unknown == []


def test_neighbouring_entries_of_the_atlas_differ() -> None:
    entries = WORKSPACE.atlas.entries
    for one, other in itertools.pairwise(entries):
        assert (one.case, one.verdict) != (other.case, other.verdict), f"{one.case} from {other.first} on"


def plain(file: str, device: str) -> tuple[int, str]:
    """The exit status of a case under plain python, and what it printed."""
    environ = {**os.environ, "HEADWATER_DEVICE": device}
    argv = [sys.executable, str(ROOT / "tests" / "repro" / file)]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip()


def test_under_plain_python_a_device_on_which_a_case_cannot_tell_is_none_to_judge_by() -> None:
    status, line = plain("dynamic_reset.py", "cuda:9")
    assert (status, line.startswith("unavailable")) == (125, False), "it tells on every device that is there"
    told = "unavailable: quantized-reorder tells on cpu, cuda, mps, xpu alone"
    assert plain("quantized_reorder.py", "meta") == (125, told)


@pytest.mark.releases
@pytest.mark.parametrize(
    ("release", "known"),
    [
        pytest.param(
            "4.57.6",
            {"dynamic-reset": "bad", "mamba2-multitoken": "bad", "gemma4-use-cache-false": "absent"},
            marks=pytest.mark.slow,
        ),
        ("5.10.1", {"dynamic-reset": "bad", "batch-size-mixed-linear": "good", "qwen35-static": "bad"}),
        pytest.param(
            "5.24.0",
            {"dynamic-reset": "good", "batch-size-mixed-linear": "bad", "mamba2-multitoken": "good"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_some_say_on_real_releases(headwater: Callable[..., Any], release: str, known: dict[str, str]) -> None:
    done = headwater("repro", release, "--case", ",".join(known), "--json")
    assert done.status == 0, done.err
    assert done.verdicts() == known
    assert all(probe["expected"] == probe["verdict"] for probe in done.json["probes"])
