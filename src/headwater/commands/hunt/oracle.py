# SPDX-License-Identifier: Apache-2.0
"""Who answers a hunt: revisions become subjects and are probed, several at a time; what comes next is made ready."""

from __future__ import annotations

import queue
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import Any

from headwater.commands.context import Context
from headwater.commands.hand import Hand
from headwater.commands.patch.choosing import needless_patches
from headwater.core.commits import Commit
from headwater.core.errors import (
    BadInput,
    EnvironmentUnavailable,
    HarnessError,
    HeadwaterError,
    PatchFailed,
    ToldToStop,
)
from headwater.core.events import Note
from headwater.core.learning import rejudged
from headwater.core.recording import Recording
from headwater.core.results import ProbeResult
from headwater.core.revisions import Revision, name_of, short_name
from headwater.core.verdicts import Evidence, Verdict, combine
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.envs import DatedLock
from headwater.effects.probe import ProbeOptions, Prober, Subject, nothing
from headwater.effects.series_folder import Series
from headwater.effects.targets import Target

Answers = Mapping[tuple[str, int], Verdict]


class Oracle:
    """Probes a target on revisions. `answers` are verdicts of a log, by name and repetition, that stand for probes.
    Where there are `remote` hands they probe revisions, and this machine all else, e.g. trees between two."""

    def __init__(
        self, context: Context, target: Target, device: str, options: ProbeOptions, jobs: int, series: Series | None,
        commits: Callable[[], CommitSubjects], answers: Answers, undo: Collection[str], by_day: bool,
        remote: Sequence[Hand] = (),
    ) -> None:  # fmt: skip
        self.context, self.target, self.device = context, target, device
        self.case = target.case
        self._series, self._commits, self._answers, self._undo = series, commits, answers, undo
        self._by_day = by_day
        self._subjects: dict[str, Subject] = {}
        self._rows: dict[str, list[ProbeResult]] = {}
        self._probers = [context.prober(options) for _ in range(1 if remote else jobs)]
        self._free: queue.SimpleQueue[Prober] = queue.SimpleQueue()
        for prober in self._probers:
            self._free.put(prober)
        self._remote = remote
        self._far: queue.SimpleQueue[Hand] = queue.SimpleQueue()
        for hand in remote:
            self._far.put(hand)
        self._pool = context.exits.enter_context(ThreadPoolExecutor(self.jobs, "probe"))
        # Making ready is a help and no more: one thread for trees and one for environments, which take longer.
        self._trees_ahead, self._environments_ahead = ThreadPoolExecutor(1, "trees"), ThreadPoolExecutor(1, "envs")
        for ahead in (self._trees_ahead, self._environments_ahead):
            context.exits.callback(ahead.shutdown, wait=True, cancel_futures=True)
        # Before the threads are waited for: nobody who interrupts a hunt waits for a probe of minutes.
        context.exits.callback(self.abandon)
        self._readied: set[str] = set()

    @property
    def ran(self) -> int:
        """How many probes were run."""
        return sum(hand.ran for hand in (*self._probers, *self._remote))

    @property
    def jobs(self) -> int:
        """How many probes run at a time."""
        return len(self._remote or self._probers)

    def rows(self) -> tuple[ProbeResult, ...]:
        """One row a revision, in the order in which they were first probed: the verdict of all its repetitions."""
        return tuple(self.row(name) for name in self._rows)

    def row(self, name: str) -> ProbeResult:
        """The row of a revision that was probed."""
        every = [rejudged(one, self.case) for one in self._rows[name]]
        verdict = combine([one.verdict for one in every])
        shown = next((one for one in every if one.verdict is verdict), every[-1])
        outcomes = tuple(outcome for one in every for outcome in one.outcomes)
        return replace(
            shown, verdict=verdict, seconds=sum(one.seconds for one in every), outcomes=outcomes,
            cached=all(one.cached for one in every), repetitions=sum(one.repetitions for one in every),
        )  # fmt: skip

    def verdicts(self, name: str) -> list[Verdict]:
        """What each repetition on a revision said, judged by what has been learned since."""
        return [rejudged(one, self.case).verdict for one in self._rows.get(name, [])]

    def subject(self, revision: Revision) -> Subject:
        """A revision as what is probed, with the series where it applies."""
        name = name_of(revision)
        if name not in self._subjects:
            plain = self._plain(revision)
            self._subjects[name] = self._patched(self._dated(plain, revision) if self._by_day else plain, revision)
        return self._subjects[name]

    def subject_in(self, revision: Revision, lock: DatedLock) -> Subject:
        """A revision with packages that are given, whatever environments there are without, and the series where it
        applies."""
        return self._patched(replace(self._plain(revision), dated=lock, untestable=None), revision)

    def _plain(self, revision: Revision) -> Subject:
        if isinstance(revision, Commit):
            return self._commits().subject(revision)
        return self.context.subjects.release(self.context.workspace.pins.pin(revision))

    def lock_of(self, revision: Revision) -> DatedLock:
        """The packages of a revision's day.

        Raises:
            EnvironmentUnavailable: none of that day satisfy what it requires, or that cannot be told.
        """
        if isinstance(revision, Commit):
            requirements, when = self._commits().requirements(revision), revision.date
        else:
            pin = self.context.workspace.pins.pin(revision)
            requirements, when = self.context.locks.requirements([pin])[pin], pin.uploaded
        return self.context.dated_locks.lock(requirements, when)

    def _dated(self, subject: Subject, revision: Revision) -> Subject:
        """A subject with the packages of a revision's day, whatever environments there are without."""
        try:
            return replace(subject, dated=self.lock_of(revision), untestable=None)
        except EnvironmentUnavailable as error:
            return replace(subject, untestable=str(error))

    def _patched(self, subject: Subject, revision: Revision) -> Subject:
        if self._series is None or subject.untestable:
            return subject
        release = None if isinstance(revision, Commit) else revision
        skipped = needless_patches(self.context, self._series, release)
        if len(skipped) == len(self._series.patches):
            return subject
        try:
            return self.context.subjects.patched(subject, self._series, skipped).subject
        except PatchFailed as error:
            return replace(subject, untestable=f"series {self._series.name} does not apply: {error}")

    def ask(self, revision: Revision, repetition: int, ahead: Sequence[Revision] = ()) -> Future[ProbeResult]:
        """Begin to probe a revision. Where that is not known, what it needs and what may be asked for next, `ahead`,
        is made ready meanwhile."""
        return self._pool.submit(self._probe, revision, repetition, ahead)

    def abandon(self) -> None:
        """End what is being probed, at once and without a verdict; nothing can be asked any more."""
        for hand in (*self._probers, *self._remote):
            hand.abandon()

    def _probe(self, revision: Revision, repetition: int, ahead: Sequence[Revision]) -> ProbeResult:
        name = name_of(revision)
        known = self._answers.get((name, repetition))
        if known is not None and name not in self._undo:
            return self._row(name, known, Evidence("Replayed", "from the log"), cached=True)
        resting: queue.SimpleQueue[Any] = self._far if self._remote else self._free
        hand: Hand = resting.get()
        hand.begins = partial(self._make_ready, [revision, *ahead])
        try:
            first = repetition * hand.repeats
            return hand.probe(self.subject(revision), self.case, self.device, first, name in self._undo)
        except BadInput as error:
            # Of a revision that nobody named, e.g. one that is older than the library's place in the repository.
            return self._row(name, Verdict.UNTESTABLE, Evidence("BadRevision", str(error)))
        except ToldToStop:
            raise
        except HarnessError as error:
            return self._row(name, Verdict.HARNESS_ERROR, Evidence(type(error).__name__, str(error)))
        finally:
            hand.begins = nothing
            resting.put(hand)

    def _row(self, name: str, verdict: Verdict, evidence: Evidence, cached: bool = False) -> ProbeResult:
        """A row for what was not probed."""
        series = self._series.name if self._series else None
        return ProbeResult(self.case.id, name, series, self.device, verdict, evidence, 0.0, cached, "", None)

    def probe_in(self, subject: Subject, packages: str) -> ProbeResult:
        """Probe a revision in another environment than its own: no part of any search."""
        self.context.emit(Note(f"{short_name(subject.revision)} with {packages}"))
        return self._probe_subject(subject)

    def ask_of(self, subject: Subject) -> Future[ProbeResult]:
        """Begin to probe what is no revision, e.g. a tree between two."""
        return self._pool.submit(self._probe_subject, subject)

    def _probe_subject(self, subject: Subject) -> ProbeResult:
        prober = self._free.get()
        try:
            return prober.probe(subject, self.case, self.device)
        finally:
            self._free.put(prober)

    @property
    def borrowed(self) -> Prober:
        """A prober for what is no question of the search; while it runs nothing else must be asked."""
        return self._probers[0]

    def record(self, subject: Subject) -> Recording:
        """What the case runs of a subject."""
        prober = self._free.get()
        try:
            return prober.record(subject, self.case, self.device)
        finally:
            self._free.put(prober)

    def keep(self, name: str, row: ProbeResult) -> None:
        """Keep a row that was asked for."""
        self._rows.setdefault(name, []).append(row)

    def _make_ready(self, revisions: Sequence[Revision]) -> None:
        """Lay out what may be asked for next, and build what it runs in, while a probe runs."""
        for revision in revisions:
            name = name_of(revision)
            if name not in self._readied and (name, 0) not in self._answers:
                self._readied.add(name)
                self._trees_ahead.submit(partial(self._ahead, revision, self._lay_out))
                self._environments_ahead.submit(partial(self._ahead, revision, self._build))

    def _ahead(self, revision: Revision, prepare: Callable[[Subject], object]) -> None:
        try:
            subject = self.subject(revision)
            if subject.untestable is None:
                prepare(subject)
        except HeadwaterError:
            # Nobody has asked for it yet: where somebody does, the same error becomes that probe's row.
            return

    def _build(self, subject: Subject) -> None:
        environments = self.context.environments
        environments.ensure(environments.describe(subject.pin, subject.dated))

    def _lay_out(self, subject: Subject) -> None:
        """Lay out a tree, and where one prober asks, so that a core is idle, have its library imported."""
        subject.lay_out()
        if len(self._probers) == 1 and not self._remote and not self.case.network:
            self._probers[0].import_ahead(subject, self.case, self.device)


def first_done(pending: Collection[Future[ProbeResult]]) -> set[Future[ProbeResult]]:
    """Wait until one of the probes that run is done."""
    return wait(pending, return_when=FIRST_COMPLETED).done
