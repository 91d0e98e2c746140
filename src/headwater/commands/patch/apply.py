# SPDX-License-Identifier: Apache-2.0
"""`headwater patch apply`: a series onto a work tree, a commit a patch; all of it, or nothing."""

from __future__ import annotations

from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.patch.choosing import needless_patches, require_some
from headwater.commands.patch.on_tree import OnTree, is_current, on_tree, patches_of
from headwater.core.applied import AppliedSeries
from headwater.core.errors import BadInput
from headwater.core.tree_results import ApplyReport, PatchInTree
from headwater.effects.moving import Move
from headwater.effects.series_folder import Series


def apply(context: Context, name: str, tree: Path) -> ApplyReport:
    """Put the patches of a series as commits on top of a tree's HEAD, and move HEAD, index and files there. What is
    applied already is left as it is.

    Raises:
        BadInput: no such series or tree; files of the tree are in the way; the series is applied in another revision.
        PatchFailed: a patch does not apply, or none is needed: then nothing is changed.
    """
    with on_tree(context, tree) as ground:
        series = context.workspace.series(name)
        applied = ground.applied(name)
        if applied is not None:
            return _again(ground, series, applied)
        return context.mirror.mending(_apply, ground, series)


def _again(ground: OnTree, series: Series, applied: AppliedSeries) -> ApplyReport:
    if not is_current(series, applied):
        raise BadInput(
            f"series {series.name} is applied in {ground.tree.path} as its files were then, and they have changed "
            f"since; `headwater patch undo {series.name} --tree {ground.tree.path}` first"
        )
    head = ground.tree.head()
    return ApplyReport(series.name, ground.tree.path, applied.release, applied.variant, head, head, ())


def _apply(ground: OnTree, series: Series) -> ApplyReport:
    head = ground.tree.head()
    with ground.quarantine() as made:
        release, exact = ground.release_of(made, head)
        skipped = needless_patches(ground.context, series, release) if exact else {}
        require_some(series, skipped, str(release))
        carrier = ground.carrier(made)
        stack = carrier.stack(series, release)
        done = carrier.apply(stack, head, skipped, release)
        found = {one.step.patch.file: PatchInTree(one.step.patch.file, one.state, one.commit) for one in done.carried}
        found |= {file: PatchInTree(file, state, None) for file, state in skipped.items()}
        patches = tuple(found[patch.file] for patch in series.patches)
        commits = [one.commit for one in patches if one.commit is not None]
        made.hand_over(ground.tree, commits)
    variant = stack.variant.name if stack.variant else None
    report = ApplyReport(
        series.name, ground.tree.path, str(release) if release else None, variant, head, done.commit, patches
    )
    if report.changed:
        _move(ground, series, report)
    return report


def _move(ground: OnTree, series: Series, report: ApplyReport) -> None:
    patches = patches_of(series, report.variant, [one.commit for one in report.patches])
    others = ground.tree.recorded()

    def recorded(folders: tuple[str, ...]) -> tuple[AppliedSeries, ...]:
        made = AppliedSeries(series.name, report.release, report.variant, report.before, report.after, patches, folders)
        return (*others, made)

    ground.mover.move(Move(f"apply {series.name}", report.before, report.after, recorded))
