# SPDX-License-Identifier: Apache-2.0
"""What probes for a command, wherever that may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from headwater.core.cases import Case
from headwater.core.results import ProbeResult
from headwater.effects.probe import Subject


class Hand(Protocol):
    """What probes for one thread; see `effects.probe.Prober`, which is one. `begins` is called before something runs on
    this machine."""

    ran: int
    begins: Callable[[], object]

    @property
    def repeats(self) -> int:
        """How many repetitions one probe takes."""

    def probe(self, subject: Subject, case: Case, device: str, first: int = 0, fresh: bool = False) -> ProbeResult:
        """Probe, or recall."""

    def abandon(self) -> None:
        """From another thread: end what is being probed, without a verdict."""
