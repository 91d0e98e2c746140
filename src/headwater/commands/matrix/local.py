# SPDX-License-Identifier: Apache-2.0
"""Running cells on this machine: a few threads, each with fork servers of its own."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Condition

from headwater.commands.context import Context
from headwater.commands.matrix.runner import CellRunner
from headwater.core.matrix import Cell, Schedule
from headwater.core.results import ProbeResult
from headwater.effects.probe import ProbeOptions, Prober

# What a worker says: a cell's result; that it has ended, with the error that ended it, if any.
_Said = tuple[Cell, ProbeResult] | BaseException | None


class LocalExecutor:
    """Runs cells by `jobs` workers at a time; see `core.matrix.Executor`."""

    def __init__(self, context: Context, runner: CellRunner, options: ProbeOptions, jobs: int) -> None:
        self._context, self._runner = context, runner
        self._probers = [context.prober(options) for _ in range(jobs)]
        self._said: queue.SimpleQueue[_Said] = queue.SimpleQueue()
        self._turn = Condition()
        self._stopped = False

    @property
    def ran(self) -> int:
        """How many probes were run."""
        return sum(prober.ran for prober in self._probers)

    def run(self, cells: Sequence[Cell], done: Callable[[Cell, ProbeResult], None]) -> None:
        """Run cells; `done` is called in this thread."""
        schedule = Schedule(cells)
        with ThreadPoolExecutor(len(self._probers), "cells") as pool:
            for worker, prober in enumerate(self._probers):
                pool.submit(self._work, worker, prober, schedule)
            try:
                self._listen(len(self._probers), done)
            except BaseException:
                # Before the threads are waited for: nobody who interrupts a matrix waits for a probe of minutes.
                self._stop()
                while not self._said.empty():
                    self._tell(self._said.get(), done)
                raise

    def _listen(self, workers: int, done: Callable[[Cell, ProbeResult], None]) -> None:
        while workers:
            said = self._said.get()
            if isinstance(said, BaseException):
                raise said
            workers -= said is None
            self._tell(said, done)

    def _tell(self, said: _Said, done: Callable[[Cell, ProbeResult], None]) -> None:
        if isinstance(said, tuple):
            done(*said)

    def _stop(self) -> None:
        with self._turn:
            self._stopped = True
            self._turn.notify_all()
        for prober in self._probers:
            prober.abandon()

    def _work(self, worker: int, prober: Prober, schedule: Schedule) -> None:
        """One worker: batch after batch, until there are none."""
        try:
            while batch := self._next(worker, schedule):
                for cell in batch:
                    result = self._runner.run(cell, prober)
                    # What was ended has no verdict.
                    if self._stopped:
                        return
                    self._said.put((cell, result))
            self._said.put(None)
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is heard
            self._said.put(error)

    def _next(self, worker: int, schedule: Schedule) -> list[Cell]:
        """The next batch; while what is left needs a device that another worker is at, it is waited for."""
        with self._turn:
            batch = schedule.take(worker)
            self._turn.notify_all()
            while not batch and not schedule.is_empty and not self._stopped:
                self._turn.wait()
                batch = schedule.take(worker)
            return batch
