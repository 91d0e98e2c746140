# SPDX-License-Identifier: Apache-2.0
"""Running the test files beside a case with pytest: what the packaged cases share, and what travels with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

# A test's name, what became of it ("passed", "failed", "skipped", ...), and why; as the child takes it from a case.
TestRow = tuple[str, str, "str | None"]


class TestsFailed(AssertionError):
    """At least one test failed."""


class NothingRan(RuntimeError):
    """No test passed or failed: skipped is not passed."""


class Tally:
    """A pytest plugin that keeps what happened to each test."""

    def __init__(self, sort: Callable[[BaseException], str]) -> None:
        """`sort` says what a test is that an exception ended."""
        self._sorts = sort
        self.failed: dict[str, tuple[str, str]] = {}
        self.skipped: dict[str, str] = {}
        self.passed: list[str] = []
        self.uncollected: list[str] = []
        self._sort, self._signature = "failed", ""

    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> None:
        """Keep the exception's type, which a report leaves out where an assert was rewritten."""
        if call.excinfo is not None:
            self._sort, self._signature = self._sorts(call.excinfo.value), signature(call.excinfo.value)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            # A test that passes by its own rules, as a strict xfail, has no exception.
            reason = self._signature if report.longrepr is not None else f"{report.when} failed"
            self.failed.setdefault(report.nodeid, (self._sort, reason))
        elif report.skipped:
            self.skipped.setdefault(report.nodeid, self._signature)
        elif report.when == "call":
            self.passed.append(report.nodeid)
        self._sort, self._signature = "failed", ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            lines = str(report.longrepr).strip().splitlines()
            self.uncollected.append(f"{report.nodeid}: {lines[-1] if lines else 'cannot be collected'}")

    def rows(self) -> list[TestRow]:
        """Every test once: whatever else happened to it, it failed where a part of it failed."""
        rows: list[TestRow] = [(name, sort, reason) for name, (sort, reason) in self.failed.items()]
        rows += [(name, "skipped", reason) for name, reason in self.skipped.items() if name not in self.failed]
        known = {*self.failed, *self.skipped}
        return rows + [(name, "passed", None) for name in self.passed if name not in known]


def failed(_error: BaseException) -> str:
    """Whatever ends a test is its failure."""
    return "failed"


def signature(error: BaseException) -> str:
    """How a failure is known: the exception's type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def run_beside(case_file: str, device: str, results: list[TestRow]) -> None:
    """Run every `test_*.py` beside `case_file` and put what happened to each test into `results`.

    Raises:
        TestsFailed: at least one failed.
        NothingRan: none passed.
        RuntimeError: pytest itself failed, e.g. a file could not be imported.
    """
    # Read by the library's testing helpers when they are imported.
    os.environ["TRANSFORMERS_TEST_DEVICE"] = device
    here = Path(case_file).parent
    if not run_files(here, sorted(str(path) for path in here.glob("test_*.py")), results):
        raise NothingRan(f"{len(results)} tests were skipped and none ran")


def run_files(
    root: Path, files: Sequence[str], results: list[TestRow], sort: Callable[[BaseException], str] = failed,
    plugins: Sequence[object] = (),
) -> int:  # fmt: skip
    """Run test files below `root` and put what happened to each test into `results`. How many passed.

    `sort` says what a test is that an exception ended.

    Raises:
        TestsFailed: at least one failed.
        RuntimeError: pytest itself failed, e.g. a file could not be imported.
    """
    import pytest

    tally = Tally(sort)
    status = pytest.main(_words(root, files), plugins=[tally, *plugins])
    results[:] = tally.rows()
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        why = "; ".join(tally.uncollected) or ", ".join(files)
        raise RuntimeError(f"pytest ended with status {int(status)} on {why}")
    failures = [reason for _name, result, reason in results if result == "failed"]
    passed = sum(result == "passed" for _name, result, _reason in results)
    if failures:
        raise TestsFailed(f"{len(failures)} of {len(failures) + passed} failed, the first with {failures[0]}")
    return passed


def _words(here: Path, files: Sequence[str]) -> list[str]:
    """Nothing of the machine's own settings counts, and nothing is written beside the tests."""
    return ["-q", "--tb=short", "-p", "no:cacheprovider", f"--rootdir={here}", "-c", os.devnull, *files]
