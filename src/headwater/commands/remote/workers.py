# SPDX-License-Identifier: Apache-2.0
"""Who asks: the workers of a scheduler, of which each is given one probe at a time.

A probe whose worker is gone is given to another; one that a worker cannot run is tried by the others before it is taken
for what it is.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from threading import Condition, Event, Thread

from headwater.commands.remote.errand import Answer, Errand
from headwater.commands.remote.station import introduction, task
from headwater.core.errors import Abandoned, HarnessError
from headwater.core.events import Emit, Finished, Note, Started
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict
from headwater.core.workers import Identity, WorkersReport
from headwater.effects.cluster import Cluster, SchedulerLost, WorkerLost

_LOOK = 0.5  # seconds between two looks at who is there
# A probe that so many workers were gone with is what ends them.
_DEADLY = 3


@dataclass
class _Worker:
    """One worker. `group` is the key of the environment that it ran in last."""

    address: str
    name: str
    busy: bool = False
    group: str | None = None


class Workers:
    """The workers at a scheduler that are like the asker. Safe to use from several threads."""

    def __init__(
        self, cluster: Cluster, address: str, asker: Identity, with_series: bool, emit: Emit, patience: float = 60.0
    ) -> None:
        """Look who is there; `patience` is how many seconds to wait for a worker where there is none.

        Raises:
            HarnessError: nobody came, or only workers that are refused.
        """
        self._cluster, self._address, self.asker = cluster, address, asker
        self._with_series, self._emit, self._patience = with_series, emit, patience
        self._turn = Condition()
        self._workers: dict[str, _Worker] = {}
        self._strangers: set[str] = set()
        self._answered: Counter[str] = Counter()
        self._refused: dict[str, str] = {}
        self._unfit: dict[str, str] = {}
        self._reruns = 0
        self._over: str | None = None
        self._stopped = Event()
        self._watcher = Thread(target=self._watch, name="workers", daemon=True)
        self._look()
        self._watcher.start()
        self._await_first()

    def __len__(self) -> int:
        return len(self._workers)

    def close(self) -> None:
        """Leave the scheduler. What workers are at they end by themselves, and keep."""
        self.abandon()
        self._watcher.join()
        self._cluster.close()

    def abandon(self) -> None:
        """From any thread: nobody waits for an answer any more."""
        self._stopped.set()
        with self._turn:
            self._turn.notify_all()

    @property
    def report(self) -> WorkersReport:
        """What there is to tell by now."""
        with self._turn:
            return WorkersReport(
                self._address, dict(self._answered), self._reruns, dict(self._refused), dict(self._unfit)
            )

    def ask(self, errand: Errand, group: str) -> Answer:
        """Have a worker run a probe, if it can be one that ran in the environment `group` before.

        Raises:
            Abandoned: nobody waits for it any more.
        """
        complaints: dict[str, Answer] = {}
        lost: list[str] = []
        while len(lost) < _DEADLY:
            worker = self._take(complaints, group)
            if worker is None:
                return next(reversed(complaints.values()), None) or _nobody(errand, "NoWorker", self._over or "")
            try:
                answer = self._run(worker, errand)
            except WorkerLost:
                lost.append(worker.name)
                self._lose(worker, errand)
                continue
            finally:
                self._release(worker)
            if answer.refusal is not None:
                self._refuse(worker, answer.refusal)
                continue
            if answer.complaint is None:
                self._count(worker)
                return answer
            complaints[worker.address] = answer
            self._take_down(worker, errand, answer.complaint)
        return _nobody(errand, "WorkersLost", f"{len(lost)} workers were gone while they ran it: {', '.join(lost)}")

    def _run(self, worker: _Worker, errand: Errand) -> Answer:
        answer: Answer = pickle.loads(
            self._cluster.run(worker.address, task(), pickle.dumps(errand), lambda: self._has_left(worker))
        )
        return answer

    def _has_left(self, worker: _Worker) -> bool:
        return self._stopped.is_set() or self._workers.get(worker.address) is not worker

    def _take(self, avoid: Collection[str], group: str) -> _Worker | None:
        """A worker that is free; None where nobody else is there who could be asked."""
        with self._turn:
            limit = time.monotonic() + self._patience
            while True:
                if self._stopped.is_set():
                    raise Abandoned("nobody waits for it any more")
                others = [worker for worker in self._workers.values() if worker.address not in avoid]
                free = [worker for worker in others if not worker.busy]
                if free:
                    chosen = min(
                        free, key=lambda worker: 0 if worker.group == group else 1 if worker.group is None else 2
                    )
                    chosen.busy, chosen.group = True, group
                    return chosen
                if self._over is not None or (avoid and not others):
                    return None
                if not others and time.monotonic() > limit:
                    self._over = f"no worker was left at {self._address} for {self._patience:.0f} s"
                    return None
                self._turn.wait(_LOOK)

    def _release(self, worker: _Worker) -> None:
        with self._turn:
            worker.busy = False
            self._turn.notify_all()

    def _count(self, worker: _Worker) -> None:
        with self._turn:
            self._answered[worker.name] += 1

    def _lose(self, worker: _Worker, errand: Errand) -> None:
        if self._stopped.is_set():
            raise Abandoned("nobody waits for it any more")
        with self._turn:
            self._reruns += 1
            self._workers.pop(worker.address, None)
        self._emit(Note(f"worker {worker.name} is gone; {errand} is run again by another", warning=True))

    def _take_down(self, worker: _Worker, errand: Errand, why: str) -> None:
        """Say once, for each reason, what a worker cannot do."""
        with self._turn:
            known = self._unfit.get(worker.name) == why
            self._unfit[worker.name] = why
        if not known:
            self._emit(Note(f"worker {worker.name} cannot run {errand}: {why}; others are asked", warning=True))

    def _refuse(self, worker: _Worker, why: str) -> None:
        with self._turn:
            self._workers.pop(worker.address, None)
            self._strangers.add(worker.address)
            self._refused[worker.name] = why
        self._emit(Note(f"worker {worker.name} is not used: {why}", warning=True))

    def _watch(self) -> None:
        """Look again and again who is there."""
        while not self._stopped.wait(_LOOK):
            try:
                self._look()
            except SchedulerLost as error:
                with self._turn:
                    self._over = str(error)
                    self._workers.clear()
                    self._turn.notify_all()
                self._emit(Note(str(error), warning=True))
                return

    def _look(self) -> None:
        present = self._cluster.workers()
        with self._turn:
            gone = [address for address in self._workers if address not in present]
            for address in gone:
                del self._workers[address]
            self._strangers &= present
            new = present - self._workers.keys() - self._strangers
            self._turn.notify_all()
        if new:
            self._welcome(self._cluster.ask_all(introduction(), new))

    def _welcome(self, said: Mapping[str, object]) -> None:
        """Take those that are like the asker; refuse the others by name."""
        for address, who in sorted(said.items()):
            if isinstance(who, OSError):
                # It was gone before it answered; if it is there yet, it is asked again.
                continue
            worker = _Worker(address, who.name if isinstance(who, Identity) else address)
            if not isinstance(who, Identity):
                self._refuse(worker, "it was not started by `headwater worker`")
            elif differences := who.differences(self.asker, self._with_series):
                self._refuse(worker, "; ".join(differences))
            else:
                with self._turn:
                    self._workers[address] = worker
                    # What was given up for want of workers stays given up; what is asked from now on can wait for this.
                    self._over = None
                    self._turn.notify_all()

    def _await_first(self) -> None:
        if self._workers:
            return
        what = f"waiting for workers at {self._address}"
        self._emit(Started(what, what, long=True))
        limit = time.monotonic() + self._patience
        with self._turn:
            while not (self._workers or self._refused or self._over) and time.monotonic() < limit:
                self._turn.wait(_LOOK)
        self._emit(Finished(what))
        if not self._workers:
            reasons = "; ".join(f"{name}: {why}" for name, why in sorted(self._refused.items()))
            raise HarnessError(
                f"no worker at {self._address} can be used ({reasons or self._over or 'there is none'}); start one: "
                f"headwater worker {self._address}"
            )


def _nobody(errand: Errand, kind: str, why: str) -> Answer:
    """An errand that nobody ran is no verdict on the library."""
    return Answer(
        ProbeResult(
            errand.case.id, errand.revision, errand.series, errand.device, Verdict.HARNESS_ERROR, Evidence(kind, why),
            0.0, False, "", None,
        )
    )  # fmt: skip
