# SPDX-License-Identifier: Apache-2.0
"""The matrix: cases and suites over revisions, devices and a series; which cells there are, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, Protocol

from headwater.core.results import ProbeResult, has_accelerator, with_index
from headwater.core.states import PatchState

RowKind = Literal["case", "conformance", "upstream"]


@dataclass(frozen=True)
class Row:
    """What is run: a case, by its id; the conformance suite; or a file of the library's own tests, by its path."""

    kind: RowKind
    name: str

    @property
    def is_suite(self) -> bool:
        """Whether it runs many tests, which are compared one by one."""
        return self.kind != "case"


@dataclass(frozen=True)
class Column:
    """A revision that is looked at.

    `group` names its environment. `tests_at` is the commit that the library's own tests come from, None for the sdist.
    `skipped` are the patches that it does not need, and `patched` whether any of the series is left to apply.
    """

    revision: str
    group: str
    tests_at: str | None = None
    skipped: tuple[tuple[str, PatchState], ...] = ()
    patched: bool = False

    @property
    def states(self) -> tuple[PatchState, ...]:
        """Why it needs none of the series, each reason once; empty where it is patched, or there is no series."""
        if self.patched:
            return ()
        return tuple(sorted({state for _patch, state in self.skipped}, key=lambda state: state.value))


@dataclass(frozen=True)
class Cell:
    """One probe of the matrix, in words and numbers alone, so that it can be sent to another machine. `series` is None
    on the unpatched tree; `drop` are the patches to leave out of it."""

    row: Row
    revision: str
    device: str
    group: str
    tests_at: str | None = None
    series: str | None = None
    drop: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[Row, str, str]:
        """Where it stands: the same before and after the series."""
        return self.row, self.revision, self.device

    @property
    def batch(self) -> tuple[str, str, str | None, str]:
        """What it shares with the cells that run beside it: environment, tree and device."""
        return self.group, self.revision, self.series, self.device


class Executor(Protocol):
    """Runs cells, wherever that may be."""

    def run(self, cells: Sequence[Cell], done: Callable[[Cell, ProbeResult], None]) -> None:
        """Run cells, and tell of each as soon as it is done, in any order, in the thread that called. Interrupted, it
        ends what runs without a verdict."""

    @property
    def ran(self) -> int:
        """How many probes were run, and not answered from the store."""


def cells_of(columns: Sequence[Column], rows: Sequence[Row], devices: Sequence[str], series: str | None) -> list[Cell]:
    """Every cell, in the order in which one hand runs them: an environment after the other, so that each is started
    once, and in it a tree after the other, so that what was read and compiled for it serves."""
    groups = list(dict.fromkeys(column.group for column in columns))
    ordered = sorted(columns, key=lambda column: groups.index(column.group))
    found = []
    for column in ordered:
        for applied in (None, series) if column.patched else (None,):
            drop = tuple(patch for patch, _state in column.skipped) if applied else ()
            found += [
                Cell(row, column.revision, device, column.group, column.tests_at, applied, drop)
                for device in devices
                for row in rows
            ]
    return found


@dataclass
class Schedule:
    """Who runs what next: whole batches, an environment by as few hands as can be, an accelerator by one at a time
    where the hands are on `one_machine`.

    A hand stays with its environment as long as there is something to do in it, then takes one that nobody is at,
    and only then helps another hand, which starts that environment once more.
    """

    cells: Sequence[Cell]
    one_machine: bool = True
    _waiting: list[list[Cell]] = field(init=False)
    _at: dict[int, str] = field(default_factory=dict, init=False)
    _busy: dict[int, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._waiting = [list(batch) for _key, batch in groupby(self.cells, key=lambda cell: cell.batch)]

    @property
    def is_empty(self) -> bool:
        """Whether every batch was handed out."""
        return not self._waiting

    def take(self, hand: int) -> list[Cell]:
        """The next batch for a hand, by its number, which has done its last one; empty where it must wait, or all are
        taken."""
        self._busy.pop(hand, None)
        busy = set(self._busy.values())
        free = [batch for batch in self._waiting if with_index(batch[0].device) not in busy]
        if not free:
            return []
        batch = self._choose(free, hand)
        self._waiting.remove(batch)
        self._at[hand] = batch[0].group
        if self.one_machine and has_accelerator(batch[0].device):
            self._busy[hand] = with_index(batch[0].device)
        return batch

    def _choose(self, free: Sequence[list[Cell]], hand: int) -> list[Cell]:
        mine = self._at.get(hand)
        others = {group for other, group in self._at.items() if other != hand}
        for wanted in (lambda group: group == mine, lambda group: group not in others):
            for batch in free:
                if wanted(batch[0].group):
                    return batch
        left = [batch[0].group for batch in free]
        most = max(left, key=left.count)
        return next(batch for batch in free if batch[0].group == most)


def spans(columns: Sequence[Column], looks: Callable[[Column], object]) -> list[tuple[Column, ...]]:
    """Neighbouring columns that look alike, as one."""
    return [tuple(alike) for _look, alike in groupby(columns, key=looks)]


def span_name(span: Sequence[str]) -> str:
    """Revisions that are shown as one: the only one, or the first and the last."""
    return span[0] if len(span) == 1 else f"{span[0]}..{span[-1]}"


def ranges(revisions: Sequence[str], chosen: Collection[str]) -> str:
    """Some of several revisions, neighbours as ranges: `5.5.0..5.7.0, 5.10.1`."""
    runs = [list(run) for is_in, run in groupby(revisions, key=lambda one: one in chosen) if is_in]
    return ", ".join(span_name(run) for run in runs)
