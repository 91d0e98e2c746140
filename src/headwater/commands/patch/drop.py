# SPDX-License-Identifier: Apache-2.0
"""`headwater patch drop`: a series without one of its patches; those above it are carried over the gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.commands.context import Context
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import same_but_ids
from headwater.core.patch_results import Dropped
from headwater.core.series import resolve_patch
from headwater.core.series_text import without_patch
from headwater.effects.carrying import Carrier, Stack
from headwater.effects.patch_text import patch_text
from headwater.effects.series_folder import SERIES, Series
from headwater.effects.series_writing import write_together


def drop(context: Context, name: str, wanted: str) -> Dropped:
    """Take a patch out of a series and its variants. Its file stays beside the others, as NAME.dropped.

    Raises:
        BadInput: no such series or patch, the only one of the series or of a variant, or a file in the way.
        PatchFailed: a patch above it needs it.
    """
    series = context.workspace.series(name)
    patch = resolve_patch(wanted, series.file.patches)
    if len(series.file.patches) == 1:
        raise BadInput(f"{patch} is the only patch of series {name}; remove the folder patches/{name} instead")
    for variant in series.variants.values():
        if variant.file.patches == (patch,):
            raise BadInput(f"variant {variant.name} holds only {patch}; remove its `range` line and its folder first")
    return context.mirror.mending(_drop, context, series, patch)


def _drop(context: Context, series: Series, patch: str) -> Dropped:
    holding = [variant.name for variant in series.variants.values() if patch in variant.file.patches]
    aside = [series.folder / patch, *(series.folder / name / patch for name in holding)]
    for path in aside:
        if path.with_name(f"{patch}.dropped").exists():
            raise BadInput(f"{path}.dropped is there already; move it away first")
    with context.subjects.carrier() as carrier:
        texts = {"": _texts(context, carrier, carrier.stack(series, series.file.base), patch, series.file.patches)}
        for variant in series.variants.values():
            stack = carrier.stack(series, variant.file.base)
            texts[variant.name] = _texts(context, carrier, stack, patch, variant.file.patches)
    changed = {
        f"{name}/{file}" if name else file: text
        for name, contents in texts.items()
        for file, text in contents.items()
        if not same_but_ids(text, (series.folder / name / file).read_bytes())
    }
    _write_without(context, series, patch, aside, changed)
    label = f"patches/{series.name}"
    kept = tuple(f"{label}/{path.relative_to(series.folder)}.dropped" for path in aside)
    return Dropped(patch, kept, tuple(f"{label}/{name}" for name in changed))


def _write_without(
    context: Context, series: Series, patch: str, aside: Sequence[Path], changed: Mapping[str, bytes]
) -> None:
    contents = dict(changed)
    names = [path.relative_to(series.folder).as_posix() for path in aside]
    for name, path in zip(names, aside, strict=True):
        listing = path.parent / SERIES
        text = without_patch(context.workspace.read_text(listing), patch)
        contents[listing.relative_to(series.folder).as_posix()] = text.encode("utf-8")
        contents[f"{name}.dropped"] = path.read_bytes()
    write_together(series.folder, contents, names)


def _texts(context: Context, carrier: Carrier, stack: Stack, dropped: str, own: tuple[str, ...]) -> dict[str, bytes]:
    """The texts of a folder's own patches when one is left out."""
    carried = list(carrier.walk(stack, stack.base, {dropped}))
    if stuck := next((one for one in carried if one.state.refused), None):
        raise PatchFailed(
            f"{stuck.step.patch.file} needs {dropped} ({stuck.state.words}: {stuck.reason}); drop it first, or free it "
            "from the other with `headwater patch refresh`"
        )
    commits = {one.step.patch.file: one.commit for one in carried}
    gone = [file for file in own if file != dropped and commits[file] is None]
    if gone:
        raise BadInput(f"{gone[0]} changes nothing without {dropped}; drop it first")
    return {file: patch_text(context.mirror.git, str(commits[file])) for file in own if file != dropped}
