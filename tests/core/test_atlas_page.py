# SPDX-License-Identifier: Apache-2.0
"""The pages that are generated: what stands in them, and where."""

from __future__ import annotations

import pytest
from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry
from headwater.core.atlas_page import BEGIN, END, affected, atlas_page, readme_table, with_table
from headwater.core.cases import Case
from headwater.core.errors import BadInput
from headwater.core.verdicts import Verdict

ONE, TWO, THREE = Version("5.4.0"), Version("5.5.0"), Version("5.6.0")
ATLAS = Atlas(
    (
        AtlasEntry("one", Verdict.GOOD, ONE, ONE),
        AtlasEntry("one", Verdict.BAD, TWO, TWO),
        AtlasEntry("two", Verdict.BAD, ONE, TWO),
        AtlasEntry("two", Verdict.GOOD, THREE, THREE),
        AtlasEntry("three", Verdict.GOOD, ONE, THREE),
    ),
    (AtlasChange("one", "introduced", TWO, "a" * 40, 7), AtlasChange("two", "fixed", THREE, "b" * 40)),
    (ONE, TWO, THREE),
)


def case(case_id: str) -> Case:
    references = ("o/r#1",) if case_id == "one" else ()
    return Case(case_id, f"Title of {case_id}", "a.py", references, "crash", (), 60, False, "a crash", "", {})


CASES = {name: case(name) for name in ("one", "two", "three", "four")}


def test_what_is_affected() -> None:
    assert [affected(ATLAS, name) for name in CASES] == ["5.5.0", "5.4.0 to 5.5.0", "none", "not measured"]
    again = Atlas((*ATLAS.entries, AtlasEntry("one", Verdict.BAD, Version("5.7.0"), Version("5.9.0"))))
    assert affected(again, "one") == "5.5.0, 5.7.0 to 5.9.0"


def test_the_page() -> None:
    page = atlas_page(ATLAS, CASES, {"one": ["mend"]})
    assert "4 cases over the releases from 5.4.0 to 5.6.0." in page
    assert "| [one](#one) | crash | 5.5.0 | aaaaaaaaaaaa (#7) |  | mend |\n" in page
    assert "| [two](#two) | crash | 5.4.0 to 5.5.0 |  | bbbbbbbbbbbb |  |\n" in page
    assert "| [four](#four) | crash | not measured |  |  |  |\n" in page
    [section] = [part for part in page.split("### ") if part.startswith("one\n")]
    assert section.startswith("one\n\nTitle of one.\n\nSeverity: crash  \nReferences: [o/r#1](")
    assert "You see: a crash  \nSeries: mend  \n" in section
    assert "- 5.4.0: good\n- 5.5.0: bad\n- introduced in 5.5.0 by aaaaaaaaaaaa (#7)\n" in section


def test_the_short_table_goes_between_its_markers() -> None:
    table = readme_table(ATLAS, CASES, {"one": ["mend"]})
    assert table.splitlines()[2:4] == ["| one | 5.5.0 | mend |", "| two | 5.4.0 to 5.5.0 |  |"]
    made = with_table(f"above\n{BEGIN}\nold\n{END}\nbelow\n", table)
    assert made == f"above\n{BEGIN}\n\n{table}\n{END}\nbelow\n"
    assert with_table(made, table) == made


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}", f"{BEGIN}{BEGIN}{END}"])
def test_markers_that_are_not_there(text: str) -> None:
    with pytest.raises(BadInput, match=r"README\.md must hold one line"):
        with_table(text, "table")
