# SPDX-License-Identifier: Apache-2.0
"""`headwater bisect`: the release that introduced a bug, by halving between a good and a bad one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.repro import choose_cases
from headwater.core.bisection import Bisection
from headwater.core.events import Note
from headwater.core.history import path
from headwater.core.results import HuntReport, HuntResult, ProbeResult, parse_devices
from headwater.core.verdicts import Verdict
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class HuntRequest:
    """What to hunt for, and between which releases."""

    case: str
    good: str
    bad: str
    device: str
    cases_dir: Path | None
    options: ProbeOptions


def bisect(context: Context, request: HuntRequest) -> HuntReport:
    """Hunt. Interrupted, it returns the best so far.

    Raises:
        BadInput: no such case or release, or the good one is no ancestor of the bad one.
    """
    [case] = choose_cases(context.workspace.cases(request.cases_dir), [request.case])
    [device] = parse_devices([request.device])
    pins = context.workspace.pins
    history = path(pins.find(request.good).version, pins.find(request.bad).version, pins.versions)
    prober = context.prober(request.options)
    search = Bisection(len(history))
    rows: list[ProbeResult] = []
    interrupted = False
    try:
        while (step := search.next_step()) is not None:
            row = prober.probe(context.subjects.release(pins.pin(history[step])), case, device)
            rows.append(replace(row, expected=context.workspace.atlas.expected(case.id, history[step])))
            search.mark(step, row.verdict)
            context.emit(Note(f"{history[step]} is {row.verdict.words}"))
    except KeyboardInterrupt:
        interrupted = True
    return _report(case.id, history, search, rows, prober.ran, interrupted)


def _report(
    case: str, history: Sequence[Version], search: Bisection, rows: list[ProbeResult], ran: int, interrupted: bool
) -> HuntReport:
    if not search.ends_differ:
        judged = all(end in (Verdict.GOOD, Verdict.ABSENT, Verdict.BAD) for end in search.ends)
        result: HuntResult = "bad-endpoints" if judged else "inconclusive"
        return HuntReport(case, result, None, None, (), rows, ran, interrupted)
    answer = search.answer()
    last, first = str(history[answer.last_good]), str(history[answer.first_bad])
    candidates = tuple(str(history[n]) for n in answer.candidates)
    return HuntReport(case, "found" if answer.found else "range", last, first, candidates, rows, ran, interrupted)
