# SPDX-License-Identifier: Apache-2.0
"""One case on one tree in one environment on one device: from the store where it is known, else by a child."""

from __future__ import annotations

import platform
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace

from headwater.core.cases import Case
from headwater.core.errors import EnvironmentUnavailable
from headwater.core.events import Advanced, Emit, Finished, Note, Started, silent
from headwater.core.keys import Device, Limits, verdict_key
from headwater.core.pins import Pin
from headwater.core.results import ProbeResult, has_accelerator
from headwater.core.verdicts import End, Evidence, Outcome, Verdict, combine, is_reusable, judge
from headwater.effects.child import CHILD_VERSION, ChildRun, run_child
from headwater.effects.envs import Environment, Environments
from headwater.effects.store import Store
from headwater.effects.trees import Tree
from headwater.effects.workspace import Cache

_MEMORY = 16 << 30
_OUTPUT = 32 << 20
_PROCESSES = 4096
_DEVICE_LIMITS = Limits(seconds=300, memory=0, output=1 << 20, processes=0)


@dataclass(frozen=True)
class Subject:
    """What is probed: a tree, patched or not.

    `revision` is what people call it; `pin` the release whose environment it runs in; `tree` its id; `lay_out` puts
    it on disk, which nothing needs that is already known; `series` names the series applied to it.
    """

    revision: str
    pin: Pin
    tree: str
    lay_out: Callable[[], Tree]
    series: str | None = None


@dataclass(frozen=True)
class ProbeOptions:
    """How to probe. `fresh`: run what is known as well; `repeat`: how often each; `allow_network`: for cases with
    `network = true`."""

    fresh: bool = False
    repeat: int = 1
    allow_network: bool = False


class Prober:
    """Probes, and remembers. `ran` counts the children that were started for probes."""

    def __init__(
        self,
        cache: Cache,
        environments: Environments,
        package: str,
        options: ProbeOptions,
        emit: Emit = silent,
    ) -> None:
        self._cache, self._environments, self._package = cache, environments, package
        self._options, self._emit = options, emit
        self._store = Store(cache.store)
        self._devices: dict[tuple[str, str], Device | str] = {}
        self.ran = 0

    def probe(self, subject: Subject, case: Case, device: str) -> ProbeResult:
        """Probe, as often as was asked for, and give the one verdict of all repetitions."""
        rows = [self._once(subject, case, device, n) for n in range(self._options.repeat)]
        verdict = combine([row.verdict for row in rows])
        shown = next((row for row in rows if row.verdict is Verdict.BAD), rows[0])
        if verdict is Verdict.FLAKY:
            counts = ", ".join(f"{row.verdict.words}" for row in rows)
            evidence = replace(shown.evidence, message=f"{counts}: {shown.evidence.message or ''}".rstrip(": "))
            shown = replace(shown, evidence=evidence)
        seconds = sum(row.seconds for row in rows)
        return replace(shown, verdict=verdict, seconds=seconds, cached=all(row.cached for row in rows))

    def _once(self, subject: Subject, case: Case, device_name: str, repetition: int) -> ProbeResult:
        row = ProbeResult(
            case.id, subject.revision, subject.series, device_name, Verdict.UNTESTABLE, Evidence(), 0.0, False,
            subject.tree, None,
        )  # fmt: skip
        if case.network and not self._options.allow_network:
            return _without_probe(row, Verdict.UNAVAILABLE, "NetworkNotAllowed", "needs --allow-network")
        try:
            environment = self._environments.describe(subject.pin)
            row = replace(row, environment=environment.key)
            device = self._device(environment, device_name)
        except EnvironmentUnavailable as error:
            return _without_probe(row, Verdict.UNTESTABLE, "EnvironmentUnavailable", str(error))
        if isinstance(device, str):
            return _without_probe(row, Verdict.UNAVAILABLE, "DeviceUnavailable", device)
        limits = Limits(case.time_limit, 0 if has_accelerator(device_name) else _MEMORY, _OUTPUT, _PROCESSES)
        key = verdict_key(
            tree=subject.tree, case_files=case.files, environment=environment.key, device=device, limits=limits,
            child=CHILD_VERSION, repetition=repetition,
        )  # fmt: skip
        known = None if self._options.fresh else self._store.recall(key)
        if known is not None:
            return _judged(row, known, case, cached=True)
        try:
            outcome, output = self._run(subject, case, environment, device_name, limits)
        except EnvironmentUnavailable as error:
            return _without_probe(row, Verdict.UNTESTABLE, "EnvironmentUnavailable", str(error))
        self._store.record(
            key, outcome, case=case.id, revision=subject.revision, tree=subject.tree, environment=environment.key,
            device=device_name, output=output,
        )  # fmt: skip
        if not is_reusable(outcome):
            self._emit(Note(f"{case.id} on {subject.revision}: {outcome.evidence.message}", warning=True))
        return _judged(row, outcome, case, cached=False)

    def _device(self, environment: Environment, name: str) -> Device | str:
        """The device with its model and driver, or why it is not there."""
        if not has_accelerator(name):
            return Device(name, platform.machine() if name == "cpu" else "", "")
        place = (environment.key, name)
        if place not in self._devices:
            self._environments.ensure(environment)
            self._devices[place] = self._ask_for_device(environment, name)
        return self._devices[place]

    def _ask_for_device(self, environment: Environment, name: str) -> Device | str:
        with self._cache.building("device") as scratch:
            run = run_child(environment.python, {"op": "device", "device": name}, scratch, _DEVICE_LIMITS, {})
        said = run.last("device")
        if said is None:
            return f"asking torch for {name} failed: {_how_it_ended(run)}"
        if not said["available"]:
            return f"torch {environment.torch} says: {said['reason'].splitlines()[0]}"
        return Device(name, said["model"], said["driver"])

    def _run(
        self, subject: Subject, case: Case, environment: Environment, device: str, limits: Limits
    ) -> tuple[Outcome, str]:
        tree = subject.lay_out()
        self._environments.ensure(environment)
        what = f"probing {case.id} on {subject.revision}{' patched' if subject.series else ''} ({device})"
        self._emit(Started(what, what, limits.seconds, "s limit"))
        try:
            with self._cache.building("probe") as scratch:
                folder = scratch / "case"
                folder.mkdir()
                for name, content in case.files.items():
                    (folder / name).write_bytes(content)
                request = {
                    "op": "probe", "tree": str(tree.path), "package": self._package, "cases": str(folder),
                    "case": case.file, "device": device, "memory": limits.memory, "processes": limits.processes,
                }  # fmt: skip
                extra = {"HEADWATER_DEVICE": device}
                if case.network:
                    extra["HF_HUB_OFFLINE"] = "0"
                run = run_child(environment.python, request, scratch, limits, extra)
            self.ran += 1
            self._emit(Advanced(what, int(run.seconds)))
            return outcome_of(run, limits), run.output
        finally:
            self._emit(Finished(what))


