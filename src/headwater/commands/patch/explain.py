# SPDX-License-Identifier: Apache-2.0
"""`headwater patch explain`: which file serves a release, and why."""

from __future__ import annotations

import hashlib

from headwater.commands.context import Context
from headwater.commands.patch.choosing import named_series, needless_patches
from headwater.core.patch_results import Explained
from headwater.core.pins import Pin
from headwater.effects.series_folder import Series


def explain(context: Context, name: str | None, release: str) -> list[Explained]:
    """For each patch of a series the file that serves a release, its base and hash, the reason, and its state there.

    Raises:
        BadInput: no such series or release.
    """
    series = named_series(context, name)
    pin = context.workspace.pins.find(release)
    return context.mirror.mending(_explain, context, series, pin)


def _explain(context: Context, series: Series, pin: Pin) -> list[Explained]:
    skipped = needless_patches(context, series, pin.version)
    with context.subjects.carrier() as carrier:
        stack = carrier.stack(series, pin.version)
        states = {
            one.step.patch.file: (one.state, one.reason)
            for one in carrier.walk(stack, context.mirror.ensure(pin), skipped)
        }
        states |= {patch: (state, "by the atlas") for patch, state in skipped.items()}
    found = []
    for patch in series.file.patches:
        variant = series.variant_for(pin.version)
        path = series.file_of(patch, variant)
        own = variant is not None and path.parent.name == variant.name
        base = variant.file.base if variant and own else series.file.base
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        file = path.relative_to(context.workspace.root).as_posix()
        found.append(Explained(patch, file, str(base), content, _why(series, pin, own), *states[patch]))
    return found


def _why(series: Series, pin: Pin, own: bool) -> str:
    entry = series.range_for(pin.version)
    if entry is None:
        return "no range names this release: the default serves it"
    kind = "names this release alone" if entry.exact else "holds this release"
    if own:
        return f"`range {entry} {entry.folder}` {kind}"
    return f"`range {entry} {entry.folder}` {kind}, and {entry.folder} has no patch of this name: the default serves it"
