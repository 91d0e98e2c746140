# SPDX-License-Identifier: Apache-2.0
"""Cells on their way: results are kept as they come, and how far it is is told."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from headwater.core.events import Advanced, Emit, Finished, Started
from headwater.core.matrix import Cell, Executor
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Verdict

_KEY = "cells"


@dataclass
class Course:
    """Runs cells; `what` is told of it. `results` holds what was run, also when it was interrupted."""

    cells: Sequence[Cell]
    what: str
    emit: Emit
    results: dict[Cell, ProbeResult] = field(default_factory=dict)
    _counts: Counter[Verdict] = field(default_factory=Counter)
    _began: float = field(default_factory=time.monotonic)

    def run(self, executor: Executor) -> bool:
        """Run every cell. Whether none was left out because of an interrupt."""
        self.emit(Started(_KEY, self.what, len(self.cells), "cells"))
        try:
            executor.run(self.cells, self._take)
        except KeyboardInterrupt:
            return False
        finally:
            self.emit(Finished(_KEY))
        return True

    def _take(self, cell: Cell, result: ProbeResult) -> None:
        self.results[cell] = result
        self._counts[result.verdict] += 1
        done, left = len(self.results), len(self.cells) - len(self.results)
        words = [", ".join(f"{self._counts[one]} {one.words}" for one in Verdict if self._counts[one])]
        if left:
            words.append(f"about {(time.monotonic() - self._began) / done * left:.0f} s left")
        self.emit(Advanced(_KEY, done, " · ".join(words)))
