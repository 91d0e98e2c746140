# SPDX-License-Identifier: Apache-2.0
"""Recordings: their plain form, and ranges of lines."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.errors import HarnessError
from headwater.core.recording import (
    Frame,
    Recording,
    numbers,
    parse_recording,
    plain_recording,
    ranges,
)
from headwater.core.test_results import OneTest
from headwater.core.verdicts import Evidence, Outcome

NAMES = st.text(min_size=1, max_size=8)
LINES = st.frozensets(st.integers(1, 60), min_size=1)
OUTCOMES = st.builds(
    Outcome,
    st.sampled_from(["returned", "raised", "died"]),
    st.sampled_from(["library", "run"]),
    st.builds(Evidence, st.none() | NAMES, st.none() | NAMES, st.none() | NAMES),
    st.floats(0, 100),
    st.booleans(),
    st.just(()) | st.just((OneTest("a", "failed", "E: x"), OneTest("b", "passed"))),
)
RECORDINGS = st.builds(
    Recording,
    st.frozensets(NAMES),
    st.frozensets(NAMES),
    st.dictionaries(NAMES, LINES),
    st.lists(st.builds(Frame, NAMES, st.integers(1, 99), NAMES)).map(tuple),
    st.lists(NAMES).map(tuple),
    OUTCOMES,
)


@given(RECORDINGS)
def test_the_plain_form_is_read_back(recording: Recording) -> None:
    assert parse_recording(json.loads(json.dumps(plain_recording(recording)))) == recording
    assert recording.files == recording.imported | recording.read
    assert recording.complete == (recording.gaps == ())


RETURNED = Outcome("returned", "run", Evidence(), 1.0)
GOOD = plain_recording(Recording(frozenset("a"), frozenset(), {"a": frozenset({1})}, (), (), RETURNED))


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2}, {"lines": {"a": "1-x"}}, {"lines": []}, {"frames": [["a", 1]]}, {"frames": [["a", "x", "f"]]},
        {"outcome": {}}, {"outcome": {**GOOD["outcome"], "more": 1}}, {"imported": None}, {"gaps": 1},
    ],
)  # fmt: skip
def test_what_is_no_recording_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(HarnessError, match=r"this is no recording|has schema 2"):
        parse_recording({**GOOD, **change})


@pytest.mark.parametrize("value", [None, [], 1, {}])
def test_what_is_not_even_like_one_is_refused(value: Any) -> None:
    with pytest.raises(HarnessError, match="this is no recording"):
        parse_recording(value)


@given(st.lists(st.integers(0, 80)))
def test_ranges_are_the_shortest_form_of_numbers(lines: list[int]) -> None:
    text = ranges(lines)
    assert list(numbers(text)) == sorted(set(lines))
    parts = [part.partition("-") for part in text.split(",") if part]
    ends = [(int(first), int(last or first)) for first, _, last in parts]
    assert all(end + 1 < start for (_, end), (start, _) in pairwise(ends))


def test_ranges_by_example() -> None:
    assert ranges([3, 1, 2, 7]) == "1-3,7"
    assert ranges([]) == ""
