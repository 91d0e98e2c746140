# SPDX-License-Identifier: Apache-2.0
"""The states a patch can have on a release, and the referee that tells them apart.

The referee is the three-way merge of the patch's step on the series' base onto the release, whose result must touch
the definitions that the patch touches on its base. What `git apply` does by looking for matching context is compared
with it, and never believed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from headwater.core.verdicts import Verdict


class PatchState(Enum):
    """A state. The value is the word used in JSON."""

    CLEAN = "clean"
    OFFSET = "offset"
    REDUCED_CONTEXT = "reduced-context"
    THREE_WAY = "three-way"
    CONFLICT = "conflict"
    MISPLACED = "misplaced"
    ALREADY_APPLIED = "already-applied"
    FIXED_UPSTREAM = "fixed-upstream"
    ABSENT = "absent"

    @property
    def words(self) -> str:
        """The state as people read it."""
        word = str(self.value)
        return word if self is PatchState.THREE_WAY else word.replace("-", " ")

    @property
    def applies(self) -> bool:
        """Whether the patch changes the release, at the right place."""
        return self in (PatchState.CLEAN, PatchState.OFFSET, PatchState.REDUCED_CONTEXT, PatchState.THREE_WAY)

    @property
    def refused(self) -> bool:
        """Whether somebody has to look: it would not apply, or at the wrong place."""
        return self in (PatchState.CONFLICT, PatchState.MISPLACED)


# What a release has no need of.
NEEDLESS = frozenset({PatchState.FIXED_UPSTREAM, PatchState.ABSENT})


@dataclass(frozen=True)
class Merged:
    """What the referee says: the tree that comes out; or None, and why. `misplaced` where lines would merge into
    another definition than the patch's."""

    tree: str | None
    reason: str = ""
    misplaced: bool = False


@dataclass(frozen=True)
class Attempt:
    """What `git apply` made of it: the tree, or None where it refused; `moved` where a hunk went to another line;
    `reduced` where it needed less context than the patch has."""

    tree: str | None
    moved: bool = False
    reduced: bool = False


def judge_state(onto: str, merged: Merged, attempt: Attempt) -> PatchState:
    """The state of a patch on the tree `onto`, from the referee's merge and git's own attempt."""
    if merged.misplaced:
        return PatchState.MISPLACED
    if merged.tree is None:
        # With less context git only tries what it refused as the patch stands: nobody was told that it applies.
        misled = attempt.tree is not None and not attempt.reduced
        return PatchState.MISPLACED if misled else PatchState.CONFLICT
    if merged.tree == onto:
        return PatchState.ALREADY_APPLIED
    if attempt.tree is None or (attempt.reduced and attempt.tree != merged.tree):
        return PatchState.THREE_WAY
    if attempt.tree != merged.tree:
        return PatchState.MISPLACED
    if attempt.reduced:
        return PatchState.REDUCED_CONTEXT
    return PatchState.OFFSET if attempt.moved else PatchState.CLEAN


def needless(verdicts: Iterable[Verdict | None]) -> PatchState | None:
    """Why a patch is not needed, by the verdicts that its cases have unpatched; None where it may be needed."""
    seen = set(verdicts)
    if not seen or not seen <= {Verdict.GOOD, Verdict.ABSENT}:
        return None
    return PatchState.FIXED_UPSTREAM if Verdict.GOOD in seen else PatchState.ABSENT
