# SPDX-License-Identifier: Apache-2.0
"""What the commands of `headwater pr` hand to the report layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from headwater.core.atlas import Atlas
from headwater.core.errors import HarnessError
from headwater.core.pr_evidence import PrEvidence
from headwater.core.pr_gate import Difference, Reason
from headwater.core.verdicts import Verdict

HARNESS = HarnessError.exit_status


@dataclass(frozen=True)
class Refusal:
    """No pull request, since upstream has its own fix: the release that brought it (None where that is not known), and
    the commands that make what can be had instead."""

    fixed_in: str | None
    instead: tuple[str, ...]


@dataclass(frozen=True)
class PrReport:
    """A bundle in `folder`, or a refusal. `files` were written, `kept` were left as a person wrote them; `notes` are
    what the person should know; `ran` counts the probes that were run."""

    series: str
    onto: str
    folder: Path
    files: tuple[str, ...]
    kept: tuple[str, ...]
    notes: tuple[str, ...]
    evidence: PrEvidence | None
    refusal: Refusal | None
    ran: int

    @property
    def exit_status(self) -> int:
        """0 where a bundle was written, 1 where there is nothing to send, 5 where Headwater or the machine failed."""
        failed = self.evidence is not None and self.evidence.failed
        return HARNESS if failed else 1 if self.refusal else 0


@dataclass(frozen=True)
class GateReport:
    """What the gate says of a bundle: every reason against it, and notes that are none."""

    folder: Path
    series: str
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """0 where nothing speaks against it."""
        return 1 if self.reasons else 0


@dataclass(frozen=True)
class VerifyReport:
    """A replay of a bundle: how many figures were compared, which differ, and what was another than where they were
    recorded."""

    folder: Path
    series: str
    figures: int
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    ran: int
    failed: bool = False

    @property
    def exit_status(self) -> int:
        """0 where every figure is repeated; 5 where Headwater or the machine `failed`, which says nothing of them."""
        return HARNESS if self.failed else 1 if self.differences else 0


def fixed_in(atlas: Atlas, cases: Iterable[str], target: Version) -> Version | None:
    """The release that brought the last of the fixes that a release has, by the atlas; None where it knows of none."""
    turns = [version for case in cases for version in atlas.turns(case, "fixed")]
    return max((version for version in turns if version <= target), default=None)


def still_bad(atlas: Atlas, cases: Iterable[str]) -> Version | None:
    """The newest release on which a case is bad, by the atlas."""
    entries = [entry for case in cases for entry in atlas.of(case)]
    return max((entry.last for entry in entries if entry.verdict is Verdict.BAD), default=None)
