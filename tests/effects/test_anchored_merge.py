# SPDX-License-Identifier: Apache-2.0
"""A step onto a tree where git's merge conflicts: taken where each change has its anchor, and else left alone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from series import import_commits, mail_of

from headwater.core.mail import read_patch
from headwater.effects.anchored_merge import anchored_merge
from headwater.effects.merging import Bench, PatchStep
from headwater.effects.workspace import Cache

FILE, OTHER = "src/transformers/a.py", "src/transformers/b.py"
BASE = b"def use():\n    one = 1\n    two = 2\n    three = 3\n"
CHANGED = BASE.replace(b"two = 2\n", b"two = 2\n    new = 5\n")
# The line beside the new one is another, so that git finds a conflict.
ONTO = BASE.replace(b"three = 3", b"three = 33")
BOTH = CHANGED.replace(b"three = 3", b"three = 33")


def step_of(cache: Cache, states: Mapping[str, Mapping[str, bytes]]) -> tuple[Bench, PatchStep, str]:
    """The step from the first of three states to the second, and the third."""
    git, commits = import_commits(cache, states)
    before, after, onto = commits.values()
    folder = cache.root / "bench"
    folder.mkdir()
    return Bench(git, folder), PatchStep(read_patch("0001-x.patch", mail_of(git, before, after)), before, after), onto


def test_changes_beside_each_other_go_together(cache: Cache) -> None:
    states = {"1": {FILE: BASE, OTHER: BASE}, "2": {FILE: CHANGED, OTHER: CHANGED}, "3": {FILE: ONTO, OTHER: ONTO}}
    bench, step, onto = step_of(cache, states)
    assert bench.merge(step, onto).reason == f"conflicts in {FILE}, {OTHER}"
    merged = anchored_merge(bench, step, onto)
    assert merged is not None
    assert merged.tree is not None
    assert bench.contents(merged.tree, [FILE, OTHER]) == {FILE: BOTH, OTHER: BOTH}
    listed = bench.git("ls-tree", "-r", "--format=%(objectmode) %(path)", merged.tree).splitlines()
    assert listed == [f"100644 {FILE}", f"100644 {OTHER}"]


@pytest.mark.parametrize(
    ("after", "onto"),
    [
        # The lines around it are gone.
        ({FILE: CHANGED}, {FILE: b"def use():\n    return 1\n"}),
        # It does something else than to change a text that all have.
        ({FILE: CHANGED, OTHER: BASE}, {FILE: ONTO}),
        ({FILE: CHANGED}, {OTHER: ONTO}),
    ],
)
def test_what_has_no_anchor_is_left_alone(cache: Cache, after: Mapping[str, bytes], onto: Mapping[str, bytes]) -> None:
    bench, step, target = step_of(cache, {"1": {FILE: BASE}, "2": after, "3": onto})
    assert anchored_merge(bench, step, target) is None