def outcome_of(run: ChildRun, limits: Limits) -> Outcome:
    """What happened, from what the child said and from how it ended.

    A child that ended without saying how its case ended is never taken for one that returned.
    """
    said = run.last("outcome")
    phase = (run.last("phase") or {"phase": "start"})["phase"]
    if run.stop == "time-limit":
        evidence = Evidence("TimeLimit", f"no end within {limits.seconds} s")
        return Outcome("time-limit", phase, evidence, run.seconds)
    if run.stop == "output-limit":
        evidence = Evidence("OutputLimit", f"printed more than {limits.output} bytes")
        return Outcome("output-limit", phase, evidence, run.seconds)
    if said is not None and (said["end"] != "returned" or run.status == 0):
        evidence = Evidence(said["type"], said["message"], said["frame"])
        return Outcome(said["end"], said["phase"], evidence, run.seconds, said["import_failure"])
    died = Evidence("ProcessDied", _how_it_ended(run))
    # Up to here neither the library nor the case has run: the fault is the environment's, or ours.
    end: End = "harness" if phase in ("start", "device") else "died"
    return Outcome(end, phase, died, run.seconds)


def _how_it_ended(run: ChildRun) -> str:
    last = run.output.strip().splitlines()[-1:] or ["it printed nothing"]
    if run.status < 0:
        return f"ended by signal {-run.status} ({signal.strsignal(-run.status)}); {last[0]}"
    return f"ended with status {run.status} before it was done; {last[0]}"


def _without_probe(row: ProbeResult, verdict: Verdict, kind: str, message: str) -> ProbeResult:
    return replace(row, verdict=verdict, evidence=Evidence(kind, message))


def _judged(row: ProbeResult, outcome: Outcome, case: Case, cached: bool) -> ProbeResult:
    verdict = judge(outcome, case.signatures)
    return replace(row, verdict=verdict, evidence=outcome.evidence, seconds=outcome.seconds, cached=cached)
