# SPDX-License-Identifier: Apache-2.0
"""Self-tests of cases: on which releases to run them, and what they must show.

A case must be `bad` on one release and `good` on another, both taken from the atlas; one that is marked open, since no
release is good, must be `absent` on one that has not got the feature. No signature may match another case's failure,
unless one of the two says that both show the same bug (`same_as`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from headwater.core.atlas import Atlas
from headwater.core.atlas_text import Cells, axis_of, spread
from headwater.core.case_mutants import Mutant
from headwater.core.cases import Case
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Verdict

FAILURES = (Verdict.BAD, Verdict.OTHER_FAILURE, Verdict.FLAKY)


@dataclass(frozen=True)
class SelfTest:
    """One probe of a self-test: a case must give `wanted` on `release`, as the atlas has it."""

    case: str
    release: Version
    wanted: Verdict


@dataclass(frozen=True)
class Plan:
    """The probes to run, and what is wrong with cases before any is run: by id, in words."""

    tests: tuple[SelfTest, ...]
    faults: Mapping[str, tuple[str, ...]]


def plan(
    cases: Sequence[Case], ids: Collection[str], atlas: Atlas, known: Sequence[Version],
    group: Callable[[Version], object],
) -> Plan:  # fmt: skip
    """Choose releases for `cases`: as few, and in as few environments, as a greedy choice comes to. `ids` are those of
    every case; `group` tells releases apart that run in different environments."""
    axis = axis_of(atlas, known)
    cells = {cell: verdict for cell, verdict in spread(atlas, axis).items() if cell[1] in known}
    faults, needs = {}, []
    for case in cases:
        seen = {verdict for (case_id, _), verdict in cells.items() if case_id == case.id}
        faults[case.id] = tuple(_faults(case, seen, ids))
        other = Verdict.GOOD if Verdict.GOOD in seen else Verdict.ABSENT
        needs += [(case.id, verdict) for verdict in (Verdict.BAD, other) if verdict in seen]
    tests = _cover(needs, cells, group)
    order = [case.id for case in cases]
    return Plan(tuple(sorted(tests, key=lambda test: (order.index(test.case), test.wanted.value))), faults)


def _faults(case: Case, seen: set[Verdict], ids: Collection[str]) -> list[str]:
    found = []
    if Verdict.BAD not in seen:
        found.append("the atlas has no release where it is bad: nothing shows that it sees its bug")
    if case.open and Verdict.GOOD in seen:
        found.append("it is marked open, and the atlas has a release where it is good; remove `open = true`")
    if not case.open and Verdict.GOOD not in seen:
        found.append("the atlas has no release where it is good; mark it `open = true` if none is known")
    unknown = [other for other in case.same_as if other not in ids]
    if unknown:
        found.append(f"same_as names {unknown[0]}, and there is no such case")
    return found


def _cover(needs: Sequence[tuple[str, Verdict]], cells: Cells, group: Callable[[Version], object]) -> list[SelfTest]:
    """Meet every need by a release, always taking the one next that meets most of what is left: first among those whose
    environment runs already, then the newest."""
    left = list(needs)
    used: set[object] = set()
    tests: list[SelfTest] = []
    while left:
        meets = Counter(v for (case, v), verdict in cells.items() if (case, verdict) in left)
        release = max(meets, key=lambda v: (meets[v], group(v) in used, v))
        used.add(group(release))
        now = [need for need in left if cells.get((need[0], release)) is need[1]]
        tests += [SelfTest(case, release, verdict) for case, verdict in now]
        left = [need for need in left if need not in now]
    return tests


@dataclass(frozen=True)
class CaseCheck:
    """What became of one case's self-test: the rows that it was judged by, and its faults, none where it passed;
    `mutants` are those that were tested as well."""

    case: Case
    rows: tuple[ProbeResult, ...]
    faults: tuple[str, ...]
    mutants: tuple[MutantCheck, ...] = ()


@dataclass(frozen=True)
class MutantCheck:
    """What became of the self-test of a case's mutant: the rows up to the first that is not as the case's must be, and
    whether there was such a one."""

    case: str
    mutant: Mutant
    rows: tuple[ProbeResult, ...]
    caught: bool


def with_mutants(check: CaseCheck, mutants: Sequence[MutantCheck]) -> CaseCheck:
    """A self-test with those of mutants: each that passes is a fault of the case."""
    idle = [
        f"line {one.mutant.line}: it passes all the same with {one.mutant.what}" for one in mutants if not one.caught
    ]
    return replace(check, faults=(*check.faults, *idle), mutants=tuple(mutants))


def judge_cases(
    checked: Sequence[Case], every: Sequence[Case], made: Plan, rows: Sequence[ProbeResult]
) -> list[CaseCheck]:
    """Judge self-tests: `rows` are what the tests of `made` saw; failures in them are held against the signatures of
    `every` case."""
    wanted = {(test.case, str(test.release)): test.wanted for test in made.tests}
    by_case: dict[str, list[ProbeResult]] = {case.id: [] for case in checked}
    for row in rows:
        by_case[row.case].append(row)
    found = []
    for case in checked:
        faults = list(made.faults[case.id])
        seen = {(row.case, row.revision) for row in by_case[case.id]}
        faults += [
            f"it is {row.verdict.words} on {row.revision}, not {wanted[row.case, row.revision].words}: "
            f"{row.evidence.type or 'it returned'}: {row.evidence.message or ''}".rstrip(": ")
            for row in by_case[case.id]
            if row.verdict is not wanted[row.case, row.revision]
        ]
        faults += [
            f"not probed on {test.release}"
            for test in made.tests
            if test.case == case.id and (test.case, str(test.release)) not in seen
        ]
        faults += _taken_for_others(case, by_case[case.id], every)
        found.append(CaseCheck(case, tuple(by_case[case.id]), tuple(faults)))
    return found


def _taken_for_others(case: Case, rows: Sequence[ProbeResult], every: Sequence[Case]) -> list[str]:
    """Failures of a case that a signature of another one matches."""
    found = []
    for row in rows:
        others = [
            other.id
            for other in every
            if other.id != case.id and other.id not in case.same_as and case.id not in other.same_as
            and any(signature.matches(row.evidence) for signature in other.signatures)
        ] if row.verdict in FAILURES else []  # fmt: skip
        found += [
            f"its failure on {row.revision} ({row.evidence.type}: {row.evidence.message}) is matched by a signature of "
            f"{other}; narrow that signature, or say `same_as` where both show one bug"
            for other in others
        ]
    return found
