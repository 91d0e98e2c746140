# SPDX-License-Identifier: Apache-2.0
"""What the commands on patches and pull requests come to, and the status that each ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.core.patch_results import PatchPair, PatchStatus, ReleaseStatus, SeriesDiff, read_range_diff
from headwater.core.pr_results import GateReport, PrReport, Refusal, VerifyReport
from headwater.core.states import PatchState
from headwater.core.tree_results import ApplyReport

RANGE_DIFF = """\
1:  0123abc = 1:  4567def one
2:  89abcde ! 2:  0a1b2c3 two
    @@ Metadata
     2: 89abcde = 2: 0a1b2c3 a line of the difference
3:  1111111 < -:  ------- gone
-:  ------- > 3:  2222222 new
"""


def test_a_range_diff_is_read_by_its_pairs() -> None:
    read = read_range_diff(RANGE_DIFF.replace("     2:", "    +2:"))
    assert read == (
        PatchPair(1, 1, "=", "one"),
        PatchPair(2, 2, "!", "two"),
        PatchPair(3, None, "<", "gone"),
        PatchPair(None, 3, ">", "new"),
    )
    assert not SeriesDiff("s", "a", "b", "5.10.1", read, RANGE_DIFF).unchanged
    assert SeriesDiff("s", "a", "b", "5.10.1", read[:1], RANGE_DIFF).unchanged


@pytest.mark.parametrize(
    ("states", "patched"),
    [
        ([PatchState.CLEAN, PatchState.ALREADY_APPLIED], True),
        ([PatchState.ALREADY_APPLIED], False),
        ([PatchState.CLEAN, PatchState.CONFLICT], False),
    ],
)
def test_a_release_is_patched_where_all_applies_and_something_changes(states: list[PatchState], patched: bool) -> None:
    assert ReleaseStatus("5.10.1", None, tuple(PatchStatus("1", state, "") for state in states)).patched == patched


def test_a_tree_is_changed_where_its_commit_is_another() -> None:
    assert ApplyReport("s", Path("t"), None, None, "a", "b", ()).changed
    assert not ApplyReport("s", Path("t"), None, None, "a", "a", ()).changed


def test_a_refusal_is_status_1() -> None:
    refusal = Refusal("5.13.0", ())
    assert PrReport("s", "5.13.0", Path("o"), (), (), (), None, refusal, 0).exit_status == 1
    assert PrReport("s", "5.10.1", Path("o"), (), (), (), None, None, 0).exit_status == 0
    assert GateReport(Path("o"), "s", (), ()).exit_status == 0


def test_a_failed_replay_says_nothing_of_figures() -> None:
    assert VerifyReport(Path("o"), "s", 3, (), (), 0).exit_status == 0
    assert VerifyReport(Path("o"), "s", 3, (), (), 0, failed=True).exit_status == 5
