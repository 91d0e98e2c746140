# SPDX-License-Identifier: Apache-2.0
"""Which case of the atlas a failing conformance test belongs to: a table that people write, and what it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from headwater.core.test_results import OneTest, TestResults
from headwater.core.toml_text import Table, parse

_SCHEMA = 1


@dataclass(frozen=True)
class KnownFailure:
    """Tests that fail because of the bug that `case` is about: by patterns of their names, in which `*` stands for any
    characters, and by a regular expression that their reason (`RuntimeError: first line`) matches somewhere."""

    case: str
    tests: tuple[str, ...]
    reason: str

    def covers(self, test: OneTest) -> bool:
        """Whether it is about this failure."""
        return any(_matches(pattern, test.name) for pattern in self.tests) and bool(
            re.search(self.reason, test.reason or "")
        )


@dataclass(frozen=True)
class Naming:
    """The failures of one run: `by_case` those that belong to a case, in the order of the table, and the `unnamed`."""

    by_case: Mapping[str, TestResults]
    unnamed: TestResults


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def read_known_failures(text: str, origin: str, cases: Collection[str]) -> tuple[KnownFailure, ...]:
    """Read the table.

    Raises:
        BadInput: unknown keys, a case that is not there, no pattern, a reason that is no regular expression; with the
            line.
    """
    top = Table(parse(text, origin), text, origin)
    if (schema := top.take("schema", int)) != _SCHEMA:
        raise top.error("schema", f"is {schema}, and this Headwater reads {_SCHEMA}; update Headwater")
    tables = top.tables("failure")
    top.close()
    return tuple(_read_one(table, cases) for table in tables)


def _read_one(table: Table, cases: Collection[str]) -> KnownFailure:
    found = KnownFailure(table.text("case"), table.texts("tests"), table.text("reason"))
    table.close()
    if found.case not in cases:
        raise table.error("case", f"is {found.case!r}, and there is no such case in tests/repro")
    if not found.tests:
        raise table.error("tests", "names no test")
    try:
        re.compile(found.reason)
    except re.error as error:
        raise table.error("reason", f"is no regular expression: {error}") from error
    return found


def name_failures(known: Sequence[KnownFailure], results: TestResults, can_be: Callable[[str], bool]) -> Naming:
    """Say of each failure which case it belongs to: the first in the table that covers it and `can_be` there."""
    by_case: dict[str, list[OneTest]] = {}
    unnamed = []
    for test in results:
        if test.result == "failed":
            case = next((one.case for one in known if one.covers(test) and can_be(one.case)), None)
            if case is None:
                unnamed.append(test)
            else:
                by_case.setdefault(case, []).append(test)
    order = dict.fromkeys(one.case for one in known)
    return Naming({case: tuple(by_case[case]) for case in order if case in by_case}, tuple(unnamed))
