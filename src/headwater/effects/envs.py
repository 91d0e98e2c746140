# SPDX-License-Identifier: Apache-2.0
"""Environments: torch and the other packages that trees run with. Keyed by value, created aside by uv,
health-checked, then published by a rename."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from headwater.core.errors import EnvironmentUnavailable
from headwater.core.events import Emit, Finished, Started, silent
from headwater.core.keys import environment_key
from headwater.core.pins import Pin
from headwater.effects import proc
from headwater.effects.index import Index
from headwater.effects.torch_source import TorchSource, find_torch
from headwater.effects.uv import python_version, run_uv
from headwater.effects.workspace import Workspace

_SPACE = 2_000_000_000
_DETAILS = "headwater.json"
# The distribution's version is asked for, not torch.__version__, which names a CUDA build that the index's does not.
_HEALTH = (
    "import importlib.metadata, json, platform, torch; torch.ones(2).sum().item(); "
    "print(json.dumps([importlib.metadata.version('torch'), platform.python_version()]))"
)


@dataclass(frozen=True)
class Environment:
    """An environment, built or to be built. `name` and `lock` are those of its group of releases."""

    key: str
    name: str
    lock: str
    torch: str
    python_version: str
    platform: str
    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.folder / "bin" / "python"


class Environments:
    """The environments of a workspace."""

    def __init__(
        self, workspace: Workspace, index: Callable[[], Index], emit: Emit = silent, offline: bool = False
    ) -> None:
        self._workspace, self._index, self._emit, self._offline = workspace, index, emit, offline
        self._failed: dict[str, str] = {}

    @cached_property
    def _torch(self) -> TorchSource:
        return find_torch(self._workspace.pins.torch, self._index(), self._offline)

    def describe(self, pin: Pin) -> Environment:
        """The environment of a release, which need not be built yet: its key is enough to look up verdicts.

        Raises:
            EnvironmentUnavailable: there is none for this Python; the message says why.
        """
        python = python_version()
        if pin.requires_python and Version(python) not in SpecifierSet(pin.requires_python):
            raise EnvironmentUnavailable(
                f"{self._workspace.pins.package} {pin.version} needs Python {pin.requires_python}, and this is {python}"
            )
        group = self._workspace.pins.group_of(pin.version)
        platform = sysconfig.get_platform()
        key = environment_key(self._workspace.lock_text(group.lock), self._torch.version, python, platform)
        folder = self._workspace.cache.environments / key[:20]
        return Environment(key, group.name, group.lock, self._torch.version, python, platform, folder)

    def ensure(self, environment: Environment) -> None:
        """Build an environment unless it is there.

        Raises:
            EnvironmentUnavailable: it cannot be built; the message says why, and every later call says it again
                without another attempt.
        """
        if environment.key in self._failed:
            raise EnvironmentUnavailable(self._failed[environment.key])
        if not _is_published(environment):
            with self._workspace.cache.lock("envs"):
                if not _is_published(environment):
                    self._build(environment)

    def _build(self, wanted: Environment) -> None:
        cache = self._workspace.cache
        cache.require_space(_SPACE, "building an environment")
        what = f"building the environment for {wanted.name} (torch {wanted.torch}, Python {wanted.python_version})"
        self._emit(Started(what, what))
        note = "failed"
        try:
            with cache.building("env") as folder:
                env = folder / "env"
                _install(env, folder, self._workspace.lock_text(wanted.lock), self._torch, self._offline)
                _check_health(env, wanted)
                details = {k: v for k, v in asdict(wanted).items() if k != "folder"}
                (env / _DETAILS).write_text(json.dumps(details, indent=2) + "\n", encoding="utf-8")
                cache.environments.mkdir(parents=True, exist_ok=True)
                env.rename(wanted.folder)
            note = ""
        except proc.ProcessFailed as error:
            self._failed[wanted.key] = f"the environment for {wanted.name} could not be built: {error.output}"
            raise EnvironmentUnavailable(self._failed[wanted.key]) from error
        finally:
            self._emit(Finished(what, note))


def _install(env: Path, folder: Path, lock: str, torch: TorchSource, offline: bool) -> None:
    requirements = folder / "requirements.txt"
    requirements.write_text(lock, encoding="utf-8")
    python = str(env / "bin" / "python")
    run_uv("venv", "--quiet", "--no-project", "--relocatable", "--python", sys.executable, str(env))
    run_uv(
        "pip", "install", "--quiet", "--python", python, "--require-hashes", "--requirements", str(requirements),
        offline=offline,
    )  # fmt: skip
    # The lock holds what torch requires, so this adds torch alone, or torch and the libraries of a CUDA build.
    run_uv("pip", "install", "--quiet", "--python", python, *torch.arguments, offline=offline)


def _check_health(env: Path, wanted: Environment) -> None:
    """Start the new interpreter and import torch: what is published works.

    Raises:
        ProcessFailed: it does not.
        EnvironmentUnavailable: it says another version than was asked for.
    """
    out = proc.run([str(env / "bin" / "python"), "-I", "-c", _HEALTH], seconds=300)
    seen = json.loads(out.strip().splitlines()[-1])
    if seen != [wanted.torch, wanted.python_version]:
        raise EnvironmentUnavailable(
            f"the environment for {wanted.name} came out with torch {seen[0]} and Python {seen[1]} instead of "
            f"{wanted.torch} and {wanted.python_version}"
        )


def _is_published(wanted: Environment) -> bool:
    return (wanted.folder / _DETAILS).is_file() and wanted.python.exists()
