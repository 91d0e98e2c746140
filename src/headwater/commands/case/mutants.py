# SPDX-License-Identifier: Apache-2.0
"""`headwater case check --mutants`: does a self-test notice that its case was made worse?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from headwater.commands.atlas.measure import CaseAt, measure
from headwater.commands.context import Context
from headwater.core.case_checks import MutantCheck, Plan
from headwater.core.case_mutants import Mutant, mutants
from headwater.core.cases import Case
from headwater.core.verdicts import Verdict
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class MutantsTested:
    """The mutants' self-tests by case, how many probes ran for them, and whether the run was interrupted."""

    checks: Mapping[str, Sequence[MutantCheck]]
    ran: int
    interrupted: bool


def check_mutants(
    context: Context, cases: Sequence[Case], made: Plan, options: ProbeOptions, jobs: int
) -> MutantsTested:  # fmt: skip
    """Probe every mutant where its case is bad, and those that are bad there too where the case is not: of most, the
    first tells. A harness error catches none. Interrupted, it gives none, since what is known is not asked again."""
    every = [MutantCheck(case.id, one, (), False) for case in cases for one in mutants(case.files[case.file].decode())]
    known = {case.id: case for case in cases}
    ran = 0
    for bad in (True, False):
        wanted = {test.case: test for test in made.tests if (test.wanted is Verdict.BAD) is bad}
        asked = [n for n, one in enumerate(every) if not one.caught and one.case in wanted]
        cells = [CaseAt(_mutated(known[every[n].case], every[n].mutant), wanted[every[n].case].release) for n in asked]
        measured = measure(context, cells, options, jobs)
        ran += measured.ran
        if measured.interrupted:
            return MutantsTested({}, ran, True)
        for n, row in zip(asked, measured.rows, strict=True):
            one = every[n]
            caught = row.verdict not in (wanted[one.case].wanted, Verdict.HARNESS_ERROR)
            every[n] = replace(one, rows=(*one.rows, row), caught=caught)
    return MutantsTested({case: [one for one in every if one.case == case] for case in known}, ran, False)


def _mutated(case: Case, mutant: Mutant) -> Case:
    """The case with a mutant's text; with an id of its own, so that the store does not take it for the case."""
    files = {**case.files, case.file: mutant.source.encode()}
    return replace(case, id=f"mutant-of-{case.id}", files=files)
