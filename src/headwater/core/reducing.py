# SPDX-License-Identifier: Apache-2.0
"""What a reduction and a backport hand to the report layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from headwater.core.narrowing import Outcome
from headwater.core.reduction import Stage
from headwater.core.results import INTERRUPTED, ProbeResult
from headwater.core.verdicts import Verdict

ReductionResult = Literal["found", "not-minimal", "bad-endpoints"]


@dataclass(frozen=True)
class KeptHunk:
    """A hunk of the answer: its file and header, how many of its changed lines are left, the probe that shows what
    happens without it (None where that was not probed, and `without` says why), and the commit that it came from."""

    file: str
    header: str
    lines: int
    needed_by: ProbeResult | None
    without: Outcome | None
    commit: str | None = None


@dataclass(frozen=True)
class Whole:
    """How large the difference is, and how much of it was kept after the recorded runs."""

    files: int
    hunks: int
    kept_files: int
    kept_hunks: int


@dataclass(frozen=True)
class ReductionReport:
    """A reduction of what lies between two revisions to the part that flips the verdict.

    `diff` is that part; `minimal` that no hunk can be left out, `pair_minimal` nor two, `line_minimal` nor a line.
    `asked` counts the probes of subsets, known ones included; `ran` those of all that were run.
    """

    case: str
    device: str
    ends: tuple[str, str]
    verdicts: tuple[Verdict, Verdict]
    result: ReductionResult
    hunks: tuple[KeptHunk, ...]
    diff: str
    whole: Whole | None
    stages: tuple[Stage, ...]
    minimal: bool
    pair_minimal: bool
    line_minimal: bool
    asked: int
    rows: tuple[ProbeResult, ...]
    ran: int
    interrupted: bool
    notes: tuple[str, ...] = ()
    tree: str | None = None

    @property
    def exit_status(self) -> int:
        """0 found, 3 the ends do not differ, 4 the best so far and not minimal, 5 an end failed on our side."""
        if self.interrupted:
            return INTERRUPTED
        if self.result == "bad-endpoints":
            return 5 if Verdict.HARNESS_ERROR in self.verdicts else 3
        return 0 if self.result == "found" else 4


@dataclass(frozen=True)
class BackportReport:
    """A fix carried to an older release: the reduction it was made from, and the series that was written."""

    reduction: ReductionReport
    onto: str
    series: str
    files: tuple[str, ...]
    before: ProbeResult
    after: ProbeResult
    conformance: str
