# SPDX-License-Identifier: Apache-2.0
"""Mutants of a small library end to end: one that its suite notices, and one that it does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hunting_ground import Ground

pytestmark = pytest.mark.slow
SUITE = """
from transformers.plain import use

def test_fails_always():
    raise RuntimeError("as before")

def test_use():
    assert use()
"""
WHY = """
[[survivor]]
release = "5.0.0"
line = 2
operator = "off-by-one"
after = "9"
why = "any number will do"
"""


def run(ground: Ground, root: Path) -> tuple[int, list[str]]:
    """The status and the lines of a run on the file `plain.py` of 5.0.0, whose only line is `return 8`."""
    words = ("--root", str(ground.root), "--release", "5.0.0", "--file", "plain.py", "--count", "9")
    paths = os.pathsep.join([str(root / "src"), str(root / "tests" / "mutants")])
    done = subprocess.run(
        [sys.executable, "-m", "mutants", *words], cwd=ground.here, text=True, capture_output=True, check=False,
        env={**ground.surroundings, "PYTHONPATH": paths},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


def test_what_is_noticed_and_what_is_not(ground: Ground, root: Path) -> None:
    for folder in ("conformance", "mutants"):
        (ground.root / "tests" / folder).mkdir()
    (ground.root / "tests" / "conformance" / "test_small.py").write_text(SUITE, encoding="utf-8")
    survivors = ground.root / "tests" / "mutants" / "survivors.toml"
    survivors.write_text("survivor = []\n", encoding="utf-8")
    status, said = run(ground, root)
    assert (status, said[0]) == (1, "seed 46439")
    assert said[-2] == "good: line 2, use: off-by-one: `8` becomes `9`: nobody has said why"
    assert said[-1].startswith("5.0.0, plain.py, seed 46439: 1 of 2 mutants caught (50.0%), of 2 ")
    # With a reason it is still one of two: nine in ten have to be caught.
    survivors.write_text(WHY, encoding="utf-8")
    status, said = run(ground, root)
    assert (status, said[-2].rpartition(": ")[2]) == (1, "any number will do")
