# SPDX-License-Identifier: Apache-2.0
"""The nearest names of what nothing is called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.core.naming import nearest_names, no_such

NAMES = st.lists(st.text("abc-", min_size=1, max_size=8), max_size=8)


def test_nearest_names() -> None:
    assert nearest_names("mian", ["main", "zebra", "main"]) == ["main"]
    assert nearest_names("qqqqq", ["main"]) == []
    assert nearest_names("mark", ["make"], alike=0.8) == []


@given(st.text("abc-", min_size=1, max_size=8), NAMES)
def test_a_name_is_nearest_to_itself_and_all_are_names(word: str, names: list[str]) -> None:
    assert nearest_names(word, [*names, word])[0] == word
    found = nearest_names(word, names)
    assert set(found) <= set(names)
    assert len(found) == len(set(found)) <= 3


def test_one_near_name_several_and_none() -> None:
    assert str(no_such("case", "erly-init", ["early-init", "batch-size"])) == (
        "there is no case 'erly-init'; the nearest is early-init"
    )
    assert str(no_such("series", "aab", ["aaa", "aac"])) == "there is no series 'aab'; the nearest are aac, aaa"
    assert str(no_such("case", "zzz", ["a", "b"])) == "there is no case 'zzz'; there are: a, b"
    assert str(no_such("series", "zzz", [])) == "there is no series 'zzz'; there are: none"
