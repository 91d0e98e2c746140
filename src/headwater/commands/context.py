# SPDX-License-Identifier: Apache-2.0
"""What every command works with: the workspace, and the effects put together over its caches."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from packaging.version import Version

from headwater.core.errors import EnvironmentUnavailable
from headwater.core.events import Emit
from headwater.core.pins import Pin
from headwater.core.results import ProbeResult, Surroundings
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.dated_locks import DatedLocks
from headwater.effects.envs import Environments
from headwater.effects.index import Index
from headwater.effects.locks import LockMaker
from headwater.effects.mirror import Mirror
from headwater.effects.probe import ProbeOptions, Prober, Subject
from headwater.effects.sdists import sdist_file
from headwater.effects.store import Store
from headwater.effects.subjects import Subjects
from headwater.effects.targets import UpstreamFiles
from headwater.effects.trees import Trees
from headwater.effects.upstream_git import Upstream, open_upstream
from headwater.effects.workspace import Cache, Workspace, find_root


@dataclass(frozen=True)
class Context:
    """One run of a command. `emit` takes its events; `offline` forbids the network; what must be ended when the run
    ends is entered into `exits`; `exclusive` holds the caches against every other run."""

    root: Path | None
    emit: Emit
    offline: bool
    exits: ExitStack
    exclusive: bool = False

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace that was named, or that the current folder lies in."""
        return Workspace(find_root(self.root or Path.cwd()))

    @cached_property
    def cache(self) -> Cache:
        """The caches, held until the run ends.

        Raises:
            HarnessError: another run removes things from them; with `exclusive`, another run uses them.
        """
        cache = self.workspace.cache
        self.exits.enter_context(cache.used(self.exclusive))
        return cache

    @cached_property
    def index(self) -> Index:
        """The package index."""
        return Index(self.emit, self.offline)

    @cached_property
    def mirror(self) -> Mirror:
        """The mirror."""
        return Mirror(self.cache, self.workspace.pins, self.index, self.emit)

    @cached_property
    def trees(self) -> Trees:
        """The trees."""
        return Trees(self.cache, self.mirror.git, self.workspace.pins.package, self.emit)

    @cached_property
    def environments(self) -> Environments:
        """The environments."""
        return Environments(self.workspace, lambda: self.index, self.emit, self.offline)

    @cached_property
    def subjects(self) -> Subjects:
        """From names to what is probed."""
        return Subjects(self.cache, self.workspace.pins, self.mirror, self.trees, self.emit)

    def group_name(self, release: Version) -> str:
        """The name of a release's environment; the release itself, where it has none."""
        try:
            return self.workspace.pins.group_of(release).name
        except EnvironmentUnavailable:
            return str(release)

    def upstream(self, location: str) -> Upstream:
        """The upstream repository at an address or a path (`--repo`)."""
        return open_upstream(self.cache, location, self.emit, self.offline)

    def commits(self, upstream: Upstream) -> CommitSubjects:
        """From commits to what is probed."""
        return CommitSubjects(upstream, self.subjects, self.workspace.pins, self.workspace.lock_text)

    @cached_property
    def locks(self) -> LockMaker:
        """What makes locks."""
        pins = self.workspace.pins
        return LockMaker(pins.package, pins.torch, self.index, self.cache.wheels, self.emit)

    @cached_property
    def dated_locks(self) -> DatedLocks:
        """Locks of the packages of a day."""
        return DatedLocks(self.cache, self.locks, self.emit, self.offline)

    def sdist(self, pin: Pin) -> UpstreamFiles:
        """Upstream's files beside the library that a release's sdist holds; it is brought when the first is read."""
        read = partial(sdist_file, self.index, self.cache.wheels, self.workspace.pins.package, pin)
        return UpstreamFiles(str(pin.version), read)

    def prober(self, options: ProbeOptions, store: Store | None = None) -> Prober:
        """A prober on these caches, whose fork servers end with the run; `store` stands for the caches' own."""
        prober = Prober(self.cache, self.environments, self.workspace.pins.package, options, self.emit, store)
        return self.exits.enter_context(prober)

    def surroundings(self, subject: Subject, rows: list[ProbeResult]) -> Surroundings:
        """Where rows came from, for the reader. Without an environment its fields say so."""
        environment = None
        if any(row.environment for row in rows):
            environment = self.environments.describe(subject.pin, subject.dated)
        return Surroundings(
            package=self.workspace.pins.package,
            revision=subject.revision,
            torch=environment.torch if environment else self.workspace.pins.torch,
            python=environment.python_version if environment else "none",
            platform=environment.platform if environment else "none",
            environment=environment.key if environment else None,
            environment_name=environment.name if environment else None,
            devices=tuple(dict.fromkeys(row.device for row in rows)),
        )
