# SPDX-License-Identifier: Apache-2.0
"""`headwater patch export`: a series as files that `git am` takes, as it applies to a release."""

from __future__ import annotations

from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.patch.choosing import named_series, needless_patches, require_some
from headwater.core.errors import PatchFailed
from headwater.core.patch_results import Exported
from headwater.core.pins import Pin
from headwater.core.states import PatchState
from headwater.effects.patch_text import patch_text
from headwater.effects.series_folder import Series
from headwater.effects.series_writing import write_aside


def export(context: Context, name: str | None, folder: Path, release: str | None) -> Exported:
    """Write a series as it applies to a release, the base by default.

    Raises:
        BadInput: no such series or release, or files in the way.
        PatchFailed: a patch does not apply, none is needed, or all are applied there already.
    """
    series = named_series(context, name)
    pin = context.workspace.pins.find(release or str(series.file.base))
    skipped = needless_patches(context, series, pin.version)
    require_some(series, skipped, str(pin.version))
    contents = context.mirror.mending(exported_patches, context, series, pin, skipped)
    if not contents:
        raise PatchFailed(
            f"every patch of series {series.name} is applied on {pin.version} already: there is none to send"
        )
    write_aside(folder, contents)
    return Exported(folder, str(pin.version), tuple(contents), skipped)


def exported_patches(context: Context, series: Series, pin: Pin, skipped: dict[str, PatchState]) -> dict[str, bytes]:
    """The text of each patch that changes a release, by file name, each on top of those before it."""
    with context.subjects.carrier() as carrier:
        stack = carrier.stack(series, pin.version)
        applied = carrier.apply(stack, context.mirror.ensure(pin), skipped, pin.version)
        return {
            one.step.patch.file: patch_text(context.mirror.git, one.commit)
            for one in applied.carried
            if one.commit is not None
        }
