# SPDX-License-Identifier: Apache-2.0
"""`headwater patch drop`: a series without one of its patches; those above it are carried over the gap."""

from __future__ import annotations

from headwater.commands.context import Context
from headwater.core.errors import BadInput
from headwater.core.mail import same_but_ids
from headwater.core.patch_results import Dropped
from headwater.core.series import resolve_patch
from headwater.core.series_text import without_patch
from headwater.effects.carrying import Carrier, Stack
from headwater.effects.patch_text import patch_text
from headwater.effects.series_folder import SERIES, Series
from headwater.effects.series_writing import write_changed, write_series_text


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
    root = context.workspace.root
    rewritten: list[str] = []
    for name, contents in texts.items():
        folder = series.folder / name
        changed = {
            file: text for file, text in contents.items() if not same_but_ids(text, (folder / file).read_bytes())
        }
        rewritten += [str((folder / file).relative_to(root)) for file in write_changed(folder, changed)]
    for path in aside:
        write_series_text(path.parent, without_patch(context.workspace.read_text(path.parent / SERIES), patch))
        path.rename(path.with_name(f"{patch}.dropped"))
    kept = tuple(f"{path.relative_to(root)}.dropped" for path in aside)
    return Dropped(patch, kept, tuple(rewritten))


def _texts(context: Context, carrier: Carrier, stack: Stack, dropped: str, own: tuple[str, ...]) -> dict[str, bytes]:
    """The texts of a folder's own patches when one is left out."""
    applied = carrier.apply(stack, stack.base, {dropped})
    commits = {one.step.patch.file: one.commit for one in applied.carried}
    gone = [file for file in own if file != dropped and commits[file] is None]
    if gone:
        raise BadInput(f"{gone[0]} changes nothing without {dropped}; drop it first")
    return {file: patch_text(context.mirror.git, str(commits[file])) for file in own if file != dropped}
