# SPDX-License-Identifier: Apache-2.0
"""What a probe costs: warm, as a plain process, as a bare fork, and on a release that was not probed before.

The trees, their files, their byte code and the store are the bench's own, so that it can take some away between two
rounds; mirror, wheels and environments are those of the cache.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from samples import Row, Sampler, Samples, interleaved, timed, whole_process

from headwater.commands.context import Context
from headwater.core.cases import Case
from headwater.core.errors import HarnessError
from headwater.core.pins import Pin
from headwater.core.verdicts import Verdict
from headwater.effects import environment_server
from headwater.effects.child_process import Scratch, child_environment
from headwater.effects.envs import Environment
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.effects.subjects import Subjects
from headwater.effects.trees import Trees
from headwater.effects.workspace import Cache

RELEASE, NEIGHBOUR, CASE = "5.10.1", "5.10.2", "early-init"
BARE_FORK = Path(__file__).with_name("bare_fork.py")
BAD = 1  # how a case on which the bug shows ends under plain python
WARM, PROCESS, FORK, FIRST = "warm probe", "python early_init.py", "bare fork", "first probe of 5.10.2"
FURTHER = "further probe of a tree"
AIMS = {PROCESS: 0.25, FORK: 1.25}
FIRST_AIM, FURTHER_AIM = 2.0, 0.5


@dataclass(frozen=True)
class Pace:
    """How many rounds, and how many turns of probes and plain processes a round."""

    rounds: int
    probes: int
    processes: int


class Bench:
    """What the samplers share; `folder` is the bench's own and goes with it."""

    def __init__(self, context: Context, folder: Path, exits: ExitStack) -> None:
        workspace = context.workspace
        self._context, self._exits = context, exits
        self.cache, self.home = Cache(folder / "cache", "transformers"), Scratch(folder / "plain")
        self.case: Case = workspace.cases()[CASE]
        self.home.renew(self.case.files)
        self.trees = Trees(self.cache, context.mirror.git, workspace.pins.package, context.emit)
        subjects = Subjects(self.cache, workspace.pins, context.mirror, self.trees, context.emit)
        self.pin: Pin = workspace.pins.find(RELEASE)
        self.release = subjects.release(self.pin)
        self.neighbour = subjects.release(workspace.pins.find(NEIGHBOUR))
        self.environment: Environment = context.environments.describe(self.pin)
        options = ProbeOptions(fresh=True)
        prober = Prober(self.cache, context.environments, workspace.pins.package, options, context.emit)
        self.prober = exits.enter_context(prober)
        # One tree's library stays imported, so that a probe of another one ends that.
        exits.callback(setattr, environment_server, "_KEPT", environment_server._KEPT)
        environment_server._KEPT = 1

    def probe(self, subject: Subject) -> None:
        """Probe, as a command does.

        Raises:
            HarnessError: the verdict is not what it is known to be, so that something else was measured.
        """
        row = self.prober.probe(subject, self.case, "cpu")
        if row.verdict is not Verdict.BAD or row.cached:
            raise HarnessError(f"{CASE} on {subject.revision} is {row.verdict.words}: {row.evidence.message}")

    def warm_up(self) -> None:
        """Have tree, environment, byte code and the neighbour's objects there, and the server know its modules."""
        self._context.mirror.ensure_all([self.pin, self.neighbour.pin])
        for _ in range(3):
            self.probe(self.release)

    @cached_property
    def _plain_environment(self) -> dict[str, str]:
        """What plain processes run with: as in a probe, with the tree on the path. Their byte code is their own: what
        they wrote into the environment would be damage to it."""
        code = str(self.cache.root.parent / "plain-code")
        return {
            **child_environment(self.home), "PYTHONPATH": str(self.release.lay_out().path),
            "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": code,
        }  # fmt: skip

    def _plain(self, runs: int) -> list[float]:
        argv = [self.environment.python, self.home.cases / self.case.file]
        environ = self._plain_environment
        return whole_process(argv, runs=runs, folder=self.home.work, environ=environ, status=BAD)

    def warm(self) -> list[float]:
        """What a probe of a tree costs whose library this run has not imported."""
        self.probe(self.neighbour)
        return [timed(partial(self.probe, self.release))]

    def further(self) -> list[float]:
        """What one more probe of a tree costs."""
        self.probe(self.release)
        return [timed(partial(self.probe, self.release))]

    def first(self) -> list[float]:
        """What the first probe of the neighbour costs; forgotten before."""
        self.probe(self.release)
        self._forget(self.neighbour.tree, self._own_files())
        return [timed(partial(self.probe, self.neighbour))]

    def _own_files(self) -> set[str]:
        """The blobs of the neighbour that the release does not have."""
        git = self._context.mirror.git
        trees = (self.neighbour.tree, self.release.tree)
        lines = [git("ls-tree", "-r", "--format=%(objectname)", tree).split() for tree in trees]
        return set(lines[0]) - set(lines[1])

    def _forget(self, tree: str, blobs: Collection[str]) -> None:
        shutil.rmtree(self.cache.trees / tree, ignore_errors=True)
        for folder in (self.cache.blobs, *self.cache.code.iterdir()):
            for blob in blobs:
                for name in (blob, f"{blob}.x"):
                    (folder / blob[:2] / name).unlink(missing_ok=True)

    def plain_process(self, runs: int) -> Sampler:
        """Samples `python early_init.py`, several runs at once; its byte code is there."""
        self._plain(1)
        return partial(self._plain, runs)

    def bare_fork(self) -> Sampler:
        """Samples bare forks of one process, started here and ended with the bench; their byte code is there."""
        words = [BARE_FORK, self.environment.preload.path, self.home.cases, Path(self.case.file).stem]
        argv = [str(self.environment.python), *map(str, words)]
        process = self._exits.enter_context(_talking(argv, self.home.work, self._plain_environment))
        sample = partial(_ask, process)
        sample()
        return sample


def _ask(process: subprocess.Popen[str]) -> list[float]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("fork\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise HarnessError(f"{BARE_FORK.name} ended with status {process.wait()}")
    return [float(answer)]


@contextmanager
def _talking(argv: list[str], folder: Path, environ: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        argv, cwd=folder, env={**os.environ, **environ}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


def measure(
    context: Context, folder: Path, pace: Pace, wanted: Collection[str], tell: Callable[[str], None]
) -> list[Row]:
    """Measure warm probes against each of `wanted`, all in turns."""
    with ExitStack() as exits:
        bench = Bench(context, folder, exits)
        tell(f"warming up: {RELEASE} and {NEIGHBOUR}, {CASE}")
        bench.warm_up()
        samplers: dict[str, Sampler] = {WARM: bench.warm, FURTHER: bench.further}
        if FORK in wanted:
            samplers[FORK] = bench.bare_fork()
        if FIRST in wanted:
            samplers[FIRST] = bench.first
            samplers[FIRST]()  # the mirror's pack is read for the first time
        turns = [*samplers] * pace.probes
        if PROCESS in wanted:
            samplers[PROCESS] = bench.plain_process(pace.processes)
            turns.append(PROCESS)
        found = interleaved(samplers, turns, pace.rounds, tell)
    samples = {name: Samples(name, tuple(values)) for name, values in found.items()}
    rows = [Row(samples[WARM], samples[name], aim) for name, aim in AIMS.items() if name in samples]
    rows += [Row(samples[FURTHER], samples[WARM], FURTHER_AIM)]
    return rows + ([Row(samples[FIRST], samples[WARM], FIRST_AIM)] if FIRST in samples else [])
