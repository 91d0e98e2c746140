# SPDX-License-Identifier: Apache-2.0
"""`headwater patch status`: the state of every patch on every release."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from headwater.commands.context import Context
from headwater.commands.patch.choosing import needless_patches
from headwater.core.errors import BadInput
from headwater.core.events import Advanced, Finished, Started
from headwater.core.patch_results import PatchStatus, ReleaseStatus, SeriesStatus
from headwater.core.pins import Pin
from headwater.core.releases import select
from headwater.core.states import PatchState
from headwater.effects.carrying import Carrier
from headwater.effects.series_folder import Series, series_names


def status(context: Context, names: Sequence[str], spec: str) -> list[SeriesStatus]:
    """The states of the series `names` (all, where none is named) on the releases that `spec` names.

    Raises:
        BadInput: no such series or release.
        PatchFailed: a series does not apply to its own base.
    """
    workspace = context.workspace
    every = [workspace.series(name) for name in names or series_names(workspace.patches)]
    if not every:
        raise BadInput("there is no series in patches/; `headwater patch new` begins one")
    pins = [workspace.pins.pin(version) for version in select(spec, workspace.pins.versions)]
    return [context.mirror.mending(_status_of, context, series, pins) for series in every]


def _status_of(context: Context, series: Series, pins: Sequence[Pin]) -> SeriesStatus:
    commits = dict(zip(pins, context.mirror.ensure_all(pins), strict=True))
    what = f"status of {series.name} on {len(pins)} releases"
    context.emit(Started(what, what, len(pins), "releases"))
    releases: list[ReleaseStatus] = []
    try:
        with context.subjects.carrier() as carrier:
            # Neighbours are served by one variant, so that its texts are looked up in one call.
            for _, group in groupby(pins, key=lambda pin: series.range_for(pin.version)):
                served = {pin: commits[pin] for pin in group}
                for one in _served_alike(context, series, carrier, served):
                    releases.append(one)
                    context.emit(Advanced(what, len(releases)))
    finally:
        context.emit(Finished(what))
    return SeriesStatus(series.name, str(series.file.base), series.file.patches, tuple(releases))


def _served_alike(context: Context, series: Series, carrier: Carrier, commits: dict[Pin, str]) -> list[ReleaseStatus]:
    """The releases that one variant, or the default, serves. Where the files that the series touches are the same, and
    so are the patches needed, the states are: they are found once."""
    stack = carrier.stack(series, next(iter(commits)).version)
    known: dict[object, list[PatchStatus]] = {}
    found = []
    for (pin, commit), text in zip(commits.items(), carrier.texts(stack, list(commits.values())), strict=True):
        skipped = needless_patches(context, series, pin.version)
        key = text, tuple(skipped)
        if key not in known and len(skipped) < len(series.patches):
            known[key] = [
                PatchStatus(one.step.patch.file, one.state, one.reason) for one in carrier.walk(stack, commit, skipped)
            ]
        variant = stack.variant.name if stack.variant else None
        found.append(ReleaseStatus(str(pin.version), variant, _cells(series, known.get(key, []), skipped)))
    return found


def _cells(series: Series, judged: list[PatchStatus], skipped: dict[str, PatchState]) -> tuple[PatchStatus, ...]:
    cells = {cell.patch: cell for cell in judged}
    cells |= {patch: PatchStatus(patch, state, "") for patch, state in skipped.items()}
    return tuple(cells[patch] for patch in series.file.patches)
