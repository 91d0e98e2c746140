# SPDX-License-Identifier: Apache-2.0
"""Measuring a list of cells through the store."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.cases import Case
from headwater.core.errors import HarnessError
from headwater.core.events import Advanced, Finished, Started
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict
from headwater.effects.probe import ProbeOptions, Prober, Subject


@dataclass(frozen=True)
class Cell:
    """One case on one release on one device."""

    case: Case
    release: Version
    device: str = "cpu"


@dataclass(frozen=True)
class Measured:
    """The rows of the cells that were measured, in the order of these; how many probes ran for them, and whether the
    run was interrupted before all were."""

    rows: tuple[ProbeResult, ...]
    ran: int
    interrupted: bool


def measure(context: Context, cells: Sequence[Cell], options: ProbeOptions, jobs: int = 1) -> Measured:
    """Probe every cell, or recall it: `jobs` at a time, those of one release in a row and its neighbours next, so that
    trees and environments are started once. Interrupted, it gives what is known."""
    pins = context.workspace.pins
    probers = [context.prober(options) for _ in range(min(jobs, len(cells)) or 1)]
    free: queue.SimpleQueue[Prober] = queue.SimpleQueue()
    for prober in probers:
        free.put(prober)
    # One subject a release, so that the warning of a yanked one comes once.
    subject_of = lru_cache(maxsize=None)(lambda release: context.subjects.release(pins.pin(release)))

    def probe(cell: Cell) -> ProbeResult:
        prober = free.get()
        try:
            subject: Subject = subject_of(cell.release)
            return prober.probe(subject, cell.case, cell.device)
        except HarnessError as error:
            evidence = Evidence(type(error).__name__, str(error))
            return ProbeResult(
                cell.case.id,
                str(cell.release),
                None,
                cell.device,
                Verdict.HARNESS_ERROR,
                evidence,
                0.0,
                False,
                "",
                None,
            )
        finally:
            free.put(prober)

    pool = ThreadPoolExecutor(len(probers), "cell")
    futures: dict[Future[ProbeResult], int] = {}
    interrupted = False
    try:
        for place in sorted(range(len(cells)), key=lambda n: cells[n].release):
            futures[pool.submit(probe, cells[place])] = place
        _wait_for(context, futures)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        for future in futures:
            future.cancel()
        for prober in probers if not all(future.done() for future in futures) else ():
            prober.abandon()
        pool.shutdown(wait=True)
    rows = {futures[f]: f.result() for f in futures if f.done() and not f.cancelled() and f.exception() is None}
    told = [rows[n] for n in sorted(rows) if not _abandoned(rows[n])]
    return Measured(tuple(told), sum(prober.ran for prober in probers), interrupted)


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
