# SPDX-License-Identifier: Apache-2.0
"""Cases made worse in one place: which places there are, and what comes out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from headwater.core.case_mutants import mutants

HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "one"  # as it is
# ///
"""
CASE = '''\
"""It must hold."""

import casekit
import layerkit
import torch
from transformers import DynamicCache

LAYERS = (1, 2)  # gone


def run(device):
    cache = DynamicCache()
    keys = torch.ones(2)
    layerkit.fill(cache, 2, 3, device)
    cache.layers[0].reset()
    try:
        cache.crop(-1)
    except TypeError as exc:
        casekit.bug(f"crop: {exc}")
    getattr(cache, "reset")(1)
    if (left := cache.get_seq_length()) or hasattr(cache, "x"):
        length = getattr(cache, "length", None)
        casekit.bug(f"{left} are left of {length}")
    casekit.require(getattr(cache, "empty") and layerkit.dynamic_cache(LAYERS), "it is empty")


if __name__ == "__main__":
    casekit.main(run, __file__)
'''
FIRST = 5  # the first line below the head


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(CASE.splitlines(), FIRST) if text in line)


def test_every_place_once_and_in_order() -> None:
    found = mutants(HEAD + CASE)
    assert [(one.line, one.what) for one in found] == [
        (line_of("layerkit.fill"), "`layerkit.fill(cache, 2, 3, device)` left out"),
        (line_of(".reset()"), "`cache.layers[0].reset()` left out"),
        (line_of("crop(-1)"), "`cache.crop(-1)` left out"),
        (line_of('bug(f"crop'), "the bug not told"),
        (line_of('"reset")'), "`getattr(cache, 'reset')(1)` left out"),
        (line_of("if (left"), "`(left := cache.get_seq_length()) or hasattr(cache, 'x')` inverted"),
        (line_of("if (left"), "`cache.get_seq_length()` left out"),
        (line_of("casekit.require"), "`getattr(cache, 'empty')` left out"),
    ]
    assert len({one.source for one in found} | {HEAD + CASE}) == len(found) + 1


@pytest.mark.parametrize(
    ("what", "old", "new"),
    [
        ("`cache.crop(-1)` left out", "cache.crop(-1)", "pass"),
        ("the bug not told", 'casekit.bug(f"crop: {exc}")', "pass"),
        ("`cache.get_seq_length()` left out", "cache.get_seq_length()", "None"),
        ("`getattr(cache, 'empty')` left out", 'getattr(cache, "empty")', "None"),
        (
            "`(left := cache.get_seq_length()) or hasattr(cache, 'x')` inverted",
            '(left := cache.get_seq_length()) or hasattr(cache, "x")',
            'not ((left := cache.get_seq_length()) or hasattr(cache, "x"))',
        ),
    ],
)
def test_one_place_changes_and_nothing_else(what: str, old: str, new: str) -> None:
    [mutant] = [one for one in mutants(HEAD + CASE) if one.what == what]
    assert mutant.source.startswith(HEAD)
    assert ast.dump(ast.parse(mutant.source)) == ast.dump(ast.parse(CASE.replace(old, new, 1)))


def test_what_is_right_to_do_nothing_is_left() -> None:
    idle = CASE.replace("    cache.layers[0].reset()\n", "    # idle: it is empty\n    cache.layers[0].reset()\n")
    whats = [one.what for one in mutants(HEAD + CASE)]
    whats.remove("`cache.layers[0].reset()` left out")
    assert [one.what for one in mutants(HEAD + idle)] == whats


def test_every_case_of_this_workspace_has_mutants(root: Path) -> None:
    for file in (root / "tests" / "repro").glob("*.py"):
        source = file.read_text(encoding="utf-8")
        if "# /// case" in source:
            assert mutants(source), file.name
