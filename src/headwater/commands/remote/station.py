# SPDX-License-Identifier: Apache-2.0
"""A worker: it runs the probes that it is sent, with a workspace and caches of its own."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from headwater.commands.context import Context
from headwater.commands.matrix.runner import CellRunner
from headwater.commands.remote.errand import Answer, Errand
from headwater.core.errors import BadInput, HarnessError, PatchFailed, ToldToStop
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict
from headwater.core.workers import Identity
from headwater.effects.between_stores import TellingStore
from headwater.effects.probe import Prober, Subject


@dataclass
class Station:
    """What a worker's process has for all that it is sent. `store` is that of `prober`."""

    context: Context
    identity: Identity
    prober: Prober
    store: TellingStore
    _subjects: dict[tuple[object, ...], Subject] = field(default_factory=dict, init=False)
    _runners: dict[str | None, CellRunner] = field(default_factory=dict, init=False)

    def answer(self, errand: Errand) -> Answer:
        """Run one probe, or recall it."""
        # Asked once more: the asker has looked at who was at this address before.
        differences = self.identity.differences(errand.asker, errand.series is not None)
        if differences:
            return Answer(None, refusal="; ".join(differences))
        self.store.told.clear()
        before = self.prober.ran
        row, stop = None, ""
        try:
            row = self._row(errand)
        except ToldToStop as error:
            stop = str(error)
        return Answer(row, tuple(self.store.told), self.prober.ran - before, stop)

    def _row(self, errand: Errand) -> ProbeResult:
        try:
            subject = self._subject(errand)
        except (PatchFailed, BadInput) as error:
            return _without_probe(errand, Verdict.UNTESTABLE, error)
        except HarnessError as error:
            return _without_probe(errand, Verdict.HARNESS_ERROR, error)
        self.prober.options = errand.options
        return self.prober.probe(subject, errand.case, errand.device, errand.first, errand.fresh)

    def _subject(self, errand: Errand) -> Subject:
        place = errand.revision, errand.series, errand.drop, errand.dated, errand.repo
        if place not in self._subjects:
            self._subjects[place] = self._find(errand)
        return self._subjects[place]

    def _find(self, errand: Errand) -> Subject:
        if errand.repo not in self._runners:
            self._runners[errand.repo] = CellRunner(self.context, errand.repo, None)
        subject = self._runners[errand.repo].subject_of(errand.revision)
        if errand.dated is not None:
            subject = replace(subject, dated=errand.dated, untestable=None)
        if errand.series is not None:
            series = self.context.workspace.series(errand.series)
            subject = self.context.subjects.patched(subject, series, errand.drop).subject
        return subject


def _without_probe(errand: Errand, verdict: Verdict, error: Exception) -> ProbeResult:
    evidence = Evidence(type(error).__name__, str(error))
    return ProbeResult(
        errand.case.id, errand.revision, errand.series, errand.device, verdict, evidence, 0.0, False, "", None
    )


# A worker's process is one station: what is sent to it finds it here.
_here: list[Station] = []


def open_station(station: Station) -> None:
    """Have this process answer by this station."""
    _here[:] = [station]


def _introduce() -> Identity:
    return _here[0].identity


def _answer(told: bytes) -> bytes:
    return pickle.dumps(_here[0].answer(pickle.loads(told)))


def introduction() -> Callable[[], Identity]:
    """What has a worker say who it is. By value, like `task`."""

    def ask() -> Identity:
        from headwater.commands.remote import station

        return station._introduce()

    return ask


def task() -> Callable[[bytes], bytes]:
    """What has a worker answer an errand. A function inside a function travels by value, and what it is told as bytes:
    so a scheduler, which reads what passes, need not have Headwater."""

    def do(told: bytes) -> bytes:
        from headwater.commands.remote import station

        return station._answer(told)

    return do
