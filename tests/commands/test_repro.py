# SPDX-License-Identifier: Apache-2.0
"""`headwater repro` on real releases: the verdicts that the atlas expects, and what a person sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case_files import write_case
from founding import FOUNDING, ONLY_FOUNDING

pytestmark = pytest.mark.releases
Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("release", "hybrid"),
    [
        pytest.param("4.57.6", "absent", marks=pytest.mark.slow),
        ("5.4.0", "absent"),
        ("5.10.1", "bad"),
        ("5.24.0", "good"),
    ],
)
def test_founding_cases(headwater: Run, release: str, hybrid: str) -> None:
    done = headwater("repro", release, *ONLY_FOUNDING, "--json")
    assert done.status == 0, done.err
    assert done.json["schema"] == 1
    # The batch size of a dynamic cache can be asked for from 5.13.0 on.
    sizes = "bad" if release == "5.24.0" else "good"
    assert done.verdicts() == {case: sizes if case == "batch-size" else hybrid for case in FOUNDING}


def test_the_report_s_own_error_is_the_evidence(headwater: Run) -> None:
    done = headwater("repro", "5.10.1", "--case", "early-init", "--json")
    [probe] = done.json["probes"]
    message = "The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 3"
    assert probe["evidence"]["type"] == "RuntimeError"
    assert probe["evidence"]["message"] == message
    assert re.fullmatch(r"transformers/cache_utils\.py:\d+ in update_conv_state", probe["evidence"]["frame"])
    assert (probe["revision"], probe["series"], probe["device"]) == ("5.10.1", None, "cpu")


def test_a_person_sees_rows_surroundings_and_a_sentence(headwater: Run) -> None:
    done = headwater("repro", "5.10.1", *ONLY_FOUNDING)
    assert done.status == 0
    for case in FOUNDING:
        assert re.search(rf"(?m)^{case} .*\b{'good' if case == 'batch-size' else 'bad'}\b", done.out)
    assert "#46439" in done.out
    assert re.search(
        r"transformers 5\.10\.1 · torch 2\.13\.0\S* · Python 3\.\d+\.\d+ · cpu · environment 5\.0-5\.15", done.out
    )
    assert "1 good, 4 bad." in done.out
    assert "All as expected." in done.out


def test_what_is_known_is_not_run_again(headwater: Run) -> None:
    headwater("repro", "5.10.1", *ONLY_FOUNDING)
    again = headwater("repro", "5.10.1", *ONLY_FOUNDING, "--json")
    assert again.json["probes_run"] == 0
    assert all(probe["cached"] for probe in again.json["probes"])
    assert "0 probes run, 5 known from earlier runs" in headwater("repro", "5.10.1", *ONLY_FOUNDING).out
    fresh = headwater("repro", "5.10.1", "--case", "batch-size", "--fresh", "--json")
    assert fresh.json["probes_run"] == 1


def test_one_environment_serves_a_group_of_releases(headwater: Run) -> None:
    keys = {
        release: headwater("repro", release, *ONLY_FOUNDING, "--json").json["surroundings"]["environment"]
        for release in ("5.4.0", "5.10.1", "5.24.0")
    }
    assert keys["5.4.0"] == keys["5.10.1"] != keys["5.24.0"]


@pytest.mark.slow
def test_meta_device(headwater: Run) -> None:
    done = headwater("repro", "5.10.1", "--device", "meta", "--case", "early-init,batch-size", "--json")
    assert done.verdicts() == {"early-init": "bad", "batch-size": "good"}


def test_a_device_that_is_not_there(headwater: Run) -> None:
    done = headwater("repro", "5.10.1", "--device", "xpu", "--case", "early-init", "--json")
    assert done.status == 1
    assert done.verdicts() == {"early-init": "unavailable"}
    assert done.json["probes_run"] == 0


def test_a_yanked_release_runs_and_says_why_it_was_yanked(headwater: Run) -> None:
    done = headwater("repro", "5.10.0", "--case", "early-init", "--json")
    assert done.status == 0
    assert done.verdicts() == {"early-init": "bad"}
    assert "yanked" in done.err
    assert "We pushed from a week old main branch" in done.err


def test_another_verdict_than_the_atlas_expects(headwater: Run, workspace: Path) -> None:
    atlas = workspace / "tests" / "repro" / "atlas.toml"
    atlas.write_text(
        'schema = 1\n[[entry]]\ncase = "early-init"\nverdict = "good"\nfirst = "5.0.0"\nlast = "5.24.0"\n',
        encoding="utf-8",
    )
    done = headwater("repro", "5.10.1", "--case", "early-init", cwd=workspace)
    assert done.status == 1
    assert "early-init on cpu is bad instead of good" in done.out


@pytest.mark.slow
def test_a_series_mends_it(headwater: Run) -> None:
    done = headwater("repro", "5.10.1", "--series", "hybrid-static-cache", "--case", "early-init", "--json")
    assert done.status == 0
    [probe] = done.json["probes"]
    assert (probe["verdict"], probe["series"]) == ("good", "hybrid-static-cache")


def test_a_case_that_does_not_tell_on_a_device(headwater: Run, workspace: Path, tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    cases.mkdir()
    write_case(cases, "t-values", "assert device == 'cpu'", extra='# devices = ["cpu"]')
    words = ("repro", "5.10.1", "--cases-dir", cases, "--device", "cpu,meta", "--json")
    named = headwater(*words, "--case", "t-values", cwd=workspace)
    assert named.status == 1, "what was asked for by name was not tested"
    assert [(probe["device"], probe["verdict"]) for probe in named.json["probes"]] == [
        ("cpu", "good"),
        ("meta", "unavailable"),
    ]
    assert named.json["probes_run"] <= 1
    among_all = headwater(*words, cwd=workspace)
    assert among_all.status == 0, among_all.err
    seen = {(probe["case"], probe["device"]): probe for probe in among_all.json["probes"]}
    assert (seen["t-values", "meta"]["verdict"], seen["t-values", "meta"]["expected"]) == ("unavailable",) * 2
    assert seen["early-init", "meta"]["verdict"] == "bad"


def test_a_case_elsewhere_uses_the_workspace_s_helper(headwater: Run, tmp_path: Path) -> None:
    write_case(tmp_path, "t-helped", "import casekit; casekit.absent('not here')")
    done = headwater("repro", "5.10.1", "--cases-dir", tmp_path, "--case", "t-helped", "--json")
    assert done.verdicts() == {"t-helped": "absent"}
