# SPDX-License-Identifier: Apache-2.0
"""What is remembered of a work tree is read back, and what is damaged or newer is refused by name."""

from __future__ import annotations

import pytest

from headwater.core.applied import (
    AppliedPatch,
    AppliedSeries,
    FileSides,
    Journal,
    Side,
    read_applied,
    read_journal,
    write_applied,
    write_journal,
)
from headwater.core.errors import HarnessError

SERIES = AppliedSeries(
    "caches", "5.10.1", None, "b" * 40, "a" * 40,
    (AppliedPatch("0001-one.patch", "1" * 64, "a" * 40), AppliedPatch("0002-two.patch", "2" * 64, None)), ("tests",),
)  # fmt: skip
JOURNAL = Journal(
    "t", "apply", "begun", "b" * 40, "a" * 40, False,
    (FileSides("x", Side("100644", "1" * 40), Side("100755", "2" * 40, "3" * 64)),
     FileSides("y", None, Side("100644", "4"))),
    ("tests",), ("/w/patches/series",), (SERIES,),
)  # fmt: skip


def test_what_is_written_is_read_back() -> None:
    assert read_applied(write_applied([SERIES]), "state") == (SERIES,)
    assert read_journal(write_journal(JOURNAL), "journal") == JOURNAL


def test_a_patch_that_made_no_commit_has_none() -> None:
    assert SERIES.commits == ("a" * 40,)


def test_a_move_goes_on() -> None:
    assert (JOURNAL.at("written").phase, JOURNAL.phase) == ("written", "begun")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', write_journal(JOURNAL).replace('"token"', '"x"')])
def test_what_is_damaged_is_named(text: str) -> None:
    with pytest.raises(HarnessError, match=r"journal is damaged.*git status"):
        read_journal(text, "journal")


def test_what_a_newer_headwater_wrote_is_refused() -> None:
    with pytest.raises(HarnessError, match="state has schema 2, and this Headwater reads 1"):
        read_applied('{"schema": 2}', "state")
