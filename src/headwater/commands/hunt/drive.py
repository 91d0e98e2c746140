# SPDX-License-Identifier: Apache-2.0
"""Driving a search machine: ask it what to probe, keep `jobs` probes running, tell it what they say."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from headwater.commands.hunt.oracle import Oracle, first_done
from headwater.core.commits import Commit
from headwater.core.events import Note
from headwater.core.results import ProbeResult
from headwater.core.revisions import Revision, name_of, short_name
from headwater.core.verdicts import Verdict


class Machine(Protocol):
    """A search over positions, as `core.bisection` and its neighbours are."""

    def next_steps(self, count: int = 1, pending: Collection[int] = ()) -> list[int]:
        """Up to `count` positions to probe now."""

    def mark(self, position: int, verdict: Verdict) -> None:
        """Record what one probe said."""


@dataclass
class Course:
    """A machine on its way over `revisions`. `left` tells about how many probes are still to come, for people;
    `foresee` which positions, besides those pending, may be asked for next; without it, those that more workers would
    get now."""

    oracle: Oracle
    machine: Machine
    revisions: Sequence[Revision]
    left: Callable[[], int]
    foresee: Callable[[Collection[int]], Sequence[int]] | None = None
    _marked: dict[int, int] = field(default_factory=dict)
    _done: int = 0
    _began: float = field(default_factory=time.monotonic)

    def run(self) -> None:
        """Probe until the machine asks for nothing more."""
        pending: dict[Future[ProbeResult], int] = {}
        try:
            while True:
                free = self.oracle.jobs - len(pending)
                steps = self.machine.next_steps(free, pending.values()) if free else []
                ahead = self._ahead([*pending.values(), *steps])
                for position in steps:
                    future = self.oracle.ask(self.revisions[position], self._marked.get(position, 0), ahead)
                    pending[future] = position
                    self._marked[position] = self._marked.get(position, 0) + 1
                if not pending:
                    return
                for future in first_done(pending):
                    self._take(pending.pop(future), future.result())
        finally:
            for future in pending:
                future.cancel()

    def tell(self, position: int) -> None:
        """Tell the machine what is known of a position from earlier searches of this hunt."""
        verdicts = self.oracle.verdicts(name_of(self.revisions[position]))
        for verdict in verdicts:
            self.machine.mark(position, verdict)
        self._marked[position] = len(verdicts)

    def _ahead(self, pending: Collection[int]) -> list[Revision]:
        """What may be asked for after what is pending."""
        ahead = self.foresee(pending) if self.foresee else self.machine.next_steps(2, pending)
        return [self.revisions[position] for position in ahead if not self._marked.get(position)]

    def _take(self, position: int, row: ProbeResult) -> None:
        revision = self.revisions[position]
        self.oracle.keep(name_of(revision), row)
        self.machine.mark(position, row.verdict)
        self._done += 1
        left = self.left()
        words = [f"{self._done} of about {self._done + left}", short_name(name_of(revision))]
        if isinstance(revision, Commit):
            words.append(f"{revision.date:%Y-%m-%d}")
        words += [row.verdict.words, "known" if row.cached else f"{row.seconds:.1f} s"]
        if left:
            each = (time.monotonic() - self._began) / self._done
            words.append(f"about {each * left:.0f} s left")
        self.oracle.context.emit(Note(" · ".join(words)))
