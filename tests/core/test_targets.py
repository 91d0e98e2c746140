# SPDX-License-Identifier: Apache-2.0
"""What can be hunted: kinds told apart by name and content, and what travels with a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.errors import BadInput
from headwater.core.targets import Kind, Word, end_of_status, kind_of, named_files, take_apart, upstream_closure
from headwater.core.verdicts import Evidence, Outcome, Verdict, judge

CASE = b"# /// case\n# id = 'x'\n# ///\ndef run(device): pass\n"
TESTS = b"import x\nclass TestY:\n    pass\ndef test_z(): pass\n"


@given(st.integers(min_value=0, max_value=255))
def test_statuses_are_those_of_git_bisect_run(status: int) -> None:
    end = end_of_status(status)
    verdict = judge(Outcome(end, "run", Evidence(f"ExitStatus{status}", "it printed nothing"), 1.0), ())
    if status == 0:
        assert verdict is Verdict.GOOD
    elif status == 125:
        assert verdict is Verdict.UNTESTABLE
    elif status >= 128:
        assert (end, verdict) == ("aborted", Verdict.HARNESS_ERROR)
    else:
        assert verdict is Verdict.OTHER_FAILURE  # bad, once its signature is learned


@pytest.mark.parametrize(
    ("word", "taken"),
    [
        ("early-init", Word("early-init")),
        ("a/report.py", Word("a/report.py")),
        ("tests/test_x.py::TestX::test_y[1-a::b]", Word("tests/test_x.py", "TestX::test_y[1-a::b]")),
    ],
)
def test_words(word: str, taken: Word) -> None:
    assert take_apart(word) == taken


@pytest.mark.parametrize("word", ["", "::test_x", "test_x.py::", "check.sh::test_x"])
def test_words_that_are_nothing(word: str) -> None:
    with pytest.raises(BadInput, match="no case id, no file"):
        take_apart(word)


@pytest.mark.parametrize(
    ("file", "content", "executable", "kind"),
    [
        ("report.py", b"print(1)\n", False, "script"),
        ("report.py", b"print(1)\n", True, "script"),
        ("report", b"#!/usr/bin/env python3\nprint(1)\n", True, "script"),
        ("bug.py", CASE, False, "case"),
        ("check.sh", b"#!/bin/sh\nexit 1\n", True, "executable"),
        ("check", b"\x7fELF\x02", True, "executable"),
        ("a/test_x.py", TESTS, False, "tests"),
        ("test_x.py", b"import x\nx.call()\n", False, "script"),
        ("test_x.py", b"def test_y(): pass\ntest_y()\n", False, "script"),
        ("test_x.py", b"def test_y(): pass\nif __name__ == '__main__':\n    test_y()\n", False, "script"),
        ("report.py", TESTS, False, "script"),
    ],
)
def test_kinds(file: str, content: bytes, executable: bool, kind: Kind) -> None:
    assert kind_of(file, content, executable) == kind


@pytest.mark.parametrize(
    ("file", "content", "executable", "why"),
    [
        ("check.sh", b"exit 1\n", True, "begins with no"),
        ("check.sh", b"#!/bin/sh\nexit 1\n", False, "chmod"),
        ("report.py", b"def", False, "report.py: not valid Python"),
        ("report.py", b"x = '\xff'", False, "report.py: not UTF-8 at byte 5"),
    ],
)
def test_files_that_cannot_be_run(file: str, content: bytes, executable: bool, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        kind_of(file, content, executable)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("python report.py || exit 1", ["report.py"]),
        ("python ./report.py; cat $here/data.json.", ["data.json", "report.py"]),
        ("open('data.json')", ["data.json"]),
        ("my-report.py xreport.py report.py.bak report.pyc", []),
        ("LICENSE", []),
    ],
)
def test_files_that_a_script_names(source: str, named: list[str]) -> None:
    assert named_files(source.encode(), ["report.py", "data.json", "LICENSE"]) == named


CHECKOUT = {
    "tests/models/x/test_x.py": b"from ...test_common import A\nfrom ... import kit\nimport os, tests.other.deep\n",
    "tests/models/x/test_y.py": b"",
    "tests/test_common.py": b"from .models.x.test_x import B\nfrom .helpers import c\nimport transformers\n",
    "tests/kit/__init__.py": b"",
    "tests/helpers.py": b"from ....beyond import d\n",
    "tests/other/deep.py": b"",
    "setup.py": b"",
}


def test_an_upstream_test_comes_with_what_it_imports() -> None:
    found = upstream_closure("tests/models/x/test_x.py", CHECKOUT.get)
    assert sorted(found) == [
        "tests/helpers.py", "tests/kit/__init__.py", "tests/models/x/test_x.py", "tests/other/deep.py",
        "tests/test_common.py",
    ]  # fmt: skip
    assert all(CHECKOUT[path] == content for path, content in found.items())


def test_an_upstream_test_that_is_not_there() -> None:
    with pytest.raises(BadInput, match=r"there is no file tests/gone\.py"):
        upstream_closure("tests/gone.py", CHECKOUT.get)
