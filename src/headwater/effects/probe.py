# SPDX-License-Identifier: Apache-2.0
"""One case on one tree in one environment on one device: from the store where it is known, else by a child."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from types import TracebackType

from packaging.version import Version

from headwater.core.cases import Case
from headwater.core.errors import BadInput, EnvironmentUnavailable, HarnessError, ToldToStop
from headwater.core.events import Counted, Emit, Finished, Note, Started, silent
from headwater.core.keys import Device, Limits
from headwater.core.pins import Pin
from headwater.core.recording import Recording
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Outcome, Verdict, combine, disagreement, is_reusable, judge, telling
from headwater.effects.accelerators import alone_on
from headwater.effects.child_process import passed_on, run_child
from headwater.effects.environment_server import EnvironmentServers
from headwater.effects.envs import DatedLock, Environment, Environments
from headwater.effects.outcomes import how_it_ended, outcome_of
from headwater.effects.probe_keys import key_of, limits_of, plain_device
from headwater.effects.recordings import Recordings, Tape
from headwater.effects.server_link import ServerDied
from headwater.effects.store import Store
from headwater.effects.trees import Tree, fault_of, hold
from headwater.effects.watch import ChildRun
from headwater.effects.workspace import Cache

_RECORDED = 4  # how much longer a case may take while it is recorded what it runs
_DEVICE_LIMITS = Limits(seconds=300, memory=0, output=1 << 20, processes=64)


def nothing() -> None:
    """There is nothing to do."""


@dataclass(frozen=True)
class Subject:
    """What is probed: a tree, patched or not.

    `revision` is what people call it; `pin` the release whose environment it runs in; `tree` its id; `lay_out` puts
    it on disk, which nothing needs that is already known (with `distrust=True` where it turned out to be damaged);
    `series` names the series applied to it, without the patches `drop`. `untestable` says why there is no environment
    for it, where that is known without looking. `bring` puts what the tree is made of into the mirror, for a series to
    be applied to it. `dated` are the packages to run with, instead of those of the release's group. `release`: it is
    one, patched or not.
    """

    revision: str
    pin: Pin
    tree: str
    lay_out: Callable[..., Tree]
    series: str | None = None
    untestable: str | None = None
    bring: Callable[[], object] = nothing
    dated: DatedLock | None = None
    release: Version | None = None
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProbeOptions:
    """How to probe. `fresh`: run what is known as well; `repeat`: how often each; `allow_network`: for cases with
    `network = true`."""

    fresh: bool = False
    repeat: int = 1
    allow_network: bool = False


class Prober:
    """Probes, and remembers in `store`, by default that of the cache. A context manager, which ends the fork servers.
    `ran` counts the probes that were run; `begins` is called before one is, and not where its verdict is known;
    `options` may be others between two probes."""

    def __init__(
        self, cache: Cache, environments: Environments, package: str, options: ProbeOptions, emit: Emit = silent,
        store: Store | None = None,
    ) -> None:  # fmt: skip
        self._cache, self._environments, self._package = cache, environments, package
        self.options, self._emit = options, emit
        self._store = store or Store(cache.store, emit)
        self._recordings = Recordings(cache, emit)
        self._devices: dict[tuple[str, str], Device | str] = {}
        self._exits = ExitStack()
        self._missing: dict[str, HarnessError] = {}
        self._abandoned = Event()
        self.ran = 0
        self.begins: Callable[[], object] = nothing

    def __enter__(self) -> Prober:
        self._exits.enter_context(self._store.held())
        self._scratch = self._exits.enter_context(self._cache.building("probe"))
        self._servers = self._exits.enter_context(EnvironmentServers(self._scratch, self._emit, self._abandoned.is_set))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exits.close()

    def probe(self, subject: Subject, case: Case, device: str, first: int = 0, fresh: bool = False) -> ProbeResult:
        """Probe, as often as was asked for, and give the one verdict of all repetitions, which are counted from
        `first`. With `fresh` what is known runs again.

        Raises:
            ToldToStop: what was run ended with an exit status from 128 on.
        """
        numbers = range(first, first + self.options.repeat)
        rows = [self._once(subject, case, device, n, fresh or self.options.fresh) for n in numbers]
        verdicts = [row.verdict for row in rows]
        verdict, shown = combine(verdicts), rows[telling(verdicts)]
        if verdict is Verdict.FLAKY:
            shown = replace(shown, evidence=disagreement(verdicts, shown.evidence))
        seconds = sum(row.seconds for row in rows)
        outcomes = tuple(outcome for row in rows for outcome in row.outcomes)
        cached = all(row.cached for row in rows)
        return replace(shown, verdict=verdict, seconds=seconds, cached=cached, outcomes=outcomes, repetitions=len(rows))

    def abandon(self) -> None:
        """From another thread: end what is being probed, at once and without a verdict."""
        self._abandoned.set()

    @property
    def repeats(self) -> int:
        """How many repetitions one probe takes."""
        return self.options.repeat

    def record(self, subject: Subject, case: Case, device: str) -> Recording:
        """Record what a case runs of the library, or recall it. It is a probe of its own, with more time than the case
        has otherwise; its outcome answers for no verdict.

        Raises:
            BadInput: the case needs the network, which is not allowed.
            EnvironmentUnavailable: there is no environment.
            HarnessError: there is no such device, or the probe could not be run.
        """
        if case.network and not self.options.allow_network:
            raise BadInput(f"{case.id} needs --allow-network")
        if subject.untestable is not None:
            raise EnvironmentUnavailable(subject.untestable)
        environment = self._environments.describe(subject.pin, subject.dated)
        found = self._device(environment, device)
        if isinstance(found, str):
            raise HarnessError(f"{case.id} cannot be recorded on {device}: {found}")
        limits = limits_of(device, case.time_limit * _RECORDED)
        key = key_of(subject.tree, case, environment.key, found, limits)
        known = None if self.options.fresh else self._recordings.recall(subject.tree, key)
        if known is not None:
            return known
        with Tape(self._scratch / "tape") as tape:
            outcome, _output = self._run(subject, case, environment, device, limits, tape)
            recording = tape.recording(outcome)
        self._recordings.keep(subject.tree, key, recording)
        return recording

    def _once(self, subject: Subject, case: Case, device: str, repetition: int, fresh: bool) -> ProbeResult:
        """One repetition. What cannot be tested, and what fails on the machine's side, is a row like any other: the
        rest of a run goes on."""
        row = ProbeResult(
            case.id, subject.revision, subject.series, device, Verdict.UNTESTABLE, Evidence(), 0.0, False,
            subject.tree, None,
        )  # fmt: skip
        if (stands := case.without_probe(subject.release, device, self.options.allow_network)) is not None:
            return replace(row, verdict=stands[0], evidence=stands[1])
        try:
            if subject.untestable is not None:
                raise EnvironmentUnavailable(subject.untestable)
            environment = self._environments.describe(subject.pin, subject.dated)
            row = replace(row, environment=environment.key)
            return self._known_or_run(row, subject, case, environment, repetition, fresh)
        except EnvironmentUnavailable as error:
            return _without_probe(row, Verdict.UNTESTABLE, "EnvironmentUnavailable", str(error))
        except ToldToStop:
            raise
        except HarnessError as error:
            return _without_probe(row, Verdict.HARNESS_ERROR, type(error).__name__, str(error))

    def _known_or_run(
        self, row: ProbeResult, subject: Subject, case: Case, environment: Environment, repetition: int, fresh: bool
    ) -> ProbeResult:
        device = self._device(environment, row.device)
        if isinstance(device, str):
            return _without_probe(row, Verdict.UNAVAILABLE, "DeviceUnavailable", device)
        limits = limits_of(row.device, case.time_limit)
        key = key_of(subject.tree, case, environment.key, device, limits, repetition)
        known = None if fresh else self._store.recall(key)
        if known is not None:
            return _judged(row, known, case, cached=True)
        outcome, output = self._run(subject, case, environment, row.device, limits)
        self._store.record(
            key, outcome, case=case.id, revision=subject.revision, tree=subject.tree, environment=environment.key,
            device=row.device, output=output,
        )  # fmt: skip
        if outcome.end == "aborted":
            raise ToldToStop(
                f"{case.id} on {subject.revision} ended with {outcome.evidence.type} ({outcome.evidence.message}); "
                "an exit status from 128 on, or a signal, means that nothing more should run"
            )
        if not is_reusable(outcome):
            self._emit(Note(f"{case.id} on {subject.revision}: {outcome.evidence.message}", warning=True))
        return _judged(row, outcome, case, cached=False)

    def _device(self, environment: Environment, name: str) -> Device | str:
        """The device with its model and driver, or why it is not there."""
        if environment.torch is None and name != "cpu":
            return f"{self._package} is probed without torch, and so on cpu alone"
        if plain := plain_device(name):
            return plain
        place = (environment.key, name)
        if place not in self._devices:
            self._environments.ensure(environment)
            self._devices[place] = self._ask_for_device(environment, name)
        return self._devices[place]

    def _ask_for_device(self, environment: Environment, name: str) -> Device | str:
        run = self._answer(environment, {"op": "device", "device": name}, {}, _DEVICE_LIMITS, plain=False)
        said = run.last("device")
        if said is None:
            raise HarnessError(f"asking torch for {name} failed: {how_it_ended(run)}")
        if not said["available"]:
            return f"torch {environment.torch} says: {said['reason'].splitlines()[0]}"
        return Device(name, said["model"], said["driver"])

    def _run(
        self, subject: Subject, case: Case, environment: Environment, device: str, limits: Limits,
        tape: Tape | None = None,
    ) -> tuple[Outcome, str]:  # fmt: skip
        """Probe once. Where the machine is at fault, and can be mended, it is, and the probe runs once more."""
        self.begins()
        what = f"probing {case.id} on {subject.revision}{' patched' if subject.series else ''} ({device})"
        # Several probers may probe what is called the same; each probes one thing at a time.
        key = f"{what}, {id(self)}"
        with ExitStack() as holds:
            plain = case.network or sys.platform != "linux"
            if not plain and environment.folder.exists():
                # It starts while files are looked at; where they have changed, it was for nothing.
                self._begin_server(environment)
            tree = self._tree_of(subject, holds)
            self._environments.ensure(environment)
            self._emit(Started(key, what))
            holds.callback(self._emit, Finished(key))
            run = self._on_tree(tree, case, environment, device, limits, tape)
            if run.last("damage") is not None:
                tree = hold(partial(subject.lay_out, distrust=True), holds)
                run = self._on_tree(tree, case, environment, device, limits, tape)
            outcome = outcome_of(run, limits)
            if outcome.end == "returned" and (fault := fault_of(tree)):
                # By the case, or by somebody else: what it ran on was not what it should have run on.
                outcome = replace(outcome, end="harness", evidence=Evidence("DamagedTree", f"meanwhile {fault}"))
            if outcome.end == "harness" and self._environments.look_again(environment):
                self._servers.discard(environment.key)
                run = self._on_tree(self._tree_of(subject, holds), case, environment, device, limits, tape)
                outcome = outcome_of(run, limits)
            self.ran += 1
            return outcome, run.output

    def _tree_of(self, subject: Subject, holds: ExitStack) -> Tree:
        """The subject on disk, held; what could not be had once in this run is not tried again for the next case."""
        if subject.tree in self._missing:
            raise self._missing[subject.tree]
        try:
            return hold(subject.lay_out, holds)
        except HarnessError as error:
            self._missing[subject.tree] = error
            self._emit(Note(f"{subject.revision} cannot be probed: {error}", warning=True))
            raise

    def _begin_server(self, environment: Environment) -> None:
        with contextlib.suppress(ServerDied):  # then the probe will say so
            key, torch = environment.key, environment.torch is not None
            self._servers.begin(key, environment.python, environment.preload, torch)

    def import_ahead(self, subject: Subject, case: Case, device: str) -> None:
        """Have the library of a tree, which is laid out, imported by a server that runs, for a probe that may come;
        nobody waits for it.

        Raises:
            ServerDied: the server is gone.
        """
        environment = self._environments.describe(subject.pin, subject.dated)
        limits = limits_of(device, case.time_limit)
        work = str(self._servers.scratch_of(environment.key).work)
        request = {**self._request(subject.lay_out(), case, device, limits), "work": work}
        self._servers.import_ahead(environment.key, {**request, "seconds": limits.seconds})

    def _request(self, tree: Tree, case: Case, device: str, limits: Limits) -> dict[str, object]:
        return {
            "op": "probe", "tree": str(tree.path), "manifest": str(tree.manifest), "code": str(self._cache.code),
            "package": self._package, "case": case.file, "device": device, "memory": limits.memory,
        }  # fmt: skip

    def _on_tree(
        self, tree: Tree, case: Case, environment: Environment, device: str, limits: Limits, tape: Tape | None
    ) -> ChildRun:
        request = {**self._request(tree, case, device, limits), **(tape.wind(tree) if tape else {})}
        # The library's modules remember whether they may use the network: such a case gets an interpreter of its own.
        run = self._answer(environment, request, case.files, limits, plain=case.network)
        if tape:
            tape.take(run)
        counts = run.last("code") or {"compiled": 0, "damaged": []}
        self._emit(Counted("compilations", counts["compiled"]))
        if counts["damaged"]:
            names = ", ".join(counts["damaged"])
            self._emit(Note(f"damaged byte code was made anew: {names}", warning=True))
        return run

    def _answer(
        self, environment: Environment, request: dict[str, object], files: Mapping[str, bytes], limits: Limits,
        plain: bool,
    ) -> ChildRun:  # fmt: skip
        """Have a child answer: a fork, or a process of its own with `plain` or where there are no fork servers."""
        scratch = self._servers.scratch_of(environment.key)
        renew = partial(scratch.renew, files)
        variables = {"HEADWATER_DEVICE": str(request["device"])}
        if plain:
            variables["HF_HUB_OFFLINE"] = "0"
        request = {
            **request, "torch": environment.torch is not None, "cases": str(scratch.cases), "work": str(scratch.work),
            "variables": variables,
        }  # fmt: skip
        try:
            with alone_on(str(request["device"]), passed_on(), self._abandoned.is_set, self._emit):
                if plain or sys.platform != "linux":
                    renew()
                    return run_child(environment.python, request, scratch, limits, self._abandoned.is_set)
                key, python = environment.key, environment.python
                return self._servers.answer(key, python, environment.preload, request, limits, renew)
        except ServerDied as error:
            return ChildRun(events=[], status=1, output=str(error))


def _without_probe(row: ProbeResult, verdict: Verdict, kind: str, message: str) -> ProbeResult:
    return replace(row, verdict=verdict, evidence=Evidence(kind, message))


def _judged(row: ProbeResult, outcome: Outcome, case: Case, cached: bool) -> ProbeResult:
    verdict = judge(outcome, case.signatures, case.absent)
    return replace(
        row, verdict=verdict, evidence=outcome.evidence, seconds=outcome.seconds, cached=cached, tests=outcome.tests,
        outcomes=(outcome,),
    )  # fmt: skip
