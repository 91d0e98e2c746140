# SPDX-License-Identifier: Apache-2.0
"""What happened to each test of a probe that runs many, and how two such runs differ.

In the protocol and in the store a result is a list `[name, result, reason]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from headwater.core.errors import HarnessError

Result = Literal["passed", "failed", "skipped", "needs-hub"]
TestResults = tuple["OneTest", ...]


@dataclass(frozen=True)
class OneTest:
    """One test: `name` as pytest names it, `reason` the signature of its failure (`RuntimeError: first line of the
    message`) or why it was skipped, None where it passed. `needs-hub`: it failed because the hub could not be asked."""

    name: str
    result: Result
    reason: str | None = None


def parse(entries: object) -> TestResults:
    """Read the results of one run, ordered by name.

    Raises:
        HarnessError: an entry is no `[name, result, reason]`, or two have one name.
    """
    if not isinstance(entries, list):
        raise HarnessError(f"a probe's test results are no list but {type(entries).__name__}")
    found: dict[str, OneTest] = {}
    for entry in entries:
        one = _parse_one(entry)
        if one.name in found:
            raise HarnessError(f"a probe's test results name {one.name!r} twice")
        found[one.name] = one
    return tuple(found[name] for name in sorted(found))


def _parse_one(entry: object) -> OneTest:
    match entry:
        case [str(name), "passed" | "failed" | "skipped" | "needs-hub" as result, str() | None as reason]:
            return OneTest(name, result, reason)
    words = "|".join(get_args(Result))
    raise HarnessError(f"a probe's test results hold {entry!r:.200}; wanted is [name, {words}, reason]")


def plain(results: Iterable[OneTest]) -> list[list[str | None]]:
    """The form that `parse` reads, ordered by name."""
    return [[one.name, one.result, one.reason] for one in sorted(results, key=lambda one: one.name)]


@dataclass(frozen=True)
class Changes:
    """How the tests of two runs differ, each ordered by name and as they were in the second run.

    `new_failures` failed in the second run alone; `still_failing` in both; `newly_passing` failed before and pass now;
    `lost` passed before and were skipped, needed the hub, or were not there, in the second run: they no longer say that
    all is well.
    """

    new_failures: TestResults
    still_failing: TestResults
    newly_passing: TestResults
    lost: TestResults

    @property
    def sound(self) -> bool:
        """Whether nothing that held before has ceased to hold, as far as was tested."""
        return not self.new_failures and not self.lost


def compare(before: TestResults, after: TestResults) -> Changes:
    """The difference of two runs of one suite."""
    was, is_now = _by_name(before), _by_name(after)
    return Changes(
        new_failures=new_failures(before, after),
        still_failing=_chosen(is_now, lambda name: _failed(was, name) and _failed(is_now, name)),
        newly_passing=_chosen(is_now, lambda name: _failed(was, name) and is_now[name].result == "passed"),
        lost=tuple(_now(one, is_now) for one in was.values() if one.result == "passed" and _idle(is_now, one.name)),
    )


def counts(results: TestResults) -> dict[Result, int]:
    """How many tests had each result."""
    return {result: sum(one.result == result for one in results) for result in get_args(Result)}


def new_failures(before: TestResults, after: TestResults) -> TestResults:
    """The tests that failed in the second run and not in the first, where they passed, were skipped or were missing."""
    was, is_now = _by_name(before), _by_name(after)
    return _chosen(is_now, lambda name: _failed(is_now, name) and not _failed(was, name))


def _by_name(results: TestResults) -> dict[str, OneTest]:
    return {one.name: one for one in sorted(results, key=lambda one: one.name)}


def _chosen(results: Mapping[str, OneTest], wanted: Callable[[str], bool]) -> TestResults:
    return tuple(one for name, one in results.items() if wanted(name))


def _failed(results: Mapping[str, OneTest], name: str) -> bool:
    return name in results and results[name].result == "failed"


def _idle(results: Mapping[str, OneTest], name: str) -> bool:
    return name not in results or results[name].result in ("skipped", "needs-hub")


def _now(one: OneTest, is_now: Mapping[str, OneTest]) -> OneTest:
    return is_now.get(one.name, OneTest(one.name, "skipped", "it is no longer there"))
