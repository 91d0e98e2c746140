# SPDX-License-Identifier: Apache-2.0
"""Who is asked, and what becomes of a probe whose worker is gone or cannot run it; the workers do as they are told."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, cast

import pytest
from bench import wait_for

from headwater.commands.remote.errand import Answer, Errand
from headwater.commands.remote.workers import Workers
from headwater.core.cases import Case
from headwater.core.errors import Abandoned, HarnessError
from headwater.core.events import Event as Told
from headwater.core.events import Note
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Outcome, Verdict
from headwater.core.workers import SERIES, Identity
from headwater.effects.cluster import Cluster, SchedulerLost, WorkerLost
from headwater.effects.probe import ProbeOptions

ME = Identity("me", {"Headwater": "0.1.0 (a)", "pins": "p", SERIES: "s"})
CASE = Case("case", "", "case.py", (), "crash", (), 60, False, "", "", {"case.py": b""})
ERRAND = Errand(ME, "5.0.0", None, (), None, None, CASE, "cpu", 0, False, ProbeOptions())
RAN = Outcome("returned", "run", Evidence(), 0.1)
GOOD = ProbeResult("case", "5.0.0", None, "cpu", Verdict.GOOD, Evidence(), 0.1, False, "tree", "env", outcomes=(RAN,))


def without(verdict: Verdict, why: str) -> ProbeResult:
    """The row of a worker that could run nothing."""
    return replace(GOOD, verdict=verdict, evidence=Evidence("HarnessError", why), outcomes=())


@dataclass
class FakeCluster:
    """Stands for a cluster: `they` say how each worker answers, None where it is gone with what it was given."""

    they: dict[str, Callable[[], Answer | None]]
    identities: dict[str, object] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    is_there: bool = True

    def workers(self) -> set[str]:
        if not self.is_there:
            raise SchedulerLost("the scheduler is gone")
        return set(self.they)

    def ask_all(self, _question: object, workers: Collection[str]) -> Mapping[str, object]:
        return {one: self.identities.get(one, replace(ME, name=one)) for one in workers}

    def run(self, worker: str, _task: object, told: bytes, _gone: object) -> bytes:
        assert pickle.loads(told) == ERRAND
        self.asked.append(worker)
        answer = self.they[worker]()
        if answer is None:
            del self.they[worker]
            raise WorkerLost(f"{worker} is gone")
        return pickle.dumps(answer)

    def close(self) -> None:
        self.they.clear()


Make = Callable[..., Workers]
SAID: list[Told] = []


@pytest.fixture
def workers_of() -> Iterator[Make]:
    """The workers of a cluster that do as they are told."""
    made: list[Workers] = []
    SAID.clear()

    def make(cluster: FakeCluster, with_series: bool = False) -> Workers:
        made.append(Workers(cast(Cluster, cluster), "tcp://s:1", ME, with_series, SAID.append, patience=0.5))
        return made[-1]

    yield make
    for workers in made:
        workers.close()


def good() -> Answer:
    return Answer(GOOD, ran=1)


def gone() -> None:
    return None


def says(answer: Answer) -> Callable[[], Answer]:
    return lambda: answer


def notes() -> list[str]:
    return [event.text for event in SAID if isinstance(event, Note)]


def test_what_a_worker_was_at_is_given_to_another(workers_of: Make) -> None:
    workers = workers_of(FakeCluster({"a": gone, "b": gone, "c": good}))
    answer = workers.ask(ERRAND, "env")
    assert answer.row == GOOD
    assert workers.report.answered == {"c": 1}
    assert workers.report.reruns == 2
    assert notes() == [f"worker {name} is gone; case on 5.0.0 (cpu) is run again by another" for name in "ab"]


def test_what_ends_every_worker_is_no_verdict_and_not_given_to_all(workers_of: Make) -> None:
    cluster = FakeCluster(dict.fromkeys("abc", gone) | {"d": good})
    row = workers_of(cluster).ask(ERRAND, "env").row
    assert row is not None
    assert row.verdict is Verdict.HARNESS_ERROR
    assert row.evidence == Evidence("WorkersLost", "3 workers were gone while they ran it: a, b, c")
    assert cluster.asked == ["a", "b", "c"]


@pytest.mark.parametrize("verdict", [Verdict.HARNESS_ERROR, Verdict.UNTESTABLE, Verdict.UNAVAILABLE])
def test_what_one_worker_cannot_run_another_may(workers_of: Make, verdict: Verdict) -> None:
    poor = says(Answer(without(verdict, "no environment")))
    workers = workers_of(FakeCluster({"a": poor, "b": good}))
    assert [workers.ask(ERRAND, "env").row for _ in range(3)] == [GOOD] * 3
    assert workers.report.unfit == {"a": "no environment"}
    assert [note for note in notes() if "no environment" in note] == [
        "worker a cannot run case on 5.0.0 (cpu): no environment; others are asked"
    ]


def test_what_none_can_run_is_shown_as_that(workers_of: Make) -> None:
    cluster = FakeCluster({name: says(Answer(without(Verdict.HARNESS_ERROR, f"{name} has none"))) for name in "ab"})
    row = workers_of(cluster).ask(ERRAND, "env").row
    assert row is not None
    assert (row.verdict, row.evidence.message) == (Verdict.HARNESS_ERROR, "b has none")
    assert sorted(cluster.asked) == ["a", "b"]


def test_a_failure_that_ran_is_an_answer(workers_of: Make) -> None:
    row = replace(GOOD, verdict=Verdict.HARNESS_ERROR, outcomes=(replace(RAN, end="harness"),))
    cluster = FakeCluster({"a": says(Answer(row)), "b": good})
    assert workers_of(cluster).ask(ERRAND, "env").row == row


def test_without_workers_there_is_an_end_and_a_late_one_is_taken(workers_of: Make) -> None:
    cluster = FakeCluster({"a": gone})
    workers = workers_of(cluster)
    row = workers.ask(ERRAND, "env").row
    assert row is not None and row.evidence.type == "NoWorker"
    late = FakeCluster({"a": gone})
    other = workers_of(late)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(other.ask, ERRAND, "env")
        wait_for(lambda: late.asked == ["a"])
        late.they["b"] = good
        assert waiting.result().row == GOOD


def test_a_late_worker_is_waited_for_while_it_is_busy(workers_of: Make) -> None:
    cluster = FakeCluster({"a": gone})
    workers = workers_of(cluster)
    first = workers.ask(ERRAND, "env").row
    assert first is not None and first.evidence.type == "NoWorker"
    begun, go_on = Event(), Event()

    def slow() -> Answer:
        begun.set()
        go_on.wait(20)
        return good()

    cluster.they["b"] = slow
    wait_for(lambda: len(workers) == 1)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(workers.ask, ERRAND, "env")
        begun.wait(20)
        other = pool.submit(workers.ask, ERRAND, "env")
        go_on.set()
        assert [one.result().row, other.result().row] == [GOOD, GOOD]


def test_a_scheduler_that_goes_is_told(workers_of: Make) -> None:
    cluster = FakeCluster({"a": good})
    workers = workers_of(cluster)
    cluster.is_there = False
    wait_for(lambda: len(workers) == 0)
    row = workers.ask(ERRAND, "env").row
    assert row is not None and row.evidence == Evidence("NoWorker", "the scheduler is gone")


def test_a_worker_keeps_its_environment_and_an_idle_one_takes_a_new_one(workers_of: Make) -> None:
    cluster = FakeCluster({"a": good, "b": good})
    workers = workers_of(cluster)
    for group in ("old", "new", "new", "old", "old", "new"):
        workers.ask(ERRAND, group)
    first, second, *rest = cluster.asked
    assert first != second
    assert rest == [second, first, first, second]


def test_who_is_not_like_the_asker_is_refused(workers_of: Make) -> None:
    identities: dict[str, object] = {
        "code": Identity("code", {**ME.parts, "Headwater": "0.1.0 (b)"}),
        "pins": Identity("pins", {**ME.parts, "pins": "q"}),
        "patches": Identity("patches", {**ME.parts, SERIES: "t"}),
        "alien": AttributeError("no such thing"),
    }
    workers = workers_of(FakeCluster(dict.fromkeys(identities, good), identities))
    assert workers.report.refused == {
        "code": "its Headwater is 0.1.0 (b), and here 0.1.0 (a)",
        "pins": "its pins differ",
        "alien": "it was not started by `headwater worker`",
    }
    assert len(workers) == 1
    with pytest.raises(HarnessError, match=r"no worker at tcp://s:1 can be used .*patches: its patches differ"):
        workers_of(FakeCluster(dict.fromkeys(identities, good), identities), with_series=True)


def test_a_worker_that_refuses_is_not_asked_again(workers_of: Make) -> None:
    cluster = FakeCluster({"a": says(Answer(None, refusal="its pins differ")), "b": good})
    workers = workers_of(cluster)
    assert [workers.ask(ERRAND, "env").row for _ in range(2)] == [GOOD] * 2
    assert cluster.asked == ["a", "b", "b"]
    assert workers.report.refused == {"a": "its pins differ"}


def test_nobody_waits_after_an_interrupt(workers_of: Make) -> None:
    held = Event()

    def hold() -> Any:
        held.wait()
        return good()

    cluster = FakeCluster({"a": hold})
    workers = workers_of(cluster)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(workers.ask, ERRAND, "env")
        wait_for(lambda: cluster.asked == ["a"])
        waiting = pool.submit(workers.ask, ERRAND, "env")
        workers.abandon()
        with pytest.raises(Abandoned):
            waiting.result()
        held.set()
