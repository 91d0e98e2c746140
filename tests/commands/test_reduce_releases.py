# SPDX-License-Identifier: Apache-2.0
"""`headwater reduce` and `backport` on real releases: which hunks broke and mended the main bug, in how many probes."""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reduced import hunks

pytestmark = pytest.mark.releases
# Of what takes minutes a part is run, unless all is asked for.
WHOLE = os.environ.get("HEADWATER_TEST_WHOLE") == "1"
CACHE_UTILS = "transformers/cache_utils.py"
MENDED = [
    (CACHE_UTILS, "@@ -46,0 +47 @@"),
    (CACHE_UTILS, "@@ -859,0 +869,2 @@"),
    (CACHE_UTILS, "@@ -1241,0 +1306,2 @@"),
]
# The layer class, and where StaticCache picks it.
BROKE = [(CACHE_UTILS, "@@ -671,0 +672,162 @@"), (CACHE_UTILS, "@@ -1069,0 +1344,3 @@")]


def reduced(headwater: Callable[..., Any], old: str, new: str, *words: str) -> Any:
    done = headwater("reduce", "early-init", "--from", old, "--to", new, *words, "--json")
    assert done.status == 0, done.err
    return done.json


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_the_three_hunks_that_mended_it(headwater: Callable[..., Any], jobs: str) -> None:
    answer = reduced(headwater, "5.12.1", "5.13.0", "--jobs", jobs)
    assert hunks(answer) == MENDED
    assert (answer["files"], answer["of_hunks"]) == (634, 3480)
    assert (answer["minimal"], answer["pair_minimal"], answer["line_minimal"]) == (True, True, True)
    assert answer["stages"][-1]["probes"] == 11
    assert answer["asked"] == 11 if jobs == "1" else 11 <= answer["asked"] <= 25


@pytest.mark.slow
def test_the_two_hunks_that_broke_it(headwater: Callable[..., Any]) -> None:
    answer = reduced(headwater, "5.4.0", "5.5.0")
    assert hunks(answer) == BROKE
    assert (answer["files"], answer["of_hunks"], answer["asked"]) == (527, 2114, 11)
    assert (answer["verdicts"], answer["minimal"], answer["pair_minimal"]) == (["absent", "bad"], True, True)
    assert [hunk["needed_by"]["verdict"] for hunk in answer["hunks"]] == ["other-failure", "absent"]
    # Of the class comments, texts and empty lines went, and what is left of it is Python.
    assert [hunk["lines"] for hunk in answer["hunks"]] == [77, 3]
    added = [line[1:] for line in answer["diff"].splitlines() if line.startswith("+") and not line.startswith("+++")]
    tree = ast.parse("\n".join(added[:77]))
    assert [node.name for node in tree.body if isinstance(node, ast.ClassDef)] == [
        "LinearAttentionCacheLayerMixin",
        "LinearAttentionLayer",
    ]


@pytest.mark.slow
def test_the_class_by_line(headwater: Callable[..., Any]) -> None:
    answer = reduced(headwater, "5.4.0", "5.5.0", "--lines", "60")
    assert hunks(answer) == BROKE
    assert answer["line_minimal"]
    assert [hunk["lines"] for hunk in answer["hunks"]] == [11, 2]


@pytest.mark.slow
@pytest.mark.parametrize("onto", ["5.5.1", "5.8.0", "5.10.1", "5.11.0"])
def test_a_backport_of_the_fix(headwater: Callable[..., Any], workspace: Path, root: Path, onto: str) -> None:
    # The whole suite on one release; elsewhere without the models, which take most of its time.
    left_out = () if WHOLE or onto == "5.10.1" else ("test_models.py",)
    shutil.copytree(
        root / "tests" / "conformance",
        workspace / "tests" / "conformance",
        ignore=shutil.ignore_patterns("__pycache__", *left_out),
    )
    done = headwater("backport", "early-init", "--onto", onto, "--workspace", workspace, "--json")
    assert done.status == 0, done.err
    assert (done.json["before"]["verdict"], done.json["after"]["verdict"]) == ("bad", "good")
    assert done.json["conformance"].startswith("no new failure")
    assert [hunk["file"] for hunk in done.json["hunks"]] == [CACHE_UTILS] * 3
    tested = headwater("test-patched", "backport-early-init", "--workspace", workspace)
    assert tested.status == 0, tested.out + tested.err
