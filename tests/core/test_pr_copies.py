# SPDX-License-Identifier: Apache-2.0
"""Edits of generated files and of copies, told from edits of their sources."""

from __future__ import annotations

import pytest

from headwater.core.pr_copies import HandEdit, hand_edits

NOTE = "#     🚨\n#   This file was automatically generated from src/lib/models/a/modular_a.py.\n#     🚨\n"
MODULAR, MODELING, OTHER = "src/lib/models/a/modular_a.py", "src/lib/models/a/modeling_a.py", "src/lib/other.py"
COPY = """\
class Own:
    def own(self):
        return 1

    # Copied from lib.other.Base.method with Base->Own
    def method(self):
        return 2


# Copied from lib.other.function
@decorated
def function():
    return 3
"""
BASE = "class Base:\n    def method(self):\n        return 2\n\n\ndef function():\n    return 3\n"


def edits(before: dict[str, str], after: dict[str, str]) -> list[HandEdit]:
    return hand_edits(before, after, "lib")


def test_a_generated_file() -> None:
    before = {MODELING: NOTE + "x = 1\n", MODULAR: "x = 1\n"}
    edited = {**before, MODELING: NOTE + "x = 2\n"}
    assert edits(before, edited) == [HandEdit(MODELING, None, MODULAR, kept=False)]
    both = {MODELING: NOTE + "x = 2\n", MODULAR: "x = 2\n"}
    assert edits(before, both) == [HandEdit(MODELING, None, MODULAR, kept=True)]
    assert edits(before, {**before, MODULAR: "x = 2\n"}) == []
    assert edits({}, {MODELING: NOTE}) == [HandEdit(MODELING, None, MODULAR, kept=False)]


def test_a_note_further_down_is_no_header() -> None:
    text = "x = 1\n" * 1000
    assert edits({MODELING: text + NOTE}, {MODELING: "y = 1\n" + text + NOTE}) == []


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return 1", "return 11", []),
        ("return 2", "return 22", ["Own.method"]),
        ("return 3", "return 33", ["function"]),
        ("@decorated", "@other", ["function"]),
        ("# Copied from lib.other.function\n", "", []),
        ("return 2", "return 2\n\n    def more(self):\n        return 4", []),
    ],
)
def test_a_copy(old: str, new: str, names: list[str]) -> None:
    found = edits({OTHER: BASE, MODELING: COPY}, {OTHER: BASE, MODELING: COPY.replace(old, new)})
    assert [(one.path, one.name, one.kept) for one in found] == [(MODELING, name, False) for name in names]


def test_a_copy_whose_source_changes_too() -> None:
    before = {OTHER: BASE, MODELING: COPY}
    after = {name: text.replace("return 2", "return 22") for name, text in before.items()}
    assert edits(before, after) == [HandEdit(MODELING, "Own.method", "lib.other.Base.method", kept=True)]
    elsewhere = {OTHER: BASE.replace("return 3", "return 33"), MODELING: COPY.replace("return 2", "return 22")}
    assert edits(before, elsewhere) == [HandEdit(MODELING, "Own.method", "lib.other.Base.method", kept=False)]


def test_what_is_no_python_has_no_copies() -> None:
    assert edits({"a.md": "# Copied from x\n"}, {"a.md": "# Copied from x\ny\n"}) == []
    assert edits({MODELING: COPY}, {MODELING: COPY + "(\n"}) == []


@pytest.mark.parametrize("source", ["lib.gone.Base.method", "elsewhere.other.Base.method", "lib"])
def test_a_source_that_is_nowhere_does_not_change(source: str) -> None:
    before = {OTHER: BASE, MODELING: COPY.replace("lib.other.Base.method", source)}
    after = {name: text.replace("return 2", "return 22") for name, text in before.items()}
    assert edits(before, after) == [HandEdit(MODELING, "Own.method", source, kept=False)]


def test_a_source_that_becomes_readable_has_changed() -> None:
    """Of what is no Python nothing can be said; nor of a file that was not there."""
    after = {OTHER: BASE, MODELING: COPY.replace("return 2", "return 22")}
    [edit] = edits({OTHER: "class (\n", MODELING: COPY}, after)
    assert edit == HandEdit(MODELING, "Own.method", "lib.other.Base.method", kept=True)
    assert not edits({OTHER: "class (\n", MODELING: COPY}, {**after, OTHER: "class )\n"})[0].kept
    assert not edits({MODELING: COPY}, after)[0].kept
