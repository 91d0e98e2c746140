# SPDX-License-Identifier: Apache-2.0
"""`headwater repro` on real releases: the verdicts that the atlas expects, and what a person sees."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from founding import FOUNDING, ONLY_FOUNDING

pytestmark = pytest.mark.releases
Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("release", "hybrid"), [("4.57.6", "absent"), ("5.4.0", "absent"), ("5.10.1", "bad"), ("5.24.0", "good")]
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
        for release in ("4.57.6", "5.4.0", "5.10.1", "5.24.0")
    }
    assert keys["5.4.0"] == keys["5.10.1"]
    assert len(set(keys.values())) == 3


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


def test_a_series_mends_it(headwater: Run) -> None:
    done = headwater("repro", "5.10.1", "--series", "hybrid-static-cache", "--case", "early-init", "--json")
    assert done.status == 0
    [probe] = done.json["probes"]
    assert (probe["verdict"], probe["series"]) == ("good", "hybrid-static-cache")


CASE = """\
# /// case
# id = "{id}"
# title = "made for a test"
# references = []
# severity = "unclear"
# time_limit = {limit}
{extra}
# [[signature]]
# type = "{type}"
# message = '{message}'
# ///
import os
import time


def run(device):
    {body}
"""


def write_case(
    folder: Path,
    case_id: str,
    body: str,
    type_: str = "KeyError",
    message: str = "nothing",
    extra: str = "#",
    limit: int = 60,
) -> None:
    """Write a case into `folder`."""
    text = CASE.format(id=case_id, body=body, type=type_, message=message, extra=extra, limit=limit)
    (folder / f"{case_id.replace('-', '_')}.py").write_text(text, encoding="utf-8")


def test_every_other_verdict(headwater: Run, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    write_case(tmp_path, "t-other", "raise ValueError('not the bug')")
    write_case(tmp_path, "t-import", "from transformers import NoSuchThing")
    write_case(tmp_path, "t-import-bug", "import nowhere", "ModuleNotFoundError", "No module named .nowhere.")
    write_case(tmp_path, "t-exit", "os._exit(0)")
    write_case(tmp_path, "t-network", "pass", extra="# network = true")
    write_case(tmp_path, "t-slow", "time.sleep(600)", limit=15)
    turns = f"open({str(counter)!r}, 'a').write('x'); assert os.path.getsize({str(counter)!r}) % 2"
    write_case(tmp_path, "t-flaky", turns)
    ids = ["t-other", "t-import", "t-import-bug", "t-exit", "t-network", "t-slow"]
    done = headwater("repro", "5.10.1", "--cases-dir", tmp_path, "--case", ",".join(ids), "--json")
    assert done.status == 1
    assert done.verdicts() == {
        "t-other": "other-failure",
        "t-import": "untestable",
        "t-import-bug": "bad",
        "t-exit": "other-failure",
        "t-network": "unavailable",
        "t-slow": "other-failure",
    }
    flaky = headwater("repro", "5.10.1", "--cases-dir", tmp_path, "--case", "t-flaky", "--repeat", "2", "--json")
    assert flaky.verdicts() == {"t-flaky": "flaky"}


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


def test_a_case_that_does_not_apply_to_a_release(headwater: Run, tmp_path: Path) -> None:
    write_case(tmp_path, "t-later", "raise KeyError('nothing')", extra='# applies = ">=5.13"')
    words = ("--cases-dir", tmp_path, "--case", "t-later", "--json")
    for more in ((), ("--series", "hybrid-static-cache")):
        done = headwater("repro", "5.10.1", *more, *words)
        assert (done.status, done.verdicts(), done.json["probes_run"]) == (0, {"t-later": "absent"}, 0)
    assert headwater("repro", "5.24.0", *words).verdicts() == {"t-later": "bad"}


def test_a_time_out_is_run_again(headwater: Run, tmp_path: Path) -> None:
    write_case(tmp_path, "t-hangs", "time.sleep(600)", limit=8)
    for _attempt in range(2):
        done = headwater("repro", "5.10.1", "--cases-dir", tmp_path, "--case", "t-hangs", "--json")
        [probe] = done.json["probes"]
        assert probe["evidence"]["type"] == "TimeLimit"
        assert done.json["probes_run"] == 1


def test_which_file_is_run_is_part_of_what_is_known(headwater: Run, tmp_path: Path) -> None:
    """Two cases that import one another have the same files, and still two verdicts."""
    write_case(tmp_path, "t-alpha", "import t_beta")
    write_case(tmp_path, "t-beta", "import t_alpha; raise KeyError('nothing')")
    done = headwater("repro", "5.10.1", "--cases-dir", tmp_path, "--case", "t-alpha,t-beta", "--json")
    assert done.verdicts() == {"t-alpha": "good", "t-beta": "bad"}


def test_variables_that_reach_a_probe_are_part_of_what_is_known(headwater: Run, tmp_path: Path) -> None:
    write_case(tmp_path, "t-threads", "assert os.environ.get('OMP_NUM_THREADS') != '1'")
    words = ("repro", "5.10.1", "--cases-dir", tmp_path, "--case", "t-threads", "--json")
    assert headwater(*words, environ={"OMP_NUM_THREADS": "2"}).verdicts() == {"t-threads": "good"}
    assert headwater(*words, environ={"OMP_NUM_THREADS": "1"}).verdicts() == {"t-threads": "other-failure"}


def test_a_case_elsewhere_uses_the_workspace_s_helper(headwater: Run, tmp_path: Path) -> None:
    write_case(tmp_path, "t-helped", "import casekit; casekit.absent('not here')")
    done = headwater("repro", "5.10.1", "--cases-dir", tmp_path, "--case", "t-helped", "--json")
    assert done.verdicts() == {"t-helped": "absent"}


def test_an_interrupted_run_shows_what_it_has(tmp_path: Path, root: Path, headwater: Run) -> None:
    write_case(tmp_path, "t-sleeps", "time.sleep(60)", limit=100)
    headwater("repro", "5.10.1", "--case", "batch-size")
    words = [sys.executable, "-m", "headwater", "repro", "5.10.1", "--cases-dir", str(tmp_path)]
    words += ["--case", "batch-size,t-sleeps", "--json"]
    cache = os.environ.get("HEADWATER_TEST_CACHE", root / ".cache" / "tests")
    environ = {**os.environ, "HEADWATER_CACHE": str(cache), "PYTHONPATH": str(root / "src")}
    process = subprocess.Popen(words, cwd=root, env=environ, stdout=subprocess.PIPE, text=True)
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert [probe["case"] for probe in json.loads(out)["probes"]] == ["batch-size"]
