# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "mutant"
# title = "Whether the conformance suite notices that something changed"
# references = []
# severity = "wrong-result"
# time_limit = 300
# [[signature]]
# type = "TestsFailed"
# message = ''
# ///
"""Runs the conformance suite, whose files lie beside it, up to the first test that passed before and does not now."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
import pytest_run

headwater_tests: list[pytest_run.TestRow] = []
# They take as long as all others together, and are last.
LAST = "test_models.py"


class UpToNews:
    """A pytest plugin that ends the run at the first test of `passed` that did not pass."""

    def __init__(self, passed: frozenset[str]) -> None:
        self._passed = passed

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed and report.nodeid in self._passed:
            self._session.shouldfail = f"{report.nodeid} passed before"


def run(device: str) -> None:
    here = Path(__file__).parent
    passed = frozenset(json.loads((here / "passed.json").read_text(encoding="utf-8")))
    files = sorted(here.glob("test_*.py"), key=lambda path: (path.name == LAST, path.name))
    with contextlib.suppress(pytest_run.TestsFailed):
        pytest_run.run_files(here, [str(path) for path in files], headwater_tests, plugins=[UpToNews(passed)])
    for name, result, reason in headwater_tests:
        if name in passed and result != "passed":
            raise pytest_run.TestsFailed(f"{name} {result}: {reason}")
    if not passed.issubset(name for name, _result, _reason in headwater_tests):
        raise RuntimeError("tests that passed before did not run")
