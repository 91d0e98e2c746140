# SPDX-License-Identifier: Apache-2.0
"""Who probes for a command: this machine, or the workers of a scheduler; both stand where a `Prober` stands."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace

from headwater.commands.context import Context
from headwater.commands.hand import Hand
from headwater.commands.remote.errand import Errand
from headwater.commands.remote.identity import identify
from headwater.commands.remote.workers import Workers
from headwater.commands.way import Way
from headwater.core.cases import Case
from headwater.core.errors import BadInput, ToldToStop
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict
from headwater.effects.between_stores import NotKnown, Recaller, keep
from headwater.effects.cluster import Cluster
from headwater.effects.probe import ProbeOptions, Subject, nothing
from headwater.effects.store import Store


def workers_of(context: Context, way: Way, with_series: bool) -> Workers | None:
    """The workers that a command is to use, None where it runs on this machine.

    Raises:
        BadInput: one of the two without the other, or `distributed` is not installed.
        HarnessError: no scheduler answers, or no worker there can be used.
    """
    if (way.executor == "dask") != (way.scheduler is not None):
        raise BadInput(
            "--executor dask and --scheduler ADDRESS go together; `headwater scheduler` starts one, and `headwater "
            "worker ADDRESS` a worker of it"
        )
    if way.scheduler is None:
        return None
    asker = identify(context, socket.gethostname())
    workers = Workers(Cluster(way.scheduler), way.scheduler, asker, with_series, context.emit)
    context.exits.callback(workers.close)
    return workers


def hands(
    context: Context, options: ProbeOptions, way: Way, workers: Workers | None, repo: str | None
) -> Sequence[Hand]:
    """One for each thread of a command: as many as workers are there, or `jobs` where that is more."""
    if workers is None:
        return [context.prober(options) for _ in range(way.jobs)]
    known = Recaller(context.cache, context.environments, context.workspace.pins.package, options, context.emit)
    context.exits.enter_context(known)
    store = Store(context.cache.store, context.emit)
    return [RemoteHand(context, workers, known, store, repo) for _ in range(max(len(workers), way.jobs))]


class RemoteHand:
    """Probes by workers what is not known here, and keeps what it says as if it had run here."""

    def __init__(self, context: Context, workers: Workers, known: Recaller, store: Store, repo: str | None) -> None:
        self._context, self._workers, self._known, self._store, self._repo = context, workers, known, store, repo
        self.ran = 0
        self.begins: Callable[[], object] = nothing

    @property
    def repeats(self) -> int:
        """How many repetitions one probe takes."""
        return self._known.repeats

    def probe(self, subject: Subject, case: Case, device: str, first: int = 0, fresh: bool = False) -> ProbeResult:
        """As `Prober.probe`, of a release or a commit.

        Raises:
            ToldToStop: what was run ended with an exit status from 128 on.
            Abandoned: nobody waits for it any more.
        """
        try:
            return self._known.probe(subject, case, device, first, fresh)
        except NotKnown:
            environment = self._context.environments.describe(subject.pin, subject.dated)
        errand = Errand(
            self._workers.asker, subject.revision, subject.series, subject.drop, subject.dated, self._repo, case,
            device, first, fresh, self._known.options,
        )  # fmt: skip
        answer = self._workers.ask(errand, environment.key)
        self.ran += answer.ran
        if answer.row and answer.row.outcomes and answer.row.tree != subject.tree:
            # Its verdict is another tree's: where the pins are the same, that is a fault of ours.
            evidence = Evidence(
                "OtherTree", f"a worker ran it on tree {answer.row.tree}, and here it is {subject.tree}"
            )
            return replace(answer.row, verdict=Verdict.HARNESS_ERROR, evidence=evidence)
        for kept in answer.kept:
            keep(
                self._store, kept, case=case.id, revision=subject.revision, tree=subject.tree,
                environment=environment.key, device=device,
            )  # fmt: skip
        if answer.row is None:
            raise ToldToStop(answer.stop)
        return answer.row

    def abandon(self) -> None:
        """From another thread: wait for nobody any more."""
        self._workers.abandon()
