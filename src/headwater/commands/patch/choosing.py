# SPDX-License-Identifier: Apache-2.0
"""Which series is meant, and whether a revision needs its patches at all, by what their cases say there."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.cases import Case
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.states import PatchState, needless
from headwater.effects.probe import Prober, Subject
from headwater.effects.series_folder import Series, series_names


def needless_patches(context: Context, series: Series, release: Version | None) -> dict[str, PatchState]:
    """The patches that a release does not need, by the atlas: their cases are good, or absent, without them. On a base
    a patch whose case is not bad is at fault itself, and never left out."""
    if release in series.bases:
        return {}
    found = {}
    for patch in series.patches:
        state = needless([context.workspace.atlas.expected(case, release) for case in patch.cases])
        if state is not None:
            found[patch.file] = state
    return found


def probed_needless(
    prober: Prober, series: Series, before: Subject, known: Mapping[str, Case], device: str
) -> dict[str, PatchState]:
    """The patches whose cases are good, or absent, without them: seen by probes, not taken from the atlas."""
    found = {}
    for patch in series.patches:
        state = needless([prober.probe(before, known[case], device).verdict for case in patch.cases])
        if state is not None:
            found[patch.file] = state
    return found


def named_series(context: Context, name: str | None) -> Series:
    """The series that was named; without a name the only one there is.

    Raises:
        BadInput: there is none of that name, or no name and several series.
    """
    names = series_names(context.workspace.patches)
    if name is None and len(names) != 1:
        raise BadInput(f"name a series; there are: {', '.join(names) or 'none'}")
    return context.workspace.series(name if name is not None else names[0])


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
