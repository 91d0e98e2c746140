# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "upstream-tests"
# title = "A file of the library's own tests"
# references = []
# severity = "unclear"
# time_limit = 600
# [[signature]]
# type = "TestsFailed"
# message = ''
# ///
"""Runs a file of the library's own tests, laid out with its conftest as in the checkout, and keeps every test's result.

A test that fails because the hub cannot be reached needs the hub: that says nothing of the library.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest_run
from headwater_kit import HERE, in_place, target
from run_tests import NoTestRan, lay_out, original, stand_in

if TYPE_CHECKING:
    import pytest

headwater_tests: list[pytest_run.TestRow] = []

# What huggingface_hub raises when it may not, or cannot, ask the hub; what follows from it has it as cause or context.
OFFLINE = {"OfflineModeIsEnabled", "LocalEntryNotFoundError"}


def needs_hub(error: BaseException | None) -> bool:
    """Whether an exception comes of the hub that could not be asked."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if type(error).__name__ in OFFLINE:
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


class HooksOfXdist:
    """Hooks of pytest-xdist that the library's conftest has functions for. Without a process for each of several
    workers nothing calls them, but pytest refuses a function for a hook that it does not know."""

    def pytest_configure_node(self, node: object) -> None:
        """A worker is about to be configured."""

    def pytest_testnodeready(self, node: object) -> None:
        """A worker is ready."""

    def pytest_testnodedown(self, node: object, error: object) -> None:
        """A worker has ended."""


class Hooks:
    """A pytest plugin for where pytest-xdist is not."""

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        if not pluginmanager.hasplugin("xdist"):
            pluginmanager.add_hookspecs(HooksOfXdist)


def sort(error: BaseException) -> str:
    """What a test is that an exception ended."""
    return "needs-hub" if needs_hub(original(error)) else "failed"


def run(device: str) -> None:
    # Read by the library's testing helpers when they are imported.
    os.environ["TRANSFORMERS_TEST_DEVICE"] = device
    told = target()
    lay_out(told["places"])
    stand_in()
    root = HERE / "checkout"
    with in_place(root, told["package"]):
        passed = pytest_run.run_files(root, [told["file"]], headwater_tests, sort, [Hooks()])
    if not passed:
        raise NoTestRan(f"of {len(headwater_tests)} tests in {told['file']} none passed and none failed")
