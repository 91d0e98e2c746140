# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "conformance"
# title = "What must hold of caches: the suite in tests/conformance"
# references = []
# severity = "wrong-result"
# time_limit = 300
# [[signature]]
# type = "TestsFailed"
# message = ''
# ///
"""Runs the conformance suite, whose files lie beside it: `bad` when a test fails, and every test's result is kept."""

from __future__ import annotations

import pytest_run

headwater_tests: list[pytest_run.TestRow] = []


def run(device: str) -> None:
    pytest_run.run_beside(__file__, device, headwater_tests)
