# SPDX-License-Identifier: Apache-2.0
"""What the commands of `headwater patch` hand to the report layer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.core.states import NEEDLESS, PatchState


@dataclass(frozen=True)
class PatchStatus:
    """One patch on one release; `reason` is empty where the state says all."""

    patch: str
    state: PatchState
    reason: str


@dataclass(frozen=True)
class ReleaseStatus:
    """A series on one release; `variant` is the folder that serves it, None for the default."""

    release: str
    variant: str | None
    cells: tuple[PatchStatus, ...]

    @property
    def in_order(self) -> bool:
        """Whether every patch applies, is applied already, or is not needed."""
        return not any(cell.state.refused for cell in self.cells)

    @property
    def patched(self) -> bool:
        """Whether the series can be put on the release, and changes it."""
        return self.in_order and any(cell.state.applies for cell in self.cells)

    @property
    def droppable(self) -> bool:
        """Whether upstream has its own fix for every patch, so that the series can be left out here."""
        states = {cell.state for cell in self.cells}
        return states <= NEEDLESS and PatchState.FIXED_UPSTREAM in states


@dataclass(frozen=True)
class SeriesStatus:
    """A series over releases, in their order."""

    name: str
    base: str
    patches: tuple[str, ...]
    releases: tuple[ReleaseStatus, ...]

    @property
    def droppable(self) -> tuple[str, ...]:
        """The releases for which the series is proposed for dropping. Nothing is ever deleted."""
        return tuple(status.release for status in self.releases if status.droppable)


def status_exit(statuses: Sequence[SeriesStatus]) -> int:
    """0 where all patches apply, are applied already, are fixed upstream, or the feature is absent; else 1."""
    return 0 if all(one.in_order for status in statuses for one in status.releases) else 1


@dataclass(frozen=True)
class Explained:
    """Which file serves one patch on a release, and why: `base` is the release it is written against, `sha256` its
    content's, `state` what becomes of it there."""

    patch: str
    file: str
    base: str
    sha256: str
    why: str
    state: PatchState
    reason: str


@dataclass(frozen=True)
class CarryReport:
    """How far a carry came. `stopped` is the patch that needs a person, `tree` where; else `variant` is the folder that
    was written for `serves`, None where every patch applies as it is."""

    series: str
    release: str
    cells: tuple[PatchStatus, ...]
    stopped: str | None = None
    tree: Path | None = None
    variant: str | None = None
    serves: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exported:
    """The files written into `folder`, and the patches that the release does not need."""

    folder: Path
    release: str
    files: tuple[str, ...]
    skipped: dict[str, PatchState]


@dataclass(frozen=True)
class Imported:
    """The files that were written for a series, which may be `new`."""

    series: str
    new: bool
    files: tuple[str, ...]


@dataclass(frozen=True)
class Dropped:
    """The patch that was dropped, where its text is kept, and the patches that had to be rewritten."""

    patch: str
    kept: tuple[str, ...]
    rewritten: tuple[str, ...]


@dataclass(frozen=True)
class PatchPair:
    """One line of a range-diff: a patch before and after by its number, None where it is on one side only. `mark` is
    git's: `=` unchanged, `!` changed, `<` gone, `>` new."""

    before: int | None
    after: int | None
    mark: str
    subject: str


@dataclass(frozen=True)
class SeriesDiff:
    """Two revisions of a series on one release: the pairs of patches, and git's whole text."""

    series: str
    before: str
    after: str
    release: str
    pairs: tuple[PatchPair, ...]
    text: str

    @property
    def unchanged(self) -> bool:
        """Whether every patch is the same on both sides."""
        return all(pair.mark == "=" for pair in self.pairs)


_PAIR = re.compile(r"(?m)^ *(\d+|-): +(?:[0-9a-f]+|-+) ([=!<>]) +(\d+|-): +(?:[0-9a-f]+|-+) (.*)$")


def read_range_diff(text: str) -> tuple[PatchPair, ...]:
    """The pairs of a range-diff, as git-range-diff(1) writes them, in its order."""
    return tuple(
        PatchPair(None if old == "-" else int(old), None if new == "-" else int(new), mark, subject)
        for old, mark, new, subject in _PAIR.findall(text)
    )


def release_runs(statuses: Sequence[ReleaseStatus]) -> list[tuple[ReleaseStatus, ReleaseStatus, int]]:
    """Neighbouring releases with equal cells and variant as one row: its first, its last, and how many they are."""
    runs: list[tuple[ReleaseStatus, ReleaseStatus, int]] = []
    for status in statuses:
        states = [cell.state for cell in status.cells]
        if runs and runs[-1][0].variant == status.variant and [c.state for c in runs[-1][0].cells] == states:
            runs[-1] = (runs[-1][0], status, runs[-1][2] + 1)
        else:
            runs.append((status, status, 1))
    return runs
