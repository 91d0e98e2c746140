# SPDX-License-Identifier: Apache-2.0
"""Environments: the packages that trees run with, and torch where the library needs it. Keyed by value, created aside
by uv, health-checked, then published by a rename."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from threading import RLock

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from headwater.core.errors import EnvironmentUnavailable, HarnessError, HeadwaterError
from headwater.core.events import Counted, Emit, Finished, Note, Started, silent
from headwater.core.keys import environment_key
from headwater.core.pins import Pin
from headwater.core.results import torch_words
from headwater.effects import proc
from headwater.effects.bytecode import compile_files, modules_in, site_packages
from headwater.effects.index import Index
from headwater.effects.inventory import first_difference, state_below
from headwater.effects.preload import Preload
from headwater.effects.torch_source import TorchSource, find_torch
from headwater.effects.uv import python_version, run_uv
from headwater.effects.workspace import Workspace

_SPACE, _SPACE_WITHOUT_TORCH = 2_000_000_000, 200_000_000
_SCHEMA = 1
_DETAILS = "headwater.json"
# The distribution's version is asked for, not torch.__version__, which names a CUDA build that the index's does not.
_TORCH_HEALTH = (
    "import importlib.metadata, torch; torch.ones(2).sum().item(); has = importlib.metadata.version('torch')"
)
_HEALTH = "import json, platform; print(json.dumps([has, platform.python_version()]))"


@dataclass(frozen=True)
class DatedLock:
    """The packages of one day, as the text of a lock, for what is not to run in its group's environment."""

    day: str
    text: str

    @property
    def name(self) -> str:
        """What the environment is called."""
        return f"packages of {self.day}"


@dataclass(frozen=True)
class Environment:
    """An environment, built or to be built. `name` is that of its group of releases, or of the day of its packages;
    `lock` the text of its lock."""

    key: str
    name: str
    lock: str
    torch: str | None
    python_version: str
    platform: str
    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.folder / "bin" / "python"

    @property
    def preload(self) -> Preload:
        """What its server imports ahead of probes; beside the environment, which stays as it was published."""
        return Preload(self.folder.with_suffix(".preload.json"))


class Environments:
    """The environments of a workspace."""

    def __init__(
        self, workspace: Workspace, index: Callable[[], Index], emit: Emit = silent, offline: bool = False
    ) -> None:
        self._workspace, self._index, self._emit, self._offline = workspace, index, emit, offline
        self._failed: dict[str, HeadwaterError] = {}
        self._whole: set[str] = set()
        self._looking: dict[str, RLock] = {}

    @cached_property
    def _torch(self) -> TorchSource | None:
        wanted = self._workspace.pins.torch
        return find_torch(wanted, self._index(), self._offline) if wanted else None

    @property
    def torch(self) -> str | None:
        """The torch that environments get on this machine, with its build; None where the library needs none.

        Raises:
            EnvironmentUnavailable: it cannot be had.
        """
        return self._torch.version if self._torch else None

    def describe(self, pin: Pin, dated: DatedLock | None = None) -> Environment:
        """The environment of a release, with the packages of its group or of one day. It need not be built yet: its
        key is enough to look up verdicts.

        Raises:
            EnvironmentUnavailable: there is none for this Python; the message says why.
        """
        python = python_version()
        if pin.requires_python and Version(python) not in SpecifierSet(pin.requires_python):
            raise EnvironmentUnavailable(
                f"{self._workspace.pins.package} {pin.version} needs Python {pin.requires_python}, and this is {python}"
            )
        if dated is not None:
            name, lock = dated.name, dated.text
        else:
            group = self._workspace.pins.group_of(pin.version)
            name, lock = group.name, self._workspace.lock_text(group.lock)
        platform = sysconfig.get_platform()
        key = environment_key(lock, self.torch, python, platform)
        folder = self._workspace.cache.environments / key[:20]
        return Environment(key, name, lock, self.torch, python, platform, folder)

    def ensure(self, environment: Environment) -> bool:
        """Build an environment unless it is there: whether that was done now. Once a run all its files are looked at;
        one that something deleted from or wrote to is named and built anew.

        Raises:
            EnvironmentUnavailable: there is none for this Python or platform; the message says why.
            HarnessError: it could not be built now. Every later call says either again without another attempt.
        """
        # By one thread: what the others would do meanwhile is the same.
        with self._looking.setdefault(environment.key, RLock()):
            if environment.key in self._failed:
                raise self._failed[environment.key]
            if environment.key in self._whole:
                return False
            fault = _fault(environment)
            if fault is not None:
                with self._workspace.cache.lock("envs"):
                    fault = _fault(environment)
                    if fault is not None:
                        self._build(environment, fault)
            self._whole.add(environment.key)
            return fault is not None

    def look_again(self, environment: Environment) -> bool:
        """Whether an environment, in which something failed that should not, is damaged: then it is built anew."""
        self._whole.discard(environment.key)
        return self.ensure(environment)

    def _build(self, wanted: Environment, fault: str) -> None:
        cache = self._workspace.cache
        damaged = wanted.folder.exists()
        if damaged:
            self._emit(Note(f"the environment for {wanted.name} is damaged ({fault}); building it anew", warning=True))
        cache.require_space(_SPACE if wanted.torch else _SPACE_WITHOUT_TORCH, "building an environment")
        what = (
            f"building the environment for {wanted.name} ({torch_words(wanted.torch)}, Python {wanted.python_version})"
        )
        self._emit(Started(what, what, long=True))
        note = "failed"
        try:
            with cache.building("env") as folder:
                env = folder / "env"
                modules = self._fill(env, folder, wanted, anew=damaged)
                cache.environments.mkdir(parents=True, exist_ok=True)
                if damaged:
                    wanted.folder.rename(folder / "old")
                env.rename(wanted.folder)
                wanted.preload.write(modules)
            self._emit(Counted("environments", 1))
            note = ""
        except HeadwaterError as error:
            self._failed[wanted.key] = _build_failure(wanted, error)
            raise self._failed[wanted.key] from error
        finally:
            self._emit(Finished(what, note))

    def _fill(self, env: Path, folder: Path, wanted: Environment, anew: bool) -> list[str]:
        """Make the environment at `env`, and give the modules in it that probes import, as far as they are known."""
        imports = self._workspace.imports
        requirements = folder / "requirements.txt"
        requirements.write_text(wanted.lock, encoding="utf-8")
        python = env / "bin" / "python"
        run_uv("venv", "--quiet", "--no-project", "--relocatable", "--python", sys.executable, str(env))
        install = ["pip", "install", "--quiet", "--python", str(python)]
        install += [] if imports else ["--compile-bytecode"]
        # What is damaged may be linked to uv's own cache: that is passed by then.
        install += ["--no-cache"] if anew else []
        run_uv(*install, "--require-hashes", "--requirements", str(requirements), offline=self._offline)
        if self._torch is not None:
            # The lock holds what torch requires: this adds torch alone, or torch and the libraries of a CUDA build.
            run_uv(*install, *self._torch.arguments, offline=self._offline)
        modules = modules_in(site_packages(env), imports)
        if modules:
            # Nothing compiles them later, since nothing is written to an environment.
            compile_files(python, list(modules.values()), folder)
        _check_health(env, wanted)
        _describe(env, wanted)
        return list(modules)


