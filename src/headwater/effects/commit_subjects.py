# SPDX-License-Identifier: Apache-2.0
"""Commits as subjects of probes: the tree is their `src/<package>`, the environment comes from their setup.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from packaging.requirements import Requirement
from packaging.version import Version

from headwater.core.commits import Commit
from headwater.core.environment_choice import choose_release, release_near
from headwater.core.errors import BadInput, EnvironmentUnavailable
from headwater.core.grouping import locked_versions
from headwater.core.pins import Pin, Pins
from headwater.core.setup_requirements import read_setup, stated_version
from headwater.effects.probe import Subject
from headwater.effects.subjects import Subjects
from headwater.effects.upstream_git import Upstream

_SETUP = "setup.py"
_NO_SETUP = "it has no setup.py that would say what it requires"


@dataclass(frozen=True)
class _Parts:
    """The ids of what a commit is judged by: the library's folder, its `__init__.py`, setup.py where there is one."""

    tree: str
    init: str
    setup: str | None


class CommitSubjects:
    """Makes subjects of the commits of one upstream repository. `lock_text` gives the text of a group's lock."""

    def __init__(self, upstream: Upstream, subjects: Subjects, pins: Pins, lock_text: Callable[[str], str]) -> None:
        self._upstream, self._subjects, self._pins = upstream, subjects, pins
        self._lock_text = lock_text
        self._library = f"src/{pins.package}"
        self._parts: dict[str, _Parts] = {}

    def prefetch(self, commits: Sequence[Commit]) -> None:
        """Fetch, in one go, what tells the environments of commits, so that a hunt does not ask for each."""
        parts = [self._parts_of(commit) for commit in commits]
        self._upstream.files([blob for part in parts for blob in (part.init, part.setup) if blob])

    def subject(self, commit: Commit) -> Subject:
        """A commit as what is probed. Where no environment satisfies it, or its setup.py cannot be read, its probes are
        `untestable`, and say why.

        Raises:
            BadInput: the commit has no `src/<package>/__init__.py`.
        """
        parts = self._parts_of(commit)
        pin, untestable = self._environment(parts)
        return self._subjects.held_by(self._upstream, parts.tree, commit.sha, pin, untestable)

    def requirements(self, commit: Commit) -> list[Requirement]:
        """What a commit's setup.py requires.

        Raises:
            EnvironmentUnavailable: it has none, or one that cannot be read.
        """
        setup = self._parts_of(commit).setup
        if setup is None:
            raise EnvironmentUnavailable(_NO_SETUP)
        return list(read_setup(self._upstream.files([setup])[setup].decode("utf-8", "replace")).requirements)

    def _parts_of(self, commit: Commit) -> _Parts:
        if commit.sha not in self._parts:
            init = f"{self._library}/__init__.py"
            ids = self._upstream.paths(commit.sha, self._library, init, _SETUP)
            if self._library not in ids or init not in ids:
                raise BadInput(f"commit {commit} of {self._upstream.name} has no {init}: nothing there can be probed")
            self._parts[commit.sha] = _Parts(ids[self._library], ids[init], ids.get(_SETUP))
        return self._parts[commit.sha]

    def _environment(self, parts: _Parts) -> tuple[Pin, str | None]:
        """The release in whose environment a commit runs, as a pin that asks for the commit's Python; or the nearest
        release and why there is no environment."""
        wanted = [parts.init, *([parts.setup] if parts.setup else [])]
        texts = {blob: content.decode("utf-8", "replace") for blob, content in self._upstream.files(wanted).items()}
        version = stated_version(texts[parts.init]) or self._pins.versions[-1]
        near = release_near(version, self._pins.versions)
        try:
            if parts.setup is None:
                raise EnvironmentUnavailable(_NO_SETUP)
            needs = read_setup(texts[parts.setup])
            chosen = choose_release(needs.requirements, near, self._pins, self._locked)
        except EnvironmentUnavailable as error:
            return self._pins.pin(near), f"commit of {version}: {error}"
        return replace(self._pins.pin(chosen), requires_python=needs.requires_python), None

    @cached_property
    def _locked(self) -> dict[str, dict[str, Version]]:
        return {group.name: locked_versions(self._lock_text(group.lock)) for group in self._pins.groups}
