# SPDX-License-Identifier: Apache-2.0
"""Classes with the same methods, as cache_utils.py has them: a patch lands in the one it is for, or nowhere."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest
from series import apply_series, import_commits, mail_of, series_of

from headwater.core.errors import PatchFailed
from headwater.effects.git import GitDir
from headwater.effects.merging import read_file
from headwater.effects.series_folder import Series
from headwater.effects.workspace import Cache

METHODS = """\
    def update(self, states):
        self.steps = 0
        for step in range(3):
            self.steps += step
        return states

    def early(self, batch, heads):
        keys = self.make(batch, heads)
        values = self.make(batch, heads)
        self.keys = keys
        self.values = values
        return keys, values

    def reset(self):
        self.keys = None
        self.values = None
"""
MARK = "        self.mended = True\n"
PLACES = {
    "first line": "    def update(self, states):\n",
    "middle": "        values = self.make(batch, heads)\n",
    "last line": "    def reset(self):\n        self.keys = None\n        self.values = None\n",
}
ORDERS = ("ABC", "BAC", "ACB", "BCA", "CAB", "CBA", "AB", "AC", "BC", "BA", "A", "B", "C", "ABCD", "DABC", "ADBC")


def module(order: str, mended: str = "", place: str = "middle") -> str:
    """A module of classes that differ in nothing but their names."""
    marked = METHODS.replace(PLACES[place], PLACES[place] + MARK)
    classes = (f"class {name}(Base):\n{marked if name in mended else METHODS}" for name in order)
    return "class Base:\n    pass\n\n\n" + "\n\n".join(classes)


def mended_classes(text: str) -> str:
    """The classes that the mark stands in."""
    return "".join(
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and MARK.strip() in ast.unparse(node)
    )


def commits_of(cache: Cache, texts: Mapping[str, str]) -> tuple[GitDir, dict[str, str]]:
    """Commits of one file, by name, in a fresh repository."""
    return import_commits(cache, {name: {"src/transformers/cache.py": text.encode()} for name, text in texts.items()})


def written_for(git: GitDir, before: str, after: str) -> Series:
    """The step between two commits as a series."""
    return series_of(git, before, mail_of(git, before, after))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mended", "ABC")
def test_never_into_the_wrong_class(cache: Cache, mended: str, place: str) -> None:
    texts = {f"t-{order}": module(order) for order in ORDERS}
    git, commits = commits_of(cache, {"base": module("ABC"), "after": module("ABC", mended, place), **texts})
    series = written_for(git, commits["base"], commits["after"])
    wrong, landed = [], []
    for order in ORDERS:
        try:
            applied = apply_series(cache, git, series, commits["base"], commits[f"t-{order}"])
        except PatchFailed:
            continue
        result = read_file(git, applied.commit, "src/transformers/cache.py").decode()
        if mended_classes(result) != mended or result != module(order, mended, place):
            wrong.append(f"{order}: into {mended_classes(result) or 'none'}")
        else:
            landed.append(order)
    assert wrong == []
    assert "ABC" in landed and len(landed) > 1


def test_a_class_that_is_gone_takes_the_patch_with_it(cache: Cache) -> None:
    git, commits = commits_of(cache, {"base": module("AB"), "after": module("AB", "B"), "target": module("A")})
    series = written_for(git, commits["base"], commits["after"])
    with pytest.raises(PatchFailed, match=r"0001-mend\.patch.*src/transformers/cache\.py"):
        apply_series(cache, git, series, commits["base"], commits["target"])
