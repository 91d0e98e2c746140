# SPDX-License-Identifier: Apache-2.0
"""What the commands of `headwater patch` that work on a tree share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.applied import AppliedPatch, AppliedSeries
from headwater.core.environment_choice import release_near
from headwater.core.errors import BadInput
from headwater.core.events import Note
from headwater.core.setup_requirements import stated_version
from headwater.effects.carrying import Carrier
from headwater.effects.git import GitFailed
from headwater.effects.merging import read_file
from headwater.effects.moving import Mover, held
from headwater.effects.quarantine import Quarantine, quarantine
from headwater.effects.recovering import recover
from headwater.effects.series_folder import Series
from headwater.effects.work_tree import WorkTree, open_work_tree


@dataclass(frozen=True)
class OnTree:
    """A command's run on a tree that it holds."""

    context: Context
    tree: WorkTree

    @property
    def mover(self) -> Mover:
        """What moves the tree."""
        return Mover(self.tree)

    @contextmanager
    def quarantine(self) -> Iterator[Quarantine]:
        """A bench with the objects of mirror and tree."""
        self.context.mirror.prepare()
        with quarantine(self.context.cache, self.context.mirror.git, self.tree) as made:
            yield made

    def carrier(self, made: Quarantine) -> Carrier:
        """What carries series in the quarantine."""
        pins, mirror = self.context.workspace.pins, self.context.mirror
        return Carrier(made.bench, lambda release: mirror.ensure(pins.find(str(release))), pins.package)

    def library_tree(self, made: Quarantine, commit: str) -> str:
        """The id of the library's subtree in a commit.

        Raises:
            BadInput: it has none.
        """
        package = self.context.workspace.pins.package
        [tree] = made.bench.ids([f"{commit}:src/{package}"])
        if tree is None:
            raise BadInput(f"--tree {self.tree.path}: no src/{package} in {commit[:12]}; name a checkout of {package}")
        return tree

    def release_of(self, made: Quarantine, commit: str) -> tuple[Version | None, bool]:
        """The release that decides which variant serves a commit, and whether the commit has that very release."""
        pins = self.context.workspace.pins
        exact = pins.release_of_tree(self.library_tree(made, commit))
        if exact is not None:
            return exact, True
        try:
            text = read_file(made.bench.git, commit, f"src/{pins.package}/__init__.py")
        except GitFailed:
            return None, False
        version = stated_version(text.decode("utf-8", "replace"))
        return (release_near(version, pins.versions) if version else None), False

    def without(self, applied: AppliedSeries) -> tuple[AppliedSeries, ...]:
        """What is remembered of the tree without this, once: another branch may have the very same."""
        every = list(reversed(self.tree.recorded()))
        if applied in every:
            every.remove(applied)
        return tuple(reversed(every))

    def applied(self, series: str) -> AppliedSeries | None:
        """What is remembered of a series that is applied at HEAD or below it."""
        return next((one for one in reversed(self.tree.applied()) if one.series == series), None)


@contextmanager
def on_tree(context: Context, path: Path) -> Iterator[OnTree]:
    """Hold a tree, and end what was killed there.

    Raises:
        BadInput: it is no work tree, or another run holds it.
    """
    tree = open_work_tree(path)
    with held(tree):
        words = recover(tree)
        if words is not None:
            context.emit(Note(words, warning=True))
        yield OnTree(context, tree)


def is_current(series: Series, applied: AppliedSeries) -> bool:
    """Whether the files of a series are still those that were applied."""
    if applied.variant is not None and applied.variant not in series.variants:
        return False
    now = patches_of(series, applied.variant, [None] * len(series.patches))
    return [(one.file, one.sha256) for one in now] == [(one.file, one.sha256) for one in applied.patches]


def patches_of(series: Series, variant: str | None, commits: Sequence[str | None]) -> tuple[AppliedPatch, ...]:
    """What is remembered of a series' patches, as its files are now."""
    chosen = series.variants[variant] if variant is not None else None
    return tuple(
        AppliedPatch(patch.file, hashlib.sha256(series.file_of(patch.file, chosen).read_bytes()).hexdigest(), commit)
        for patch, commit in zip(series.patches, commits, strict=True)
    )
