# SPDX-License-Identifier: Apache-2.0
"""`headwater pr` on real releases, and on the real history where HEADWATER_TEST_REPO names a clone of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hunting_ground import git

pytestmark = [pytest.mark.releases, pytest.mark.slow]
Run = Callable[..., Any]
SERIES = "hybrid-static-cache"
CASES = ((1, "early-init"), (2, "is-initialized"), (3, "max-cache-len"), (4, "max-batch-size"))
# Upstream's own fix. What the fourth patch mends it left as it was: that came before 5.13.0 too.
FIX = "e7835fba01322488d685a3b2e75273361f3100f5"


def lines_of(folder: Path) -> dict[tuple[str, str, str], tuple[str, str, str]]:
    """(number, what, device) to verdicts before, after and with all."""
    evidence = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))
    return {
        (patch["file"][:4], line["what"], line["device"]): tuple(
            line[when]["verdict"] for when in ("before", "after", "whole")
        )
        for patch in evidence["patches"]
        for line in patch["lines"]
    }


@pytest.fixture
def bundle(headwater: Run, tmp_path: Path) -> Path:
    """The bundle for 5.10.1."""
    done = headwater("pr", SERIES, "--onto", "5.10.1", "--output", tmp_path / "out")
    assert done.status == 0, done.err
    return tmp_path / "out"


def test_git_am_on_a_clone_at_that_tree_and_tests_red_then_green(bundle: Path, test_cache: Path) -> None:
    wanted = {(f"000{n}", case, device) for n, case in CASES for device in ("cpu", "meta")}
    wanted |= {(f"000{n}", "tests", "cpu") for n in range(1, 5)}
    assert lines_of(bundle) == dict.fromkeys(wanted, ("bad", "good", "good"))
    evidence = json.loads((bundle / "evidence.json").read_text(encoding="utf-8"))
    clone = bundle.parent / "clone"
    git(bundle, "clone", "--quiet", "--no-checkout", str(test_cache / "transformers.git"), str(clone))
    git(clone, "fetch", "--quiet", "origin", "refs/headwater/releases/5.10.1")
    git(clone, "checkout", "--quiet", "FETCH_HEAD")
    git(clone, "am", "--quiet", "--keep-cr", *map(str, sorted(bundle.glob("*.patch"))))
    assert git(clone, "rev-parse", "HEAD^{tree}") == evidence["target"]["after_am"]
    python = test_cache / "envs" / evidence["environments"][0]["key"][:20] / "bin" / "python"
    tests = [path for patch in evidence["patches"] for path in patch["tests"]]

    def failed() -> int:
        words = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir=.", *tests]
        environ = {"PYTHONPATH": "src", "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "HF_HUB_OFFLINE": "1"}
        environ["HF_HOME"] = str(bundle.parent / "hf")
        done = subprocess.run(words, cwd=clone, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return sum(line.startswith("FAILED") for line in done.stdout.splitlines())

    assert failed() == 0
    git(clone, "checkout", "--quiet", "FETCH_HEAD", "--", "src")
    red = sum(
        one["result"] == "failed"
        for patch in evidence["patches"]
        for line in patch["lines"]
        if line["what"] == "tests"
        for one in line["before"]["tests"]
    )
    assert failed() >= red > 15


@pytest.mark.parametrize("onto", ["5.13.0", "newest"])
def test_refused_where_it_is_fixed_upstream(headwater: Run, tmp_path: Path, onto: str) -> None:
    done = headwater("pr", SERIES, "--onto", onto, "--output", tmp_path / "out")
    assert done.status == 1
    assert "fixed upstream in 5.13.0" in done.out
    assert f"headwater patch export {SERIES} --release 5.12.1" in done.out
    assert not (tmp_path / "out").exists()


def test_a_written_bundle_passes_and_repeats_elsewhere(headwater: Run, bundle: Path, workspace: Path) -> None:
    body = (bundle / "BODY.md").read_text(encoding="utf-8")
    marks = [line for line in body.splitlines() if "headwater: unwritten" in line]
    for line in marks:
        address = "Go-ahead: https://github.com/huggingface/transformers/issues/46439"
        body = body.replace(line, address if line.startswith("Go-ahead") else "My own words.")
    (bundle / "BODY.md").write_text(body, encoding="utf-8")
    done = headwater("pr", "check", bundle, "--json")
    assert (done.status, done.json["reasons"]) == (0, []), done.out
    moved = workspace.parent / "received"
    shutil.move(bundle, moved)
    shutil.rmtree(workspace / "patches")
    done = headwater("pr", "verify", moved, "--patch", "0003", "--json", cwd=workspace)
    assert (done.status, done.json["differences"]) == (0, []), done.out
    assert done.json["probes_run"] == 9


@pytest.mark.skipif("HEADWATER_TEST_REPO" not in os.environ, reason="HEADWATER_TEST_REPO names no clone of upstream")
def test_the_commit_before_upstreams_fix(headwater: Run, tmp_path: Path) -> None:
    repo = os.environ["HEADWATER_TEST_REPO"]
    words = ("--repo", repo, "--device", "cpu", "--output", tmp_path / "out")
    done = headwater("pr", SERIES, "--onto", f"{FIX}~1", *words)
    assert done.status == 0, done.err
    evidence = json.loads((tmp_path / "out" / "evidence.json").read_text(encoding="utf-8"))
    [line] = evidence["library"]
    assert (line["file"], line["new_failures"], line["lost"]) == ("tests/utils/test_cache_utils.py", [], [])
    assert line["passed_before"] == line["passed_after"] > 5
    assert "Code Agent Policy" in (tmp_path / "out" / "BODY.md").read_text(encoding="utf-8")
    assert "## CONTRIBUTING.md: " in (tmp_path / "out" / "CHECKLIST.md").read_text(encoding="utf-8")
    checked = headwater("pr", "check", tmp_path / "out", "--repo", repo, "--json")
    kinds = {one["kind"] for one in checked.json["reasons"]}
    assert kinds == {"body-unwritten", "no-go-ahead"}, checked.out
    done = headwater("pr", SERIES, "--onto", FIX, *words, "--json")
    left_out = done.json["evidence"]["left_out"]
    assert [(one["file"][:4], one["state"]) for one in left_out] == [
        (f"000{number}", "fixed-upstream") for number in (1, 2, 3)
    ]
    done = headwater("pr", SERIES, "--onto", "main", *words)
    assert done.status == 1
    assert "fixed upstream in 5.13.0" in done.out