def _build_failure(wanted: Environment, error: HeadwaterError) -> HeadwaterError:
    """Whether there is no such environment, or the machine or the index failed: only uv's own words tell."""
    if not isinstance(error, proc.ProcessFailed):
        return error
    message = f"the environment for {wanted.name} could not be built: {error.output}"
    impossible = "No solution found" in error.output or "no wheels with a matching" in error.output
    return EnvironmentUnavailable(message) if impossible else HarnessError(message)


def _check_health(env: Path, wanted: Environment) -> None:
    """Start the new interpreter, and import torch where it is to have it: what is published works.

    Raises:
        ProcessFailed: it does not.
        EnvironmentUnavailable: it says another version than was asked for.
    """
    code = f"{_TORCH_HEALTH if wanted.torch else 'has = None'}\n{_HEALTH}"
    out = proc.run([str(env / "bin" / "python"), "-I", "-B", "-c", code], seconds=300)
    seen = json.loads(out.strip().splitlines()[-1])
    if seen != [wanted.torch, wanted.python_version]:
        raise EnvironmentUnavailable(
            f"the environment for {wanted.name} came out with {torch_words(seen[0])} and Python {seen[1]} instead "
            f"of {torch_words(wanted.torch)} and {wanted.python_version}"
        )


def _describe(env: Path, wanted: Environment) -> None:
    """Write down, inside an environment, what it is and every file of it."""
    details = {key: value for key, value in asdict(wanted).items() if key not in ("folder", "lock")}
    record = {"schema": _SCHEMA, **details, "files": state_below(env)}
    (env / _DETAILS).write_text(json.dumps(record), encoding="utf-8")


def _fault(environment: Environment) -> str | None:
    """What is wrong with an environment on disk, None where it is as it was published."""
    try:
        record = json.loads((environment.folder / _DETAILS).read_text(encoding="utf-8"))
        wanted = {path: (size, changed) for path, (size, changed) in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"its record cannot be read: {error}"
    seen = {path: state for path, state in state_below(environment.folder).items() if path != _DETAILS}
    different = first_difference(wanted, seen)
    return f"{different} was added, removed or written to" if different else None
