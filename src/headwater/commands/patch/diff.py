# SPDX-License-Identifier: Apache-2.0
"""`headwater patch diff`: what changed between two revisions of a series, patch by patch."""

from __future__ import annotations

from pathlib import Path

from headwater.commands.context import Context
from headwater.core.errors import BadInput
from headwater.core.patch_results import SeriesDiff, read_range_diff
from headwater.core.pins import Pin
from headwater.effects.git import repository_around
from headwater.effects.series_folder import SERIES, Series, read_series_folder, series_names, write_series_at

# How the series as it lies in the workspace is called.
WORKING = "the workspace"


def diff(context: Context, name: str, old: str, new: str | None, release: str | None) -> SeriesDiff:
    """Compare two revisions of a series, both applied to one release: by default the base of the newer one.

    `old` and `new` are git revisions of the workspace's repository, or folders with a `series` file; without `new`,
    the series as it is now.

    Raises:
        BadInput: a revision that is none, or has no such series.
        PatchFailed: one of them does not apply to the release.
    """
    if new is None and name not in series_names(context.workspace.patches):
        raise BadInput(f"there is no series {name!r} in patches/; name a second revision that has it")
    with context.cache.building("revisions") as folder:
        before = _series_at(context, name, old, folder / "old")
        after = _series_at(context, name, new, folder / "new")
        pin = context.workspace.pins.find(release or str(after.file.base))
        text = context.mirror.mending(_range_diff, context, before, after, pin)
    return SeriesDiff(name, old, new or WORKING, str(pin.version), read_range_diff(text), text)


def _series_at(context: Context, name: str, revision: str | None, folder: Path) -> Series:
    workspace = context.workspace
    versions = workspace.pins.versions
    if revision is None:
        return workspace.series(name)
    if (Path(revision) / SERIES).is_file():
        return read_series_folder(Path(revision).resolve(), versions)
    found = repository_around(workspace.root)
    if found is None:
        raise BadInput(f"{revision!r} is no folder with a series, and the workspace lies in no git repository")
    repository, prefix = found
    if not write_series_at(repository, revision, f"{prefix}patches/{name}", folder / name):
        raise BadInput(f"{revision!r} is no folder with a series, and no git revision that has patches/{name}")
    return read_series_folder(folder / name, versions)


def _range_diff(context: Context, before: Series, after: Series, pin: Pin) -> str:
    with context.subjects.carrier() as carrier:
        onto = context.mirror.ensure(pin)
        git = context.mirror.git
        # git takes no range whose ends are the same: of an empty one the end lies below the beginning.
        above = git("commit-tree", "-m", "above", "-p", onto, f"{onto}^{{tree}}")
        tops = [carrier.apply(carrier.stack(one, pin.version), onto, (), pin.version).commit for one in (before, after)]
        ranges = [f"{onto}..{top}" if top != onto else f"{above}..{onto}" for top in tops]
        return git("range-diff", "--no-color", *ranges)
