# SPDX-License-Identifier: Apache-2.0
"""What the commands of `headwater patch` that work on a tree hand to the report layer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater.core.states import PatchState


@dataclass(frozen=True)
class PatchInTree:
    """What became of a patch: its state, and its commit in the tree; None where it made none."""

    patch: str
    state: PatchState
    commit: str | None


@dataclass(frozen=True)
class ApplyReport:
    """A series on a tree. `before` and `after` are HEAD's commits; equal where nothing was left to do, and then
    `patches` is empty where an earlier run applied the series. `release` decided the variant; None for the default."""

    series: str
    tree: Path
    release: str | None
    variant: str | None
    before: str
    after: str
    patches: tuple[PatchInTree, ...]

    @property
    def changed(self) -> bool:
        """Whether the tree was changed."""
        return self.before != self.after


@dataclass(frozen=True)
class UndoReport:
    """A series taken off a tree: HEAD before and after, and the patches whose commits went."""

    series: str
    tree: Path
    before: str
    after: str
    patches: tuple[str, ...]


@dataclass(frozen=True)
class RefreshReport:
    """Patches made anew from a tree.

    `written` and `kept` are patch files, by their paths in the workspace; `edits` the tree's files whose edits were
    folded in, into `patch`; `left_out` files that git does not know, which `--add` would take.
    """

    series: str
    tree: Path
    patch: str
    written: tuple[str, ...]
    kept: tuple[str, ...]
    edits: tuple[str, ...]
    left_out: tuple[str, ...]
    before: str
    after: str


@dataclass(frozen=True)
class NewReport:
    """A new patch: its file in the workspace, its commit in the tree, whether it began the series; `left_out` as in
    `RefreshReport`."""

    series: str
    tree: Path
    file: str
    author: str
    commit: str
    began: bool
    edits: tuple[str, ...]
    left_out: tuple[str, ...]
