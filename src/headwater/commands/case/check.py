# SPDX-License-Identifier: Apache-2.0
"""`headwater case check`: every case must see its bug where it is, and not where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.commands.atlas.measure import CaseAt, measure
from headwater.commands.case.mutants import check_mutants
from headwater.commands.context import Context
from headwater.commands.repro import choose_cases
from headwater.core.case_checks import CaseCheck, judge_cases, plan, with_mutants
from headwater.core.results import INTERRUPTED
from headwater.core.verdicts import Verdict
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class CaseCheckReport:
    """The cases that were checked, how many probes ran for them, and whether the run was interrupted."""

    checks: tuple[CaseCheck, ...]
    ran: int
    interrupted: bool

    @property
    def exit_status(self) -> int:
        """0 where no case has a fault."""
        if self.interrupted:
            return INTERRUPTED
        rows = [row for check in self.checks for rows in (check.rows, *(m.rows for m in check.mutants)) for row in rows]
        if any(row.verdict is Verdict.HARNESS_ERROR for row in rows):
            return 5
        return 1 if any(check.faults for check in self.checks) else 0


def check_cases(
    context: Context, ids: Sequence[str], options: ProbeOptions, jobs: int, mutants: bool
) -> CaseCheckReport:  # fmt: skip
    """Run the self-tests of cases, on releases that the atlas names; with `mutants` those of their mutants as well.

    Raises:
        BadInput: there is no such case.
    """
    pins = context.workspace.pins
    every = context.workspace.atlas_cases()
    chosen = choose_cases(every, ids)
    made = plan(
        chosen, every, context.workspace.atlas, pins.versions,
        lambda v: pins.group_of(v).name if pins.is_grouped(v) else None,
    )  # fmt: skip
    cells = [CaseAt(every[test.case], test.release) for test in made.tests]
    measured = measure(context, cells, options, jobs)
    checks = judge_cases(chosen, list(every.values()), made, measured.rows)
    if not mutants or measured.interrupted:
        return CaseCheckReport(tuple(checks), measured.ran, measured.interrupted)
    tested = check_mutants(context, chosen, made, options, jobs)
    checks = [with_mutants(check, tested.checks.get(check.case.id, ())) for check in checks]
    return CaseCheckReport(tuple(checks), measured.ran + tested.ran, tested.interrupted)
