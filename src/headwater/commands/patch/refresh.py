# SPDX-License-Identifier: Apache-2.0
"""`headwater patch refresh`: what a person edited in a tree goes back into the patch files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.patch.on_tree import OnTree, is_current, on_tree
from headwater.core.applied import AppliedPatch, AppliedSeries
from headwater.core.errors import BadInput, HarnessError
from headwater.core.series import resolve_patch
from headwater.core.tree_results import RefreshReport
from headwater.effects.edits import Edits, read_edits
from headwater.effects.moving import Move
from headwater.effects.quarantine import Quarantine
from headwater.effects.refreshing import Layer, fold, new_text, with_contents
from headwater.effects.series_folder import Series


@dataclass(frozen=True)
class Refreshed:
    """The commits of all patches anew, and the contents of those patch files that change."""

    commits: tuple[str, ...]
    contents: dict[str, bytes]


def refresh(context: Context, name: str, wanted: str | None, tree: Path, add: Sequence[Path]) -> RefreshReport:
    """Fold the edits of a tree into the patch `wanted` (the last, where it is None), and take every patch whose commit
    was amended from that commit. Only patch files whose content changes are written. `add` are new files to take.

    Raises:
        BadInput: no such series, patch or tree; the series is not applied there, or not to the release that it is
            written against; commits were added, dropped or put in another order.
        PatchFailed: the edit does not fit the patch, or the patches above it do not fit any more.
    """
    with on_tree(context, tree) as ground:
        series = context.workspace.series(name)
        patch = resolve_patch(wanted, series.file.patches) if wanted is not None else series.file.patches[-1]
        return context.mirror.mending(_refresh, ground, series, patch, add)


def _refresh(ground: OnTree, series: Series, patch: str, add: Sequence[Path]) -> RefreshReport:
    head = ground.tree.head()
    with ground.quarantine() as made:
        applied = applied_on_base(ground, made, series)
        layers = _layers(ground, made, series, applied)
        edits = read_edits(ground.tree, made, add)
        commits = [layer.now for layer in layers]
        if edits.paths:
            commits = fold(made.bench, layers, series.file.patches.index(patch), edits.tree)
        contents = {}
        for layer, commit in zip(layers, commits, strict=True):
            text = new_text(made.bench, layer, commit)
            if text != layer.patch.content:
                contents[layer.patch.file] = text
        fresh = with_contents(series, applied.variant, contents)
        require_same(ground, made, fresh, applied, commits[-1])
        made.hand_over(ground.tree, [new for layer, new in zip(layers, commits, strict=True) if new != layer.now])
    refreshed = Refreshed(tuple(commits), contents)
    if edits.paths or contents or commits[-1] != applied.after:
        _move(ground, series, applied, refreshed, head)
    return _report(ground, series, applied, refreshed, patch, edits, head)


def applied_on_base(ground: OnTree, made: Quarantine, series: Series) -> AppliedSeries:
    """What is remembered of a series, where the tree has the release that the series' files are written against.

    Raises:
        BadInput: it is not applied, to another release, not with every patch, or its files have changed since.
    """
    known = [one for one in ground.tree.recorded() if one.series == series.name]
    applied = next((one for one in reversed(known) if ground.tree.has_ancestor(one.before)), None)
    where = ground.tree.path
    if applied is None or ground.tree.head() == applied.before:
        raise BadInput(
            f"series {series.name} is not applied in {where}; `headwater patch apply {series.name} --tree {where}` "
            "applies it"
        )
    if applied.variant is not None and applied.variant not in series.variants:
        raise BadInput(f"series {series.name} has no variant {applied.variant} any more; undo it in {where}, and apply")
    file = series.variants[applied.variant].file if applied.variant is not None else series.file
    if ground.library_tree(made, applied.before) != file.base_tree:
        raise BadInput(
            f"{where} is another revision than {file.base}, against which these patches of series {series.name} are "
            f"written; refresh on a checkout of {file.base}, or make a variant: `headwater patch carry {series.name} "
            "--to RELEASE`"
        )
    _require_current(series, applied)
    return applied


def _require_current(series: Series, applied: AppliedSeries) -> None:
    if not is_current(series, applied):
        raise BadInput(
            f"the files of series {series.name} have changed since it was applied; save your edits (`git stash`), "
            "undo, apply, and `git stash pop`"
        )
    if missing := [one.file for one in applied.patches if one.commit is None]:
        raise BadInput(f"{missing[0]} of series {series.name} has no commit in the tree, since it was there already")


def _layers(ground: OnTree, made: Quarantine, series: Series, applied: AppliedSeries) -> list[Layer]:
    """The series' patches with their commits as they are now.

    Raises:
        BadInput: the commits on top of the base are not one for each patch, in order and under the same subjects.
    """
    lines = ground.tree.git("log", "--reverse", "--format=%H %P%x00%s", f"{applied.before}..HEAD").splitlines()
    seen = [line.partition("\0")[2] for line in lines]
    wanted = [made.bench.git("show", "--no-patch", "--format=%s", commit) for commit in applied.commits]
    if seen != wanted or any(len(line.partition("\0")[0].split()) != 2 for line in lines):
        raise BadInput(
            f"the commits in {ground.tree.path} must be those of series {series.name}, in order and under their "
            f"subjects: {'; '.join(wanted)}. There are: {'; '.join(seen)}"
        )
    variant = series.variants.get(applied.variant) if applied.variant is not None else None
    own = {patch.file: patch for patch in variant.patches} if variant else {}
    return [
        Layer(own.get(patch.file, patch), commit, line.split()[0])
        for patch, commit, line in zip(
            series.patches, applied.commits, [line.partition("\0")[0] for line in lines], strict=True
        )
    ]


def require_same(ground: OnTree, made: Quarantine, fresh: Series, applied: AppliedSeries, commit: str) -> None:
    """See that the new patch files make of the base what the tree has: they are what others will get.

    Raises:
        PatchFailed: one does not apply to the base, which may lack files that the tree has.
        HarnessError: they make something else of it.
    """
    base = fresh.variants[applied.variant].file.base if applied.variant is not None else fresh.file.base
    made_of = ground.carrier(made).stack(fresh, base).steps[-1].after
    paths = [f"src/{ground.context.workspace.pins.package}", *(path for one in fresh.patches for path in one.paths)]
    if made.bench.ids([f"{made_of}:{path}" for path in paths]) != made.bench.ids(
        [f"{commit}:{path}" for path in paths]
    ):
        raise HarnessError(f"the new patches of series {fresh.name} do not give the tree that they were made of")


def _move(ground: OnTree, series: Series, applied: AppliedSeries, refreshed: Refreshed, head: str) -> None:
    variant = series.variants[applied.variant] if applied.variant is not None else None
    contents, after = refreshed.contents, refreshed.commits[-1]
    patches = tuple(
        AppliedPatch(
            one.file, hashlib.sha256(contents[one.file]).hexdigest() if one.file in contents else one.sha256, commit
        )
        for one, commit in zip(applied.patches, refreshed.commits, strict=True)
    )
    files = {series.file_of(file, variant): content for file, content in contents.items()}
    extend(ground, f"refresh {series.name}", applied, head, after, patches, files)


def extend(
    ground: OnTree, purpose: str, applied: AppliedSeries, head: str, after: str,
    patches: tuple[AppliedPatch, ...], files: Mapping[Path, bytes],
) -> None:  # fmt: skip
    """Move a tree whose files lie there already to the commit `after`, which ends the series `applied` from now on; and
    write patch files."""
    others = ground.without(applied)
    folders = tuple(sorted({*applied.folders, *_new_folders(ground, applied.before, after)}))
    grown = replace(applied, after=after, patches=patches, folders=folders)
    ground.mover.move(Move(purpose, head, after, lambda _made: (*others, grown), keeps_files=True, files=files))


def _new_folders(ground: OnTree, before: str, after: str) -> set[str]:
    """The folders that only the later of two commits has."""
    listed = [
        set(filter(None, ground.tree.git("ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", one).split("\0")))
        for one in (before, after)
    ]
    return listed[1] - listed[0]


def _report(
    ground: OnTree, series: Series, applied: AppliedSeries, refreshed: Refreshed, patch: str, edits: Edits, head: str
) -> RefreshReport:
    variant = series.variants[applied.variant] if applied.variant is not None else None
    names = {
        file: series.file_of(file, variant).relative_to(ground.context.workspace.root).as_posix()
        for file in series.file.patches
    }
    return RefreshReport(
        series=series.name,
        tree=ground.tree.path,
        patch=patch,
        written=tuple(names[file] for file in series.file.patches if file in refreshed.contents),
        kept=tuple(names[file] for file in series.file.patches if file not in refreshed.contents),
        edits=edits.paths,
        left_out=edits.left_out,
        before=head,
        after=refreshed.commits[-1],
    )
