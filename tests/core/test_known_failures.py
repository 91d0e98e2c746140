# SPDX-License-Identifier: Apache-2.0
"""Which case a failing conformance test belongs to."""

from __future__ import annotations

import pytest

from headwater.core.errors import BadInput
from headwater.core.known_failures import KnownFailure, name_failures, read_known_failures
from headwater.core.test_results import OneTest

TABLE = """\
schema = 1

[[failure]]
case = "early"
tests = ["test_early.py::test_again[*]", "test_other.py::test_it"]
reason = '^RuntimeError: The size'

[[failure]]
case = "late"
tests = ["test_early.py::*"]
reason = ''
"""
CASES = ("early", "late")


def failed(name: str, reason: str = "RuntimeError: The size of tensor a") -> OneTest:
    return OneTest(name, "failed", reason)


def table() -> tuple[KnownFailure, ...]:
    return read_known_failures(TABLE, "failures.toml", CASES)


def test_the_first_that_names_the_test_and_its_reason_is_its_case() -> None:
    one, two = failed("test_early.py::test_again[a-b]"), failed("test_early.py::test_again[a]", "KeyError: 'a'")
    passed = OneTest("test_early.py::test_again[c]", "passed")
    naming = name_failures(table(), (one, two, passed), lambda _case: True)
    assert naming.by_case == {"early": (one,), "late": (two,)}
    assert naming.unnamed == ()


def test_a_failure_belongs_to_no_case_that_cannot_be_there() -> None:
    one, two = failed("test_early.py::test_again[a]"), failed("test_other.py::test_it")
    naming = name_failures(table(), (one, two), lambda case: case == "late")
    assert naming.by_case == {"late": (one,)}
    assert naming.unnamed == (two,)


@pytest.mark.parametrize(
    "name", ["test_early.pyx::test_again", "a/test_other.py::test_it", "test_other.py::test_it[1]"]
)
def test_a_pattern_is_the_whole_name_and_only_a_star_is_more_than_itself(name: str) -> None:
    assert name_failures(table(), (failed(name),), lambda _case: True).unnamed == (failed(name),)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("schema = 1", "schema = 2", "line 1: 'schema' is 2"),
        ('case = "late"', 'case = "never"', "line 9: 'case' in [failure] is 'never', and there is no such case"),
        ("reason = ''", "reason = '('", "line 11: 'reason' in [failure] is no regular expression"),
        ('tests = ["test_early.py::*"]', "tests = []", "line 10: 'tests' in [failure] names no test"),
        ("reason = ''", "reason = ''\nwhy = 'so'", "line 12: 'why' in [failure] is not a key"),
    ],
)
def test_a_table_that_cannot_be_read(old: str, new: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_known_failures(TABLE.replace(old, new), "failures.toml", CASES)
    assert said in str(caught.value)
