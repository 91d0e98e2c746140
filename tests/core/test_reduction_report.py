# SPDX-License-Identifier: Apache-2.0
"""What a reduction says by its exit status, and what is not taken for an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.core.errors import HarnessError
from headwater.core.narrowing import PartOutcome
from headwater.core.reduction_report import ReductionReport, ReductionResult, Size, Step, require_judged
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict

GOOD = ProbeResult("a-case", "5.4.0", None, "cpu", Verdict.GOOD, Evidence(), 0.1, False, "", None)
REPORT = ReductionReport(
    "a-case", "cpu", ("5.4.0", "5.5.0"), (Verdict.GOOD, Verdict.BAD), "found", (), "", None, (),
    True, True, True, (), (GOOD,), 1, False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("result", "verdict", "interrupted", "status"),
    [
        ("found", Verdict.BAD, False, 0),
        ("bad-endpoints", Verdict.GOOD, False, 3),
        ("bad-endpoints", Verdict.HARNESS_ERROR, False, 5),
        ("not-minimal", Verdict.BAD, False, 4),
        ("not-minimal", Verdict.BAD, True, 130),
        ("found", Verdict.BAD, True, 130),
    ],
)
def test_the_exit_status(result: ReductionResult, verdict: Verdict, interrupted: bool, status: int) -> None:
    report = replace(REPORT, result=result, verdicts=(Verdict.GOOD, verdict), interrupted=interrupted)
    assert report.exit_status == status


def test_a_fault_of_ours_is_no_answer() -> None:
    require_judged([GOOD, replace(GOOD, verdict=Verdict.OTHER_FAILURE)])
    ours = replace(GOOD, verdict=Verdict.HARNESS_ERROR, evidence=Evidence("NoSpace", "the disk is full"))
    with pytest.raises(HarnessError, match=r"a-case on 5\.4\.0 could not be judged \(NoSpace: the disk is full\)"):
        require_judged([GOOD, ours])


def test_every_part_that_was_asked_about_counts() -> None:
    step = Step("hunks", Size(1, 1, 2), PartOutcome.STAYS, GOOD, Size(1, 1, 2))
    assert (REPORT.asked, replace(REPORT, steps=(step, step, step)).asked) == (0, 3)
