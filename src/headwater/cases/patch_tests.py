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

import pytest_run

headwater_tests: list[pytest_run.TestRow] = []


def run(device: str) -> None:
    pytest_run.run_beside(__file__, device, headwater_tests)
