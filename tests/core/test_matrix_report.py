# SPDX-License-Identifier: Apache-2.0
"""What a matrix says: nothing that was not run has passed, and a known bug is as expected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.known_failures import Naming
from headwater.core.matrix import Cell, Column, Row, cells_of
from headwater.core.matrix_report import Look, MatrixReport
from headwater.core.results import Comparison, ProbeResult
from headwater.core.test_results import OneTest, compare
from headwater.core.verdicts import Evidence, Verdict

ROWS = (Row("case", "one"), Row("case", "two"))
COLUMNS = tuple(Column(f"5.{n}.0", "g", patched=n == 1) for n in range(3))


def result(cell: Cell, verdict: Verdict = Verdict.GOOD, expected: Verdict | None = None) -> ProbeResult:
    return ProbeResult(
        cell.row.name, cell.revision, cell.series, cell.device, verdict, Evidence(), 1.0, False, "t", "e",
        expected=expected,
    )  # fmt: skip


def report(**verdicts: Verdict) -> MatrixReport:
    """All is good, but for some places, named `one_0`, or `one_1_patched`."""
    cells = cells_of(COLUMNS, ROWS, ["cpu"], "mend")
    results = {}
    for cell in cells:
        name = f"{cell.row.name}_{cell.revision[2]}{'_patched' if cell.series else ''}"
        results[cell] = result(cell, verdicts.get(name, Verdict.GOOD))
    return MatrixReport(COLUMNS, ROWS, ("cpu",), "mend", tuple(cells), results, {}, 4.0, 8, False, "again")


def without(whole: MatrixReport, revision: str) -> MatrixReport:
    kept = {cell: one for cell, one in whole.results.items() if cell.revision != revision}
    return replace(whole, results=kept)


def test_all_good() -> None:
    whole = report()
    assert (whole.exit_status, whole.not_run, whole.wrong, whole.rate) == (0, [], [], 2.0)
    assert whole.verdicts == {Verdict.GOOD: 8}


@pytest.mark.parametrize(
    ("verdict", "status"),
    [(Verdict.BAD, 1), (Verdict.UNAVAILABLE, 1), (Verdict.UNTESTABLE, 1), (Verdict.FLAKY, 1), (Verdict.ABSENT, 0),
     (Verdict.OTHER_FAILURE, 1), (Verdict.HARNESS_ERROR, 5)],
)  # fmt: skip
def test_one_that_is_not(verdict: Verdict, status: int) -> None:
    assert report(one_2=verdict).exit_status == status


def test_what_is_expected_is_in_order_and_nothing_else() -> None:
    whole = report(one_0=Verdict.BAD)
    cell = whole.cells[0]
    known = replace(whole, results={**whole.results, cell: result(cell, Verdict.BAD, Verdict.BAD)})
    mended = replace(whole, results={**whole.results, cell: result(cell, Verdict.GOOD, Verdict.BAD)})
    assert (whole.exit_status, known.exit_status, mended.exit_status) == (1, 0, 1)
    assert [c for c, _ in mended.wrong] == [cell]


def test_what_was_not_run_has_not_passed() -> None:
    cut = without(report(), "5.2.0")
    assert cut.exit_status == 1
    assert replace(cut, interrupted=True).exit_status == 130
    assert {cell.revision for cell in cut.not_run} == {"5.2.0"}
    assert cut.look(ROWS[0], COLUMNS[2], "cpu") == Look(None, None, False, False)


def test_before_and_after() -> None:
    whole = report(one_1=Verdict.BAD)
    assert whole.look(ROWS[0], COLUMNS[1], "cpu") == Look(Verdict.BAD, Verdict.GOOD, True, True)
    assert whole.look(ROWS[0], COLUMNS[0], "cpu") == Look(Verdict.GOOD, None, False, False)


def test_the_cases_that_failures_belong_to_stand_before_and_after() -> None:
    whole = report()
    before, after = (cell for cell in whole.cells if cell.row == ROWS[0] and cell.revision == "5.1.0")
    named = Naming({"one": (OneTest("test_a", "failed", "E: broke"),)}, ())
    assert replace(whole, namings={before: named}).namings_at(ROWS[0], COLUMNS[1], "cpu") == [named, None]
    assert replace(whole, namings={after: named}).namings_at(ROWS[0], COLUMNS[1], "cpu") == [None, named]
    assert whole.namings_at(ROWS[0], COLUMNS[0], "cpu") == [None]


def test_a_suite_that_lost_a_test_is_wrong_whatever_its_verdict() -> None:
    row = Row("conformance", "conformance")
    cells = cells_of(COLUMNS[1:2], [row], ["cpu"], "mend")
    before, after = (result(cell, Verdict.GOOD, Verdict.GOOD) for cell in cells)
    changes = compare((OneTest("t", "passed"),), (OneTest("t", "skipped", "why"),))
    line = Comparison("conformance", before, after, changes)
    results = dict(zip(cells, (before, after), strict=True))
    whole = MatrixReport(
        COLUMNS[1:2], (row,), ("cpu",), "mend", tuple(cells), results, {cells[0].place: line}, 1.0, 2, False, ""
    )
    assert whole.exit_status == 1
    assert [cell for cell, _ in whole.wrong] == [cells[1]]
    assert replace(whole, compared={}).exit_status == 0


@given(st.dictionaries(st.sampled_from(["one_0", "one_1", "one_2", "two_1_patched"]), st.sampled_from(Verdict)))
def test_joined_columns_hide_nothing(verdicts: dict[str, Verdict]) -> None:
    whole = report(**verdicts)
    found = whole.spans(ROWS)
    assert tuple(column for span in found for column in span) == COLUMNS
    for span in found:
        for row in ROWS:
            assert len({whole.look(row, column, "cpu") for column in span}) == 1
