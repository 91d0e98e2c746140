# SPDX-License-Identifier: Apache-2.0
"""Which change-overs of the atlas have their commit, and between which releases the others are to be hunted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry, ChangeKind
from headwater.core.atlas_text import axis_of, cases_of, ordered_changes
from headwater.core.hunt_report import HuntChange
from headwater.core.releases import is_on_main_line

CommitState = Literal["found", "recorded", "open", "broken", "failed"]


@dataclass(frozen=True)
class ChangeOver:
    """A change-over of a case, first seen in `release`. `old` and `new` are the releases of the main line (x.y.0)
    nearest to it on either side, None where the atlas has none; `known` is the commit that is recorded, if any.

    A maintenance release took its change over from the main line, or had it first: so the commit is hunted on the main
    line even where `release` is no x.y.0.
    """

    case: str
    find: ChangeKind
    release: Version
    old: Version | None
    new: Version | None
    known: AtlasChange | None

    @property
    def words(self) -> str:
        """The change-over in words: `early-init introduced in 5.5.0`."""
        return f"{self.case} {self.find} in {self.release}"


@dataclass(frozen=True)
class CommitOf:
    """What came of the hunt for a change-over's commit.

    `found`: `change` is its one commit; it and its parent were each seen twice. `recorded`: `change` was known before,
    and nothing was hunted. `open`: there is none, for the reason `why`. `broken`: `change` is recorded, and its commit
    and that commit's parent do not show it. `failed`: the machine failed where something had to be judged. `hunted` is
    what the hunt over commits named, None where it came to nothing; there may be several candidates.
    `command` hunts it alone; `ran` probes were run.
    """

    over: ChangeOver
    state: CommitState
    change: AtlasChange | None = None
    hunted: HuntChange | None = None
    why: str = ""
    command: str = ""
    ran: int = 0


def change_overs(atlas: Atlas, cases: Sequence[str]) -> list[ChangeOver]:
    """The change-overs of `cases`, in their order and each in version order."""
    axis = [version for version in axis_of(atlas, ()) if is_on_main_line(version)]
    found = []
    for case in cases:
        for find, before, after in atlas.change_overs(case):
            old = max(_within(before, axis), default=None)
            new = min(_within(after, axis), default=None)
            known = atlas.change(case, find, after.first)
            found.append(ChangeOver(case, find, after.first, old, new, known))
    return found


def _within(entry: AtlasEntry, axis: Sequence[Version]) -> list[Version]:
    return [version for version in axis if entry.first <= version <= entry.last]


def with_change(atlas: Atlas, change: AtlasChange) -> Atlas:
    """The atlas with one more commit, in the place of another for the same change-over."""
    key = (change.case, change.find, change.release)
    others = [one for one in atlas.changes if (one.case, one.find, one.release) != key]
    return replace(atlas, changes=ordered_changes([*others, change], cases_of(atlas)))
