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
from headwater.core.results import HuntReport, ProbeResult, parse_devices
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
    search = Bisection(len(history), proofs=1, confirm=False)
    rows: list[ProbeResult] = []
    interrupted = False
    try:
        while steps := search.next_steps():
            for step in steps:
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
        return HuntReport(case, search.result, None, None, (), rows, ran, interrupted)
    answer = search.answer()
    last, first = str(history[answer.before]), str(history[answer.after])
    candidates = tuple(str(history[n]) for n in answer.candidates)
    return HuntReport(case, search.result, last, first, candidates, rows, ran, interrupted)
