# SPDX-License-Identifier: Apache-2.0
"""Whether a release needs a patch at all, by what the atlas says of the patch's cases there."""

from __future__ import annotations

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.errors import PatchFailed
from headwater.core.states import PatchState, needless
from headwater.effects.series_folder import Series


def needless_patches(context: Context, series: Series, release: Version | None) -> dict[str, PatchState]:
    """The patches that a release does not need: their cases are good, or absent, without them."""
    found = {}
    for patch in series.patches:
        state = needless([context.workspace.atlas.expected(case, release) for case in patch.cases])
        if state is not None:
            found[patch.file] = state
    return found


def require_some(series: Series, skipped: dict[str, PatchState], revision: str) -> None:
    """Refuse to apply what nobody needs.

    Raises:
        PatchFailed: no patch of the series is needed.
    """
    if len(skipped) == len(series.patches):
        words = " and ".join(sorted({state.words for state in skipped.values()}))
        raise PatchFailed(
            f"no patch of series {series.name} is needed on {revision}: what they mend is {words} there; leave the "
            "series out"
        )
