# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "patch-tests"
# title = "The regression tests that a patch brings"
# references = []
# severity = "wrong-result"
# time_limit = 300
# [[signature]]
# type = "TestsFailed"
# message = ''
# ///
"""Runs the test files beside it with pytest: `bad` when one fails, `good` when all pass and at least one ran.

It travels into a probe like any case, so that a patch's own tests have the same limits, store and verdicts.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


class TestsFailed(AssertionError):
    """At least one test failed."""


class NothingRan(RuntimeError):
    """No test passed or failed: skipped is not passed."""


class Tally:
    """A pytest plugin that counts what happened to each test."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.skipped: list[str] = []
        self.failed: list[str] = []
        self.reasons: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
            crash = getattr(report.longrepr, "reprcrash", None)
            self.reasons.append(crash.message.splitlines()[0] if crash else report.when)
        elif report.skipped:
            self.skipped.append(report.nodeid)
        elif report.when == "call":
            self.passed.append(report.nodeid)


def run(device: str) -> None:
    # Read by the library's testing helpers when they are imported.
    os.environ["TRANSFORMERS_TEST_DEVICE"] = device
    import pytest

    here = Path(__file__).parent
    files = sorted(str(path) for path in here.glob("test_*.py"))
    tally = Tally()
    status = pytest.main(
        ["-q", "-p", "no:cacheprovider", f"--rootdir={here}", "-c", os.devnull, *files], plugins=[tally]
    )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest ended with status {int(status)} on {', '.join(files)}")
    if tally.failed:
        total = len(tally.failed) + len(tally.passed)
        raise TestsFailed(f"{len(tally.failed)} of {total} failed, the first with {tally.reasons[0]}")
    if not tally.passed:
        raise NothingRan(f"{len(tally.skipped)} tests were skipped and none ran")
