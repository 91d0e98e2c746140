# SPDX-License-Identifier: Apache-2.0
"""Answers are read back as they were written, and a hunt's steps never leave out the change that it found."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_report import hunt_document, reduction_document

from headwater.core.answers import AnswerProbe, HuntAnswer, ReductionAnswer, ReductionStep, read_answer, steps
from headwater.core.errors import BadInput
from headwater.core.verdicts import Evidence, Verdict

V = Verdict


def test_a_hunt_is_read_with_its_probes_in_order() -> None:
    [hunt] = read_answer(json.dumps(hunt_document("early-init")), "x")
    assert isinstance(hunt, HuntAnswer)
    assert (hunt.case, hunt.find, hunt.result, hunt.commits) == ("early-init", "introduced", "found", 300)
    assert hunt.changes[0] == ("introduced", "5.4.0", "5.5.0")
    assert [probe.revision for probe in hunt.probes][:3] == ["5.4.0", "5.10.0", "5.7.0"]
    assert hunt.probes[1].evidence == Evidence("RuntimeError", "size", None)


def test_a_reduction_is_read_with_what_each_hunk_rests_on() -> None:
    [found] = read_answer(json.dumps(reduction_document("early-init")), "x")
    assert isinstance(found, ReductionAnswer)
    assert (found.ends, found.verdicts, found.minimal) == (("5.12.1", "5.13.0"), (V.BAD, V.GOOD), True)
    assert found.stages[1] == ("kept", 17, 90, 1229, 1)
    assert found.steps[1:] == (
        ReductionStep("core", 3, "stays", V.BAD, 90), ReductionStep("core", 2, "flips", V.GOOD, 2),
    )  # fmt: skip
    first, second = found.hunks
    assert isinstance(first.without, AnswerProbe) and first.without.verdict is V.BAD
    assert (second.without, second.commit) == ("not probed", "b" * 40)


def test_a_reduction_of_before_its_steps_were_written_has_none() -> None:
    document = {key: value for key, value in reduction_document("one").items() if key not in ("events", "probes")}
    [found] = read_answer(json.dumps(document), "x")
    assert isinstance(found, ReductionAnswer)
    assert found.steps == ()


def test_a_hunt_that_went_on_to_a_reduction_holds_both() -> None:
    document = {**hunt_document("one"), "reduction": reduction_document("one")}
    assert [type(answer) for answer in read_answer(json.dumps(document), "x")] == [HuntAnswer, ReductionAnswer]


def test_an_error_is_no_answer() -> None:
    text = json.dumps({"schema": 1, "command": "bisect", "error": {"kind": "bad input", "message": "no"}})
    assert read_answer(text, "x") == []


@pytest.mark.parametrize("change", [
    {"schema": 2}, {"command": "repro"}, {"probes": [{"revision": "5.0.0"}]}, {"changes": [{}]}, {"probes": None},
])  # fmt: skip
def test_what_is_none_is_refused_by_name(change: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"hunt\.json: not what `headwater bisect`"):
        read_answer(json.dumps({**hunt_document("one"), **change}), "hunt.json")
    with pytest.raises(BadInput, match=r"hunt\.json"):
        read_answer("no JSON", "hunt.json")


@pytest.mark.parametrize(("header", "first", "count", "inside"), [
    ("@@ -46,0 +47 @@", 44, 6, True), ("@@ -46,0 +47 @@", 47, 6, True), ("@@ -46,0 +47 @@", 48, 6, False),
    ("@@ -10,3 +9,0 @@", 7, 9, True), ("@@ -10,3 +9,0 @@", 1, 9, False), ("@@ -0,0 +1,4 @@", 0, 0, False),
    ("@@ -0,0 +1,4 @@", 1, 3, True),
])  # fmt: skip
def test_a_kept_hunk_is_found_in_the_hunk_with_context(header: str, first: int, count: int, inside: bool) -> None:
    document = reduction_document("one")
    document["hunks"][0]["header"] = header
    [found] = read_answer(json.dumps(document), "x")
    assert isinstance(found, ReductionAnswer)
    assert found.hunks[0].lies_in("src/transformers/cache_utils.py", first, count) is inside
    assert not found.hunks[0].lies_in("src/transformers/other.py", first, count)


@st.composite
def halvings(draw: st.DrawFn) -> tuple[HuntAnswer, int, int]:
    """A hunt over `count` revisions that found `after`, with whatever probes."""
    count = draw(st.integers(2, 40))
    after = draw(st.integers(1, count - 1))
    order = draw(st.lists(st.integers(0, count - 1), unique=True))
    odd = st.sampled_from([V.OTHER_FAILURE, V.UNTESTABLE, V.HARNESS_ERROR, V.FLAKY])
    probes = []
    for place in (*order, after - 1, after):
        seen = (
            draw(odd)
            if draw(st.booleans()) and place not in (after - 1, after)
            else V.BAD
            if place >= after
            else V.GOOD
        )
        probes.append(AnswerProbe(str(place), seen, Evidence(), 1))
    changes = (("introduced", str(after - 1), str(after)),)
    hunt = HuntAnswer("one", "cpu", "introduced", "found", changes, tuple(probes), (), "", 0, {})
    return hunt, count, after


@given(halvings())
def test_what_is_left_shrinks_to_the_two_neighbours_and_never_loses_them(made: tuple[HuntAnswer, int, int]) -> None:
    hunt, count, after = made
    taken = steps(hunt, {str(place): place for place in range(count)}, count)
    assert [step.position for step in taken] == [int(probe.revision) for probe in hunt.probes]
    for before, step in pairwise(taken):
        assert before.low <= step.low <= after - 1 and after <= step.high <= before.high
    assert (taken[-1].low, taken[-1].high) == (after - 1, after)


def test_a_survey_and_a_hunt_that_found_nothing_leave_all() -> None:
    [hunt] = read_answer(json.dumps({**hunt_document("one"), "changes": []}), "x")
    assert isinstance(hunt, HuntAnswer)
    places = {"5.4.0": 0, "5.5.0": 1, "5.6.0": 2, "5.7.0": 3, "5.10.0": 4}
    assert {(step.low, step.high) for step in steps(hunt, places, 5)} == {(0, 4)}
    assert len(steps(hunt, places, 5)) == 5
