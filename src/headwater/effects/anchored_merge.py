# SPDX-License-Identifier: Apache-2.0
"""A step onto a tree where git's merge conflicts, since the two sides changed lines beside each other."""

from __future__ import annotations

from headwater.core.anchored import merge_anchored
from headwater.core.states import Merged
from headwater.effects.merging import Bench, PatchStep


def anchored_merge(bench: Bench, step: PatchStep, onto: str) -> Merged | None:
    """The merge of a step by one anchor a change, with the referee's word; None where a change has no anchor, or where
    the step does anything else than change texts that all three trees have."""
    git = bench.git
    listed = git("diff", "--name-status", "--no-renames", "-z", step.before, step.after).split("\0")
    kinds, paths = listed[:-1:2], listed[1::2]
    texts = [bench.contents(tree, paths) for tree in (step.before, step.after, onto)]
    if set(kinds) != {"M"} or any(len(found) < len(paths) for found in texts):
        return None
    made = {path: merge_anchored(*(found[path] for found in texts)) for path in paths}
    if None in made.values():
        return None
    index, work = bench.folder / "anchored", bench.folder / "content"
    git("read-tree", onto, index=index)
    for path, content in made.items():
        work.write_bytes(content or b"")
        blob = git("hash-object", "-w", "--no-filters", work)
        mode = git("ls-tree", onto, "--", path).partition(" ")[0]
        git("update-index", "--cacheinfo", f"{mode},{blob},{path}", index=index)
    return bench.placed(step, onto, git("write-tree", index=index))
