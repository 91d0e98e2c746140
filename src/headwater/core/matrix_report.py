# SPDX-License-Identifier: Apache-2.0
"""What came out of a matrix, and how it is read: what a place looks like, what is as expected, what was not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from headwater.core.known_failures import Naming
from headwater.core.matrix import Cell, Column, Row, spans
from headwater.core.results import INTERRUPTED, Comparison, ProbeResult, exit_status
from headwater.core.verdicts import Verdict
from headwater.core.workers import WorkersReport


@dataclass(frozen=True)
class Look:
    """What one place shows: the verdicts before and after the series, each None where it was not run. `after` is told
    apart from a series that is not there by `is_patched`; `wrong` where something is not as expected."""

    before: Verdict | None
    after: Verdict | None
    is_patched: bool
    wrong: bool


@dataclass(frozen=True)
class MatrixReport:
    """A matrix.

    `columns`, `rows` and `devices` span it; `results` holds what was run of its `cells`, with expectations; `compared`
    the suites before and after the series, by place. `seconds` is the wall time of all cells together, `ran` how many
    probes were run for them. `command` is the command line that goes on; `workers` tells of the workers of a scheduler;
    `namings` say which cases the failures of the conformance suite belong to.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    devices: tuple[str, ...]
    series: str | None
    cells: tuple[Cell, ...]
    results: Mapping[Cell, ProbeResult]
    compared: Mapping[tuple[Row, str, str], Comparison]
    seconds: float
    ran: int
    interrupted: bool
    command: str
    workers: WorkersReport | None = None
    namings: Mapping[Cell, Naming] = field(default_factory=dict)

    @cached_property
    def done(self) -> list[tuple[Cell, ProbeResult]]:
        """The cells that were run, in order."""
        return [(cell, self.results[cell]) for cell in self.cells if cell in self.results]

    @cached_property
    def not_run(self) -> list[Cell]:
        """The cells that were not: they are neither passed nor failed."""
        return [cell for cell in self.cells if cell not in self.results]

    @property
    def rate(self) -> float:
        """Cells a second."""
        return len(self.done) / self.seconds if self.seconds else 0.0

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many cells have each verdict."""
        return Counter(result.verdict for _cell, result in self.done)

    @property
    def exit_status(self) -> int:
        """The status that the command ends with: 0 only where every cell was run and is as expected."""
        if self.interrupted:
            return INTERRUPTED
        status = exit_status([result for _cell, result in self.done])
        unsound = any(not line.sound for line in self.compared.values())
        return status or (1 if unsound or self.not_run else 0)

    def is_wrong(self, cell: Cell) -> bool:
        """Whether a cell that was run is not as expected, or a test of it ceased to hold under the series."""
        line = self.compared.get(cell.place) if cell.series else None
        return not self.results[cell].as_expected or (line is not None and not line.sound)

    @property
    def wrong(self) -> list[tuple[Cell, ProbeResult]]:
        """The cells that were run and are not as expected."""
        return [(cell, result) for cell, result in self.done if self.is_wrong(cell)]

    @cached_property
    def _places(self) -> Mapping[tuple[Row, str, str], list[Cell]]:
        places: dict[tuple[Row, str, str], list[Cell]] = {}
        for cell in self.cells:
            places.setdefault(cell.place, []).append(cell)
        return places

    def at(self, row: Row, column: Column, device: str) -> tuple[ProbeResult | None, ProbeResult | None]:
        """What was seen at a place before and after the series; None where it was not run, or there is no after."""
        cells = self._places[row, column.revision, device]
        found = [self.results.get(cell) for cell in cells]
        return found[0], found[1] if len(found) > 1 else None

    def namings_at(self, row: Row, column: Column, device: str) -> list[Naming | None]:
        """The cases that failures belong to before and, where it is patched, after the series."""
        return [self.namings.get(cell) for cell in self._places[row, column.revision, device]]

    def look(self, row: Row, column: Column, device: str) -> Look:
        """What a place shows."""
        cells = self._places[row, column.revision, device]
        before, after = self.at(row, column, device)
        wrong = any(cell in self.results and self.is_wrong(cell) for cell in cells)
        verdicts = [result.verdict if result else None for result in (before, after)]
        return Look(verdicts[0], verdicts[1], column.patched, wrong)

    def spans(self, rows: Sequence[Row]) -> list[tuple[Column, ...]]:
        """Neighbouring revisions that look alike in all of these rows, as one."""
        return spans(
            self.columns,
            lambda column: (column.states, [self.look(row, column, device) for row in rows for device in self.devices]),
        )
