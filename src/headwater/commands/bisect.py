# SPDX-License-Identifier: Apache-2.0
"""`headwater bisect`: the release that introduced a bug, by halving between a good and a bad one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.repro import choose_cases
from headwater.core.bisection import Answer, Bisection
from headwater.core.errors import BadEndpoints
from headwater.core.events import Note
from headwater.core.history import path
from headwater.core.results import ProbeResult, parse_devices
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class HuntRequest:
    """What to hunt for, and between which releases."""

    case: str
    good: str
    bad: str
    device: str
    options: ProbeOptions


@dataclass(frozen=True)
class HuntReport:
    """The releases in order, the answer as positions among them, every probe in the order of the hunt."""

    case: str
    history: Sequence[Version]
    answer: Answer
    rows: list[ProbeResult]
    ran: int

    @property
    def exit_status(self) -> int:
        """0 where one release is to blame, 4 where only a range is."""
        return 0 if self.answer.found else 4


def bisect(context: Context, request: HuntRequest) -> HuntReport:
    """Hunt.

    Raises:
        BadInput: no such case or release, or the good one is no ancestor of the bad one.
        BadEndpoints: the ends do not differ; what each showed is said.
    """
    [case] = choose_cases(context.workspace.cases(), [request.case])
    [device] = parse_devices([request.device])
    pins = context.workspace.pins
    history = path(pins.find(request.good).version, pins.find(request.bad).version, pins.versions)
    prober = context.prober(request.options)
    search = Bisection(len(history))
    rows: list[ProbeResult] = []
    while (step := search.next_step()) is not None:
        row = prober.probe(context.subjects.release(pins.pin(history[step])), case, device)
        row = replace(row, expected=context.workspace.atlas.expected(case.id, history[step]))
        rows.append(row)
        search.mark(step, row.verdict)
        context.emit(Note(f"{history[step]} is {row.verdict.words}"))
    if not search.ends_differ:
        seen = " and ".join(f"{row.revision} is {row.verdict.words}" for row in rows)
        raise BadEndpoints(
            f"{case.id}: {seen}; a hunt for what introduced a bug needs a good (or absent) and a bad end"
        )
    return HuntReport(case.id, history, search.answer(), rows, prober.ran)
