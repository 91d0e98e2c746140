# SPDX-License-Identifier: Apache-2.0
"""Measuring a list of cells through the store."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Lock

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.cases import Case
from headwater.core.errors import HarnessError
from headwater.core.events import Advanced, Finished, Started
from headwater.core.hunting import Point, name_of, sort_key
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.probe import ProbeOptions, Prober, Subject


@dataclass(frozen=True)
class Cell:
    """One case on one revision on one device."""

    case: Case
    point: Point
    device: str = "cpu"


@dataclass(frozen=True)
class Measured:
    """The rows of the cells that were measured, in the order of these; how many probes ran for them, and whether the
    run was interrupted before all were."""

    rows: tuple[ProbeResult, ...]
    ran: int
    interrupted: bool


def measure(
    context: Context, cells: Sequence[Cell], options: ProbeOptions, jobs: int = 1, commits: CommitSubjects | None = None
) -> Measured:
    """Probe every cell, or recall it: `jobs` at a time, those of one release in a row and its neighbours next, so that
    trees and environments are started once. Interrupted, it gives what is known. `commits` is for cells of commits."""
    if not cells:
        return Measured((), 0, False)
    meter = _Meter(context, options, min(jobs, len(cells)), commits)
    futures: dict[Future[ProbeResult], int] = {}
    interrupted = False
    with ThreadPoolExecutor(meter.jobs, "cell") as pool:
        try:
            for place in sorted(range(len(cells)), key=lambda n: sort_key(cells[n].point)):
                futures[pool.submit(meter.probe, cells[place])] = place
            _wait_for(context, futures)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if not all(future.done() for future in futures):
                pool.shutdown(wait=False, cancel_futures=True)
                meter.abandon()
    rows = {futures[f]: f.result() for f in futures if not f.cancelled() and f.exception() is None}
    told = [rows[n] for n in sorted(rows) if not _abandoned(rows[n])]
    return Measured(tuple(told), meter.ran, interrupted)


class _Meter:
    """Probes cells from several threads, each with a prober of its own."""

    def __init__(self, context: Context, options: ProbeOptions, jobs: int, commits: CommitSubjects | None) -> None:
        self._context, self._commits, self.jobs = context, commits, jobs
        self._probers = [context.prober(options) for _ in range(jobs)]
        self._free: queue.SimpleQueue[Prober] = queue.SimpleQueue()
        for prober in self._probers:
            self._free.put(prober)
        self._subjects: dict[Point, Subject] = {}
        self._naming = Lock()

    @property
    def ran(self) -> int:
        """How many probes were run."""
        return sum(prober.ran for prober in self._probers)

    def abandon(self) -> None:
        """End what is being probed, at once and without a verdict."""
        for prober in self._probers:
            prober.abandon()

    def probe(self, cell: Cell) -> ProbeResult:
        """The row of a cell."""
        prober = self._free.get()
        try:
            return prober.probe(self._subject(cell.point), cell.case, cell.device)
        except HarnessError as error:
            evidence = Evidence(type(error).__name__, str(error))
            return ProbeResult(
                cell.case.id, name_of(cell.point), None, cell.device, Verdict.HARNESS_ERROR, evidence, 0.0, False, "",
                None,
            )  # fmt: skip
        finally:
            self._free.put(prober)

    def _subject(self, point: Point) -> Subject:
        # One a release, so that the warning of a yanked one comes once.
        with self._naming:
            if point not in self._subjects:
                self._subjects[point] = self._made(point)
            return self._subjects[point]

    def _made(self, point: Point) -> Subject:
        if isinstance(point, Version):
            return self._context.subjects.release(self._context.workspace.pins.pin(point))
        if self._commits is None:
            raise ValueError(f"{point} is a commit, and nothing was given that makes subjects of commits")
        return self._commits.subject(point)


def _abandoned(row: ProbeResult) -> bool:
    """Whether a probe was ended because the run was interrupted, so that its row says nothing."""
    return row.verdict is Verdict.HARNESS_ERROR and row.evidence.type == "Abandoned"


def _wait_for(context: Context, futures: dict[Future[ProbeResult], int]) -> None:
    """Wait for every row, and tell how far it is. What is no row (a bug of ours) is raised here."""
    key, counts = "cells", Counter[Verdict]()
    context.emit(Started(key, f"measuring {len(futures)} cells", len(futures), "cells", long=True))
    try:
        for done, future in enumerate(as_completed(futures), 1):
            counts[future.result().verdict] += 1
            context.emit(Advanced(key, done))
    finally:
        context.emit(Finished(key, ", ".join(f"{counts[v]} {v.words}" for v in Verdict if counts[v])))
