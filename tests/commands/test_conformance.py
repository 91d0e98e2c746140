# SPDX-License-Identifier: Apache-2.0
"""The conformance suite in `test-patched`: a failure that a patch brings fails the run, one that was there does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headwater.commands.conformance import comparison
from headwater.core.results import PatchedReport, PatchedRun, ProbeResult
from headwater.core.test_results import OneTest, Result
from headwater.core.verdicts import Evidence, Verdict

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
SUITE = """
import inspect
import pytest
from transformers import Cache
import beside

PATCHED = "keep their data" in inspect.getdoc(Cache.early_initialization)

def test_fails_always():
    raise RuntimeError("as before\\nand more")

@pytest.mark.parametrize("n", [1, 2])
def test_mended(n):
    assert PATCHED
"""
BROKEN = """
def test_broken():
    assert not PATCHED, "the patch broke it"

def test_lost():
    if PATCHED:
        pytest.skip("not there any more")
"""
WORDS = ("test-patched", "--device", "cpu", "--case", "batch-size")


def row(verdict: Verdict, **results: Result) -> ProbeResult:
    tests = tuple(OneTest(name, result) for name, result in results.items())
    return ProbeResult(
        "conformance", "5.10.1", None, "cpu", verdict, Evidence(), 1.0, False, "1" * 40, "e" * 64, tests=tests
    )


def status(before: ProbeResult, after: ProbeResult) -> int:
    run = PatchedRun("5.10.1", (), (), [comparison(before, after)], None)
    return PatchedReport("s", [run], 2, False).exit_status


def test_failures_that_were_there_are_as_expected() -> None:
    before = row(Verdict.BAD, a="failed", b="failed", c="passed")
    assert status(before, row(Verdict.BAD, a="failed", b="passed", c="passed")) == 0
    assert status(before, row(Verdict.GOOD, a="passed", b="passed", c="passed")) == 0


def test_a_new_failure_is_not_even_where_as_many_failed_before() -> None:
    before = row(Verdict.BAD, a="failed", b="passed")
    assert status(before, row(Verdict.BAD, a="passed", b="failed")) == 1
    assert status(row(Verdict.GOOD, b="passed"), row(Verdict.BAD, b="failed")) == 1


def test_a_test_that_no_longer_runs_is_not() -> None:
    before = row(Verdict.GOOD, a="passed", b="passed")
    assert status(before, row(Verdict.GOOD, a="passed", b="skipped")) == 1
    assert status(before, row(Verdict.GOOD, a="passed")) == 1


@pytest.mark.parametrize("verdict", [v for v in Verdict if v not in (Verdict.GOOD, Verdict.BAD)])
def test_a_run_that_came_to_no_end_compares_with_nothing(verdict: Verdict) -> None:
    whole = row(Verdict.GOOD, a="passed")
    for before, after in ((whole, row(verdict)), (row(verdict), whole)):
        assert comparison(before, after).changes is None
        assert status(before, after) == (5 if verdict is Verdict.HARNESS_ERROR else 1)


def test_where_there_are_no_such_tests_before_and_after_none_is_missed() -> None:
    line = comparison(row(Verdict.ABSENT), row(Verdict.ABSENT))
    assert (line.changes, line.before.as_expected, line.after.as_expected) == (None, True, True)


@pytest.fixture
def suite(workspace: Path) -> Path:
    """A small suite in the workspace: one test fails with and without the series, two are mended by it."""
    folder = workspace / "tests" / "conformance"
    folder.mkdir()
    (folder / "test_small.py").write_text(SUITE, encoding="utf-8")
    (folder / "beside.py").write_text("", encoding="utf-8")
    return folder


@pytest.mark.releases
def test_it_is_compared_test_by_test(headwater: Run, workspace: Path, suite: Path) -> None:
    done = headwater(*WORDS, "--json", cwd=workspace)
    assert done.status == 0, done.err
    [line] = [line for line in done.json["runs"][0]["lines"] if line["title"] == "conformance"]
    assert [line[when]["verdict"] for when in ("before", "after")] == ["bad", "bad"]
    assert line["changes"] == {
        "new_failures": [],
        "lost": [],
        "still_failing": ["test_small.py::test_fails_always"],
        "newly_passing": ["test_small.py::test_mended[1]", "test_small.py::test_mended[2]"],
    }
    told = {test["name"]: (test["result"], test["reason"]) for test in line["before"]["tests"]}
    assert told["test_small.py::test_fails_always"] == ("failed", "RuntimeError: as before")
    assert told["test_small.py::test_mended[1]"][0] == "failed"
    again = headwater(*WORDS, "--json", cwd=workspace)
    assert again.json["runs"][0]["lines"][-1]["changes"] == line["changes"]
    assert again.json["runs"][0]["lines"][-1]["after"]["cached"]


@pytest.mark.releases
def test_a_failure_that_the_series_brings_is_named(headwater: Run, workspace: Path, suite: Path) -> None:
    with (suite / "test_small.py").open("a", encoding="utf-8") as stream:
        stream.write(BROKEN)
    done = headwater(*WORDS, cwd=workspace)
    assert done.status == 1
    shown = " ".join(done.out.split())
    assert "fails anew: test_small.py::test_broken" in shown
    assert "the patch broke it" in shown
    assert "no longer runs: test_small.py::test_lost" in shown
    assert "1 failing before and after, 2 newly passing" in shown


@pytest.mark.releases
def test_a_suite_that_cannot_be_imported_is_no_pass(headwater: Run, workspace: Path, suite: Path) -> None:
    (suite / "beside.py").write_text("import nowhere_to_be_found", encoding="utf-8")
    done = headwater(*WORDS, "--json", cwd=workspace)
    assert done.status == 1
    line = done.json["runs"][0]["lines"][-1]
    assert line["after"]["verdict"] == "other-failure"
    assert "nowhere_to_be_found" in line["after"]["evidence"]["message"]


@pytest.mark.releases
def test_without_a_suite_that_is_said(headwater: Run, workspace: Path) -> None:
    done = headwater(*WORDS, "--json", cwd=workspace)
    assert done.status == 0, done.err
    assert "the conformance suite is not available" in done.err
    assert "conformance" not in [line["title"] for line in done.json["runs"][0]["lines"]]


@pytest.mark.releases
def test_a_folder_without_tests_is_refused(headwater: Run, workspace: Path) -> None:
    (workspace / "tests" / "conformance").mkdir()
    done = headwater(*WORDS, cwd=workspace)
    assert done.status == 2
    assert "tests/conformance holds no test_*.py" in done.err
