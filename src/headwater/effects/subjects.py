# SPDX-License-Identifier: Apache-2.0
"""From what the user names (a release, a folder, a series on top) to the subject of a probe."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packaging.version import Version

from headwater.core.environment_choice import release_near
from headwater.core.errors import BadInput
from headwater.core.events import Emit, Note, silent
from headwater.core.mail import Patch
from headwater.core.pins import Pin, Pins
from headwater.core.setup_requirements import stated_version
from headwater.effects.carrying import Carrier, carrying, commit_tree
from headwater.effects.folders import Folders
from headwater.effects.mirror import Holder, Mirror
from headwater.effects.probe import Subject
from headwater.effects.series_folder import Series
from headwater.effects.trees import Tree, Trees
from headwater.effects.workspace import Cache


@dataclass(frozen=True)
class PatchedSubject:
    """A subject with a series on it: also the commit that holds the patches' own tests, and the patches applied."""

    subject: Subject
    commit: str
    patches: tuple[Patch, ...]


class Subjects:
    """Finds subjects; nothing is downloaded or laid out before it is needed."""

    def __init__(self, cache: Cache, pins: Pins, mirror: Mirror, trees: Trees, emit: Emit = silent) -> None:
        self._cache, self._pins, self._mirror, self._trees, self._emit = cache, pins, mirror, trees, emit
        self._folders = Folders(cache, mirror.git, pins.package, emit)

    def release(self, pin: Pin) -> Subject:
        """A release as the index has it. A yanked one is taken, with a warning that quotes the reason."""
        if pin.yanked is not None:
            self._emit(Note(f"{self._pins.package} {pin.version} is yanked from the index: {pin.yanked}", warning=True))
        tree = pin.tree or self._mirror.library_tree(self._mirror.ensure(pin))

        def lay_out(distrust: bool = False) -> Tree:
            # Looking at every file is the dearest part of a probe that is ours: once is enough.
            whole = None if distrust else self._trees.whole(tree)
            if whole is not None:
                return whole
            # The mirror is asked for a tree that is not there, or that has to be made anew.
            self._mirror.ensure(pin)
            return self._trees.ensure(tree, distrust)

        return Subject(
            str(pin.version), pin, tree, partial(self._mirror.mending, lay_out), release=pin.version
        )  # fmt: skip

    def folder(self, path: Path, pin: Pin | None) -> Subject:
        """A checkout of a person's, as it is now. `pin` names the release whose environment it runs in; without, the
        version that the checkout itself states decides.

        Raises:
            BadInput: no library there, or no release to be told from it.
        """
        self._mirror.prepare()
        tree = self._folders.read(path)
        chosen = pin or self._pin_of_folder(path, tree)
        return Subject(str(path), chosen, tree, partial(self._trees.ensure, tree))

    def _pin_of_folder(self, path: Path, tree: str) -> Pin:
        release = self._pins.release_of_tree(tree)
        if release is not None:
            return self._pins.pin(release)
        text = (self._folders.library_in(path) / "__init__.py").read_text(encoding="utf-8", errors="replace")
        version = stated_version(text)
        if version is None:
            raise BadInput(
                f"--tree {path}: its __init__.py states no version; name the release whose environment it needs, "
                f"e.g. `headwater repro {self._pins.versions[-1]} --tree {path}`"
            )
        return self._pins.pin(release_near(version, self._pins.versions))

    def held_by(self, other: Holder, tree: str, revision: str, pin: Pin, untestable: str | None = None) -> Subject:
        """A tree that another repository holds; it is copied into the mirror when it is laid out, or patched."""

        def lay_out(distrust: bool = False) -> Tree:
            whole = None if distrust else self._trees.whole(tree)
            if whole is not None:
                return whole
            self._mirror.take(tree, other)
            return self._trees.ensure(tree, distrust)

        bring = partial(self._mirror.take, tree, other)
        return Subject(revision, pin, tree, partial(self._mirror.mending, lay_out), untestable=untestable, bring=bring)

    def patched(self, subject: Subject, series: Series, drop: Collection[str] = ()) -> PatchedSubject:
        """The same release or folder with a series applied on a copy.

        Raises:
            PatchFailed: naming the patch and why it does not apply.
        """
        return self._mirror.mending(self._patch, subject, series, drop)

    def carrier(self) -> AbstractContextManager[Carrier]:
        """What carries series to revisions in the mirror."""
        return carrying(self._cache, self._mirror.git, self._commit_of_release, self._pins.package)

    def commit_of(self, subject: Subject) -> str:
        """A commit in the mirror with a subject's tree."""
        subject.bring()
        if subject.tree == subject.pin.tree:
            return self._mirror.ensure(subject.pin)
        return commit_tree(self._cache, self._mirror.git, self._pins.package, subject.tree)

    def _commit_of_release(self, release: Version) -> str:
        return self._mirror.ensure(self._pins.find(str(release)))

    def _patch(self, subject: Subject, series: Series, drop: Collection[str]) -> PatchedSubject:
        target = self.commit_of(subject)
        with self.carrier() as carrier:
            applied = carrier.apply(carrier.stack(series, subject.pin.version), target, drop, subject.pin.version)
        tree = self._mirror.library_tree(applied.commit)
        patched = replace(
            subject, tree=tree, lay_out=partial(self._trees.ensure, tree), series=series.name, drop=tuple(drop)
        )
        return PatchedSubject(patched, applied.commit, applied.patches)
