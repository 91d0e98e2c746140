# SPDX-License-Identifier: Apache-2.0
"""What a crossing of code and packages says."""

from __future__ import annotations

import pytest

from headwater.core.hunting import Crossing
from headwater.core.verdicts import Verdict

GOOD, BAD = Verdict.GOOD, Verdict.BAD


@pytest.mark.parametrize(
    ("verdicts", "culprit"),
    [
        (((GOOD, GOOD), (BAD, BAD)), "library"),
        (((GOOD, BAD), (GOOD, BAD)), "packages"),
        (((GOOD, GOOD), (GOOD, BAD)), "both"),
        (((GOOD, GOOD), (GOOD, GOOD)), "unclear"),
        (((BAD, BAD), (BAD, BAD)), "unclear"),
        (((GOOD, GOOD), (BAD, Verdict.OTHER_FAILURE)), "unclear"),
    ],
)
def test_only_a_change_that_shows_has_a_culprit(
    verdicts: tuple[tuple[Verdict, Verdict], tuple[Verdict, Verdict]], culprit: str
) -> None:
    assert Crossing(("1", "2"), ("a", "b"), verdicts).culprit == culprit
