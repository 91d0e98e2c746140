# SPDX-License-Identifier: Apache-2.0
"""`headwater patch undo`: a series off a work tree again."""

from __future__ import annotations

from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.patch.on_tree import OnTree, on_tree
from headwater.core.applied import AppliedSeries
from headwater.core.errors import BadInput
from headwater.core.tree_results import UndoReport
from headwater.effects.moving import Move


def undo(context: Context, name: str | None, tree: Path) -> UndoReport:
    """Take HEAD, index and files back to where they were before a series was applied; without a name, the topmost.

    Raises:
        BadInput: no such tree; nothing is applied; commits lie on top; files of the series have edits.
    """
    with on_tree(context, tree) as ground:
        applied = _topmost(ground, name)
        others = ground.without(applied)
        move = Move(
            f"undo {applied.series}", applied.after, applied.before, lambda _made: others, removable=applied.folders
        )
        ground.mover.move(move)
        patches = tuple(patch.file for patch in applied.patches if patch.commit is not None)
        return UndoReport(applied.series, ground.tree.path, applied.after, applied.before, patches)


def _topmost(ground: OnTree, name: str | None) -> AppliedSeries:
    tree = ground.tree
    applied = [one for one in tree.applied() if name in (None, one.series)]
    if not applied:
        _require_not_amended(ground, name)
        what = f"series {name} is not applied" if name is not None else "no series is applied"
        raise BadInput(f"{what} in {tree.path}; `headwater patch apply SERIES --tree {tree.path}` applies one")
    # Of two that end at HEAD the later one has nothing of its own below the other: there are none.
    found = next((one for one in reversed(applied) if one.after == tree.head()), None)
    if found is None:
        last = applied[-1]
        raise BadInput(
            f"commits lie on top of series {last.series} in {tree.path}: {'; '.join(tree.subjects(last.after))}. Take "
            f"them off first, or make patches of them; `git rebase --onto {last.before[:12]} {last.after[:12]}` keeps "
            "them without the series"
        )
    return found


def _require_not_amended(ground: OnTree, name: str | None) -> None:
    tree = ground.tree
    for one in reversed(tree.recorded()):
        if name in (None, one.series) and one.before != tree.head() and tree.has_ancestor(one.before):
            raise BadInput(
                f"the commits of series {one.series} in {tree.path} are not those that were made: they were amended, "
                f"or others took their place. `headwater patch refresh {one.series} --tree {tree.path}` takes them "
                f"into the patch files; `git reset --keep {one.before[:12]}` gives them up"
            )
