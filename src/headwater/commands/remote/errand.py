# SPDX-License-Identifier: Apache-2.0
"""What travels: one probe that another machine is to run, and its answer."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.core.cases import Case
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Verdict
from headwater.core.workers import Identity
from headwater.effects.between_stores import Kept
from headwater.effects.envs import DatedLock
from headwater.effects.probe import ProbeOptions

_WITHOUT_PROBE = (Verdict.HARNESS_ERROR, Verdict.UNTESTABLE, Verdict.UNAVAILABLE)


@dataclass(frozen=True)
class Errand:
    """One probe, in words, numbers and the case with its files.

    `asker` is who asks, and must be like the worker (its patches only where `series` is applied, without the patches
    `drop`); `revision` a release or a whole commit id, of the repository `repo`; `dated` the packages to run with
    instead of those of its group. `first`, `fresh` and `options` are as `Prober.probe` has them.
    """

    asker: Identity
    revision: str
    series: str | None
    drop: tuple[str, ...]
    dated: DatedLock | None
    repo: str | None
    case: Case
    device: str
    first: int
    fresh: bool
    options: ProbeOptions

    def __str__(self) -> str:
        return f"{self.case.id} on {self.revision[:12]}{' patched' if self.series else ''} ({self.device})"


@dataclass(frozen=True)
class Answer:
    """What a worker says: the `row`; what its store keeps of it, for the asker's store; how many probes it `ran`.

    Without a row it was told to `stop`, in the words of `ToldToStop`, or refuses because it is not like the asker.
    """

    row: ProbeResult | None
    kept: tuple[Kept, ...] = ()
    ran: int = 0
    stop: str = ""
    refusal: str | None = None

    @property
    def complaint(self) -> str | None:
        """Why this worker could not run it, where another may: it has no environment, device, tree or repository."""
        if self.row is None or self.row.outcomes or self.row.verdict not in _WITHOUT_PROBE:
            return None
        return self.row.evidence.message
