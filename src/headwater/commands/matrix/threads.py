# SPDX-License-Identifier: Apache-2.0
"""Running cells: a few threads, each with a hand of its own."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Condition

from headwater.commands.hand import Hand
from headwater.commands.matrix.runner import CellRunner
from headwater.core.matrix import Cell, Schedule
from headwater.core.results import ProbeResult

# What a thread says: a cell's result; that it has ended, with the error that ended it, if any.
_Said = tuple[Cell, ProbeResult] | BaseException | None


class Threads:
    """Runs cells by a thread for each of `hands`, which are on `one_machine` or on several; see
    `core.matrix.Executor`."""

    def __init__(self, runner: CellRunner, hands: Sequence[Hand], one_machine: bool) -> None:
        self._runner, self._hands, self._one_machine = runner, hands, one_machine
        self._said: queue.SimpleQueue[_Said] = queue.SimpleQueue()
        self._turn = Condition()
        self._stopped = False

    @property
    def ran(self) -> int:
        """How many probes were run."""
        return sum(hand.ran for hand in self._hands)

    def run(self, cells: Sequence[Cell], done: Callable[[Cell, ProbeResult], None]) -> None:
        """Run cells; `done` is called in this thread."""
        schedule = Schedule(cells, self._one_machine)
        with ThreadPoolExecutor(len(self._hands), "cells") as pool:
            for number, hand in enumerate(self._hands):
                pool.submit(self._work, number, hand, schedule)
            try:
                self._listen(len(self._hands), done)
            except BaseException:
                # Before the threads are waited for: nobody who interrupts a matrix waits for a probe of minutes.
                self._stop()
                while not self._said.empty():
                    self._tell(self._said.get(), done)
                raise

    def _listen(self, running: int, done: Callable[[Cell, ProbeResult], None]) -> None:
        while running:
            said = self._said.get()
            if isinstance(said, BaseException):
                raise said
            running -= said is None
            self._tell(said, done)

    def _tell(self, said: _Said, done: Callable[[Cell, ProbeResult], None]) -> None:
        if isinstance(said, tuple):
            done(*said)

    def _stop(self) -> None:
        with self._turn:
            self._stopped = True
            self._turn.notify_all()
        for hand in self._hands:
            hand.abandon()

    def _work(self, number: int, hand: Hand, schedule: Schedule) -> None:
        """One thread: batch after batch, until there are none."""
        try:
            while batch := self._next(number, schedule):
                for cell in batch:
                    result = self._runner.run(cell, hand)
                    # What was ended has no verdict.
                    if self._stopped:
                        return
                    self._said.put((cell, result))
            self._said.put(None)
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is heard
            self._said.put(error)

    def _next(self, number: int, schedule: Schedule) -> list[Cell]:
        """The next batch; while what is left needs a device that another hand is at, it is waited for."""
        with self._turn:
            batch = schedule.take(number)
            self._turn.notify_all()
            while not batch and not schedule.is_empty and not self._stopped:
                self._turn.wait()
                batch = schedule.take(number)
            return batch
