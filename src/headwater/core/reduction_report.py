# SPDX-License-Identifier: Apache-2.0
"""What a reduction and a backport hand to the report layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from headwater.core.errors import HarnessError
from headwater.core.narrowing import PartOutcome
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
    without: PartOutcome | None
    commit: str | None = None


class Size(NamedTuple):
    """How large a part of the difference is: files, hunks and changed lines."""

    files: int
    hunks: int
    lines: int


@dataclass(frozen=True)
class Step:
    """One probe of the search: the stage that asked for it, how large the part was, what it showed by which probe, and
    how large the smallest part was that had been seen to flip by then."""

    stage: str
    size: Size
    outcome: PartOutcome
    row: ProbeResult
    left: Size


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
    `rows` are the probes of the ends, `steps` those of parts in the order in which they came, known ones included;
    `ran` counts all that were run.
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
    steps: tuple[Step, ...]
    rows: tuple[ProbeResult, ...]
    ran: int
    interrupted: bool
    notes: tuple[str, ...] = ()
    tree: str | None = None

    @property
    def asked(self) -> int:
        """How many parts were probed, known ones included."""
        return len(self.steps)

    @property
    def exit_status(self) -> int:
        """0 found, 3 the ends do not differ, 4 not known to be minimal, 5 an end failed on our side."""
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


def require_judged(rows: Iterable[ProbeResult]) -> None:
    """Tell what failed on the machine's side from what a release or a patch does.

    Raises:
        HarnessError: a probe ended so.
    """
    for row in rows:
        if row.verdict is Verdict.HARNESS_ERROR:
            why = f"{row.evidence.type}: {row.evidence.message}"
            raise HarnessError(
                f"{row.case} on {row.revision} could not be judged ({why}); the same command tries again"
            )
