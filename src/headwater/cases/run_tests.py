# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "run-tests"
# title = "A test of a user's, or of the upstream checkout"
# references = []
# severity = "unclear"
# time_limit = 300
# [[signature]]
# type = "Learned"
# message = ''
# ///
"""Runs a test of a user's, or of the upstream checkout, with pytest.

What fails comes through as it is: the exception of the one test, or the one that kept the file from being read. Of
several tests, TestsFailed names each that failed with its exception. No test that ran is NoTestRan: skipped is not
passed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import os
import re
import shutil
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from headwater_kit import HERE, in_place, target

if TYPE_CHECKING:
    import pytest


class TestsFailed(AssertionError):
    """Some of several tests failed."""


class NoTestRan(RuntimeError):
    """No test passed or failed."""


class Witness:
    """A pytest plugin that keeps what happened to each test, and the exceptions themselves."""

    def __init__(self) -> None:
        self.selected = 0
        self.passed: list[str] = []
        self.skipped: list[str] = []
        self.failures: dict[str, BaseException] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.selected = len(session.items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "no reason was given"
            self.skipped.append(reason)
        elif report.passed and report.when == "call":
            self.passed.append(report.nodeid)

    def pytest_exception_interact(self, call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
        assert call.excinfo is not None
        self.failures.setdefault(report.nodeid, original(call.excinfo.value))


def original(error: BaseException) -> BaseException:
    """An exception without the one that pytest wraps around what keeps a file from being read."""
    while type(error).__name__ == "CollectError" and error.__cause__ is not None:
        error = error.__cause__
    return error


def expand(rows: Iterable[Any], *_: object, **__: object) -> Callable[[Callable[..., object]], None]:
    """What `parameterized.expand` does: a test for each row, with its number in its name."""

    def decorate(test: Callable[..., object]) -> None:
        frame = inspect.currentframe()
        assert frame is not None and frame.f_back is not None
        every = list(rows)
        for number, row in enumerate(every):
            values = tuple(row) if isinstance(row, (tuple, list)) else (row,)

            def bound(self: object, values: tuple[Any, ...] = values) -> object:
                return test(self, *values)

            first = "_" + re.sub("[^a-zA-Z0-9_]+", "_", values[0]) if values and isinstance(values[0], str) else ""
            name = f"{test.__name__}_{number:0>{len(str(len(every) - 1))}}{first}"
            bound.__name__ = name
            frame.f_back.f_locals[name] = bound

    return decorate


def stand_in() -> None:
    """Upstream's tests import `parameterized`, for its `expand`; the environments of releases do not hold it."""
    if importlib.util.find_spec("parameterized") is None:
        module: Any = types.ModuleType("parameterized")
        module.parameterized = types.SimpleNamespace(expand=expand)
        sys.modules["parameterized"] = module


def lay_out(places: dict[str, str]) -> None:
    """Put files where they lie in the checkout, as packages: they import one another by their places."""
    for name, place in places.items():
        path = HERE / "checkout" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / name, path)
        for folder in path.relative_to(HERE / "checkout").parents[:-1]:
            (HERE / "checkout" / folder / "__init__.py").touch()


def run(device: str) -> None:
    # Read by the library's testing helpers when they are imported.
    os.environ["TRANSFORMERS_TEST_DEVICE"] = device
    import pytest

    told = target()
    lay_out(told["places"])
    stand_in()
    root = HERE / "checkout" if told["places"] else HERE
    node = "::".join(filter(None, [str(root / told["file"]), told["node"]]))
    words = ["-q", "-p", "no:cacheprovider", "--runxfail", f"--rootdir={root}", "-c", os.devnull, node]
    witness, said = Witness(), io.StringIO()
    with in_place(root, told["package"]), contextlib.redirect_stderr(said):
        status = pytest.main(words, plugins=[witness])
    sys.stderr.write(said.getvalue())
    tell(witness, int(status), said.getvalue().replace(f"{root}/", ""))


def tell(witness: Witness, status: int, said: str) -> None:
    """Return where every test that ran has passed; raise otherwise."""
    if witness.failures and witness.selected <= 1:
        raise next(iter(witness.failures.values()))
    if witness.failures:
        each = [f"{node.rpartition('::')[2]}: {type(error).__name__}" for node, error in witness.failures.items()]
        raise TestsFailed("; ".join(sorted(each)))
    if not witness.passed:
        told = [line for line in said.splitlines() if line.startswith("ERROR")]
        raise NoTestRan("; ".join([*told, *dict.fromkeys(witness.skipped)]) or f"pytest ended with status {status}")
    if status:
        raise RuntimeError(f"pytest ended with status {status}")
