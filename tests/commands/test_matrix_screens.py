# SPDX-License-Identifier: Apache-2.0
"""A matrix on screens of 80 to 200 columns, as JUnit XML and as Markdown: no verdict by colour alone, none hidden."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from headwater.commands.matrix.naming import unless_named
from headwater.core.events import Advanced, Started
from headwater.core.known_failures import Naming
from headwater.core.matrix import Column, Row, cells_of
from headwater.core.matrix_report import Look, MatrixReport
from headwater.core.results import Comparison, ProbeResult
from headwater.core.test_results import OneTest, TestResults, compare
from headwater.core.verdicts import Evidence, Verdict
from headwater.report.matrix import LETTERS, letters, print_matrix
from headwater.report.matrix_files import junit, markdown
from headwater.report.progress import ProgressReport


def made(
    verdicts: list[list[Verdict]], expected: Verdict | None = None, evidence: Evidence | None = None,
    revisions: list[str] | None = None,
) -> MatrixReport:  # fmt: skip
    """A matrix of a case for each list, over releases."""
    names = revisions or [f"5.{n}.0" for n in range(len(verdicts[0]))]
    rows = tuple(Row("case", f"case-{n}") for n in range(len(verdicts)))
    columns = tuple(Column(name, "g") for name in names)
    cells = cells_of(columns, rows, ["cpu"], None)
    results = {}
    for cell in cells:
        verdict = verdicts[rows.index(cell.row)][names.index(cell.revision)]
        results[cell] = ProbeResult(
            cell.row.name, cell.revision, None, "cpu", verdict, evidence or Evidence(), 1.0, False, "t", "e", expected
        )
    return MatrixReport(columns, rows, ("cpu",), None, tuple(cells), results, {}, 2.0, 3, False, "")


def shown(report: MatrixReport, width: int) -> str:
    screen = io.StringIO()
    print_matrix(Console(file=screen, width=width, no_color=True), report)
    return screen.getvalue()


def grid(report: MatrixReport, width: int) -> list[str]:
    return shown(report, width).split("\n\n")[0].splitlines()


CHECKERED = [[(Verdict.GOOD, Verdict.BAD)[(n + case) % 2] for n in range(55)] for case in range(37)]


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_many_releases_in_letters_within_the_width(width: int) -> None:
    lines = grid(made(CHECKERED), width)
    *table, legend = lines
    assert all(len(line) <= width for line in table)
    found = [line.removeprefix("case-0").split() for line in table if line.startswith("case-0 ")]
    assert [letter for part in found for letter in part] == [".", "B!"] * 27 + ["."]
    assert ". good, B bad" in legend
    assert "! not as expected" in legend


def test_releases_run_downwards_above_their_columns() -> None:
    report = made(CHECKERED, revisions=[f"5.{n}.{n % 3}" for n in range(55)])
    *head, first = grid(report, 80)[: len("5.54.0") + 1]
    column = first.index("B!", first.index("B!") + 1)
    assert "".join(line[column : column + 1] for line in head).strip() == "5.3.0"


def test_few_in_words_and_neighbours_joined() -> None:
    report = made([[Verdict.ABSENT, Verdict.ABSENT, Verdict.BAD, Verdict.GOOD]], Verdict.BAD)
    first, second, row = [line.split() for line in grid(report, 80)]
    assert (first, second) == (["5.0.0"], ["case", "5.1.0", "5.2.0", "5.3.0"])
    assert row == ["case-0", "absent!", "bad", "good!"]


def test_what_was_not_run_is_said(tmp_path: object) -> None:
    whole = made([[Verdict.GOOD] * 3])
    cut = replace(whole, interrupted=True, results={cell: whole.results[cell] for cell in whole.cells[:2]})
    text = shown(cut, 80)
    assert "not run: 1 cells, on 5.2.0" in text
    assert grid(cut, 80)[-1].split() == ["case-0", "good", "not", "run"]
    assert "3 cells: 2 good, 1 not run." in text
    assert "All as expected" not in text
    assert "| case-0 | cpu | good | not run |" in markdown(cut)


@given(
    st.sampled_from([None, *Verdict]),
    st.sampled_from([None, *Verdict]),
    st.booleans(),
    st.booleans(),
)
def test_letters_tell_every_look_apart(
    before: Verdict | None, after: Verdict | None, is_patched: bool, wrong: bool
) -> None:
    look = Look(before, after if is_patched else None, is_patched, wrong)
    back = {letter: verdict for verdict, letter in LETTERS.items()}
    match = re.fullmatch(r"(.)(?:>(.))?(!?)", letters(look))
    assert match is not None
    first, second, mark = match.groups()
    assert (back[first], second and back[second], bool(second), bool(mark)) == (
        before, look.after if is_patched and look.after else second and None, is_patched, wrong,
    )  # fmt: skip


ELEMENT = {
    Verdict.GOOD: None, Verdict.BAD: "failure", Verdict.OTHER_FAILURE: "failure", Verdict.ABSENT: "skipped",
    Verdict.UNTESTABLE: "skipped", Verdict.FLAKY: "failure", Verdict.UNAVAILABLE: "skipped",
    Verdict.HARNESS_ERROR: "error",
}  # fmt: skip


def check_junit(text: str) -> ElementTree.Element:
    """What the schema that the common readers share asks for; the root of the document."""
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped", "time"} <= set(suite.keys())
        tests = list(suite)
        assert suite.get("tests") == str(len(tests))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(attribute) == str(sum(test.find(tag) is not None for test in tests))
        for test in tests:
            assert test.tag == "testcase"
            assert {"name", "classname", "time"} <= set(test.keys())
            assert float(test.get("time", "")) >= 0
            ends = [child.tag for child in test if child.tag != "system-out"]
            assert len(ends) <= 1 and set(ends) <= {"failure", "error", "skipped"}
            assert all(child.get("message") for child in test if child.tag in ends)
    return root


@pytest.mark.parametrize("verdict", list(Verdict))
def test_how_a_verdict_reads_in_junit(verdict: Verdict) -> None:
    [[test]] = check_junit(junit(made([[verdict]])))
    assert [child.tag for child in test if child.tag != "system-out"] == [ELEMENT[verdict]] * (
        ELEMENT[verdict] is not None
    )


@pytest.mark.parametrize(
    ("verdict", "expected", "element"),
    [
        (Verdict.BAD, Verdict.BAD, None),
        (Verdict.GOOD, Verdict.BAD, "failure"),
        (Verdict.ABSENT, Verdict.BAD, "failure"),
        (Verdict.UNAVAILABLE, Verdict.GOOD, "skipped"),
        (Verdict.HARNESS_ERROR, Verdict.HARNESS_ERROR, "error"),
    ],
)
def test_a_known_bug_is_no_news_in_junit(verdict: Verdict, expected: Verdict, element: str | None) -> None:
    [[test]] = check_junit(junit(made([[verdict]], expected)))
    assert [child.tag for child in test if child.tag != "system-out"] == [element] * (element is not None)
    assert verdict.words in (test.findtext("system-out") or "")


@given(st.text(), st.text())
def test_whatever_a_case_says_is_xml(kind: str, message: str) -> None:
    report = made([[Verdict.BAD, Verdict.OTHER_FAILURE]], evidence=Evidence(kind, message, message))
    check_junit(junit(report))


@given(st.text())
def test_whatever_a_case_says_stays_in_its_place_in_markdown(message: str) -> None:
    text = markdown(made([[Verdict.BAD]], evidence=Evidence("Error", message)))
    table, items, _summary = text.split("\n\n")
    assert len(table.splitlines()) == 3
    assert [line for line in items.splitlines() if not line.startswith("- ")] == []


def suite_report(before: TestResults, after: TestResults) -> MatrixReport:
    row = Row("conformance", "conformance")
    column = Column("5.1.0", "g", patched=True)
    cells = cells_of([column], [row], ["cpu"], "mend")
    rows = [
        ProbeResult("conformance", "5.1.0", cell.series, "cpu", Verdict.BAD, Evidence(), 1.0, False, "t", "e",
                    Verdict.BAD, tests)
        for cell, tests in zip(cells, (before, after), strict=True)
    ]  # fmt: skip
    line = Comparison("conformance", rows[0], rows[1], compare(before, after))
    results = dict(zip(cells, rows, strict=True))
    return MatrixReport(
        (column,), (row,), ("cpu",), "mend", tuple(cells), results, {cells[0].place: line}, 1.0, 2, False, ""
    )


def test_a_suite_by_counts_and_its_failures_by_function() -> None:
    before = (
        OneTest("t.py::test_a[1]", "failed", "E: one"), OneTest("t.py::test_a[2]", "failed", "E: two"),
        OneTest("t.py::test_b", "passed"), OneTest("t.py::test_c", "needs-hub", "OSError"),
    )  # fmt: skip
    after = (OneTest("t.py::test_a[1]", "passed"), before[1], OneTest("t.py::test_b", "failed", "E: new"), before[3])
    report = suite_report(before, after)
    lines = [line.strip() for line in shown(report, 80).splitlines()]
    assert "conformance on cpu, 5.1.0: 1 passed, 2 failed, 1 need the hub" in lines
    assert "failed: t.py::test_a (2)" in lines
    assert "after the series: fails anew: t.py::test_b: E: new" in lines
    assert "after the series: newly passing: t.py::test_a" in lines
    assert "not as expected: conformance on cpu patched, 5.1.0: tests ceased to hold" in lines
    [[first, second]] = check_junit(junit(report))
    assert (first.find("failure"), second.find("failure") is None) == (None, False)
    assert "failed: t.py::test_a[1]: E: one" in (first.findtext("system-out") or "")


def test_the_failures_of_a_suite_by_case() -> None:
    before = tuple(OneTest(f"t.py::test_{letter}", "failed", f"E: {letter}") for letter in "abc")
    report = suite_report(before, before[1:])
    first, second = report.cells
    namings = {
        first: Naming({"some-case": before[:2], "other-case": before[2:]}, ()),
        second: Naming({"some-case": before[1:2]}, before[2:]),
    }
    report = replace(report, results=unless_named(report.results, namings), namings=namings)
    lines = [line.strip() for line in shown(report, 100).splitlines()]
    assert "some-case: t.py::test_a, t.py::test_b" in lines
    assert "other-case: t.py::test_c" in lines
    assert "after the series: some-case: t.py::test_b" in lines
    assert "after the series: unnamed, of no case in the atlas: t.py::test_c: E: c" in lines
    assert not [line for line in lines if line.startswith("failed:")]
    assert report.wrong == [(second, report.results[second])]
    assert report.exit_status == 1
    [[one, other]] = check_junit(junit(report))
    assert (one.find("failure"), other.find("failure") is None) == (None, False)
    assert "unnamed, of no case in the atlas: t.py::test_c" in (other.findtext("system-out") or "")


def test_progress_without_a_terminal_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("headwater.report.progress.time.monotonic", lambda: now[0])
    screen = io.StringIO()
    with ProgressReport(Console(file=screen, width=200)) as report:
        report.emit(Started("matrix", "running 9 cells", 9, "cells"))
        for done in range(1, 5):
            now[0] += 4.0
            report.emit(Advanced("matrix", done, f"{done} good"))
    assert screen.getvalue() == "3 of 9 cells · 3 good\n"
