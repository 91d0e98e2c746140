# SPDX-License-Identifier: Apache-2.0
"""What a probe's end means: only a matched signature is bad, and only a return is good."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.verdicts import (
    End,
    Evidence,
    Outcome,
    Phase,
    Signature,
    Verdict,
    combine,
    is_reusable,
    judge,
    telling,
)

ENDS: tuple[End, ...] = get_args(End)
PHASES: tuple[Phase, ...] = get_args(Phase)
SEEN = Evidence("RuntimeError", "size 8 must match 4", "transformers/cache_utils.py:742 in update")
BUG = Signature("RuntimeError", r"must match \d", r"cache_utils\.py:\d+ in update$")
OTHER = Signature("KeyError", "")

# For every end: the verdict where a signature matches, and where none does.
TABLE: dict[End, tuple[Verdict, Verdict]] = {
    "returned": (Verdict.GOOD, Verdict.GOOD),
    "absent": (Verdict.ABSENT, Verdict.ABSENT),
    "raised": (Verdict.BAD, Verdict.OTHER_FAILURE),
    "skipped": (Verdict.UNTESTABLE, Verdict.UNTESTABLE),
    "aborted": (Verdict.HARNESS_ERROR, Verdict.HARNESS_ERROR),
    "no-device": (Verdict.UNAVAILABLE, Verdict.UNAVAILABLE),
    "died": (Verdict.BAD, Verdict.OTHER_FAILURE),
    "time-limit": (Verdict.BAD, Verdict.OTHER_FAILURE),
    "output-limit": (Verdict.BAD, Verdict.OTHER_FAILURE),
    "process-limit": (Verdict.BAD, Verdict.OTHER_FAILURE),
    "killed": (Verdict.BAD, Verdict.OTHER_FAILURE),
    "harness": (Verdict.HARNESS_ERROR, Verdict.HARNESS_ERROR),
}


def test_verdicts_are_the_words_of_the_design() -> None:
    words = "good bad other-failure absent untestable flaky unavailable harness-error"
    assert [verdict.value for verdict in Verdict] == words.split()
    assert Verdict.OTHER_FAILURE.words == "other failure"
    assert Verdict.GOOD.words == "good"


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("end", ENDS)
def test_end_and_phase(end: End, phase: Phase) -> None:
    matched, unmatched = TABLE[end]
    outcome = Outcome(end, phase, SEEN, 1.0)
    assert judge(outcome, [OTHER, BUG]) is matched
    if (end, phase) == ("raised", "library"):
        unmatched = Verdict.UNTESTABLE
    assert judge(outcome, [OTHER]) is unmatched
    assert judge(outcome, []) is unmatched


@pytest.mark.parametrize("phase", PHASES)
def test_a_signature_is_matched_before_the_import_rule(phase: Phase) -> None:
    evidence = Evidence("ImportError", "cannot import name 'X'", None)
    outcome = Outcome("raised", phase, evidence, 1.0, import_failure=True)
    assert judge(outcome, [Signature("ImportError", "cannot import name")]) is Verdict.BAD
    assert judge(outcome, [Signature("ImportError", "another")]) is Verdict.UNTESTABLE


@given(
    st.sampled_from(ENDS),
    st.sampled_from(PHASES),
    st.sampled_from([SEEN, Evidence(), Evidence("KeyError", "'x'")]),
    st.booleans(),
    st.lists(st.sampled_from([BUG, OTHER])),
)
def test_only_returned_is_good_and_only_a_match_is_bad(
    end: End, phase: Phase, evidence: Evidence, import_failure: bool, signatures: list[Signature]
) -> None:
    verdict = judge(Outcome(end, phase, evidence, 1.0, import_failure), signatures)
    assert (verdict is Verdict.GOOD) == (end == "returned")
    assert verdict is not Verdict.FLAKY
    if verdict is Verdict.BAD:
        assert any(signature.matches(evidence) for signature in signatures)


@pytest.mark.parametrize(
    ("signature", "matches"),
    [
        (BUG, True),
        (Signature("RuntimeError", "must match"), True),
        (Signature("RuntimeError", ""), True),
        (Signature("Runtime", "must match"), False),
        (Signature("runtimeerror", "must match"), False),
        (Signature("RuntimeError", "^must match"), False),
        (Signature("RuntimeError", "must match", "in lazy_initialization"), False),
    ],
)
def test_signature(signature: Signature, matches: bool) -> None:
    assert signature.matches(SEEN) is matches


@pytest.mark.parametrize(
    ("signature", "matches"),
    [
        (Signature("E", ""), True),
        (Signature("E", "."), False),
        (Signature("E", "", "in update"), False),
    ],
)
def test_signature_of_an_exception_without_message_or_frame(signature: Signature, matches: bool) -> None:
    assert signature.matches(Evidence("E", None, None)) is matches
    assert not signature.matches(Evidence())


@pytest.mark.parametrize("end", ENDS)
def test_what_may_be_the_machines_fault_is_never_reused(end: End) -> None:
    machine = {"harness", "aborted", "time-limit", "killed", "no-device"}
    assert is_reusable(Outcome(end, "run", Evidence(), 1.0)) == (end not in machine)


@given(st.lists(st.sampled_from(Verdict), min_size=1))
def test_combine(verdicts: list[Verdict]) -> None:
    combined = combine(verdicts)
    if Verdict.HARNESS_ERROR in verdicts:
        assert combined is Verdict.HARNESS_ERROR
    elif len(set(verdicts)) == 1:
        assert combined is verdicts[0]
    else:
        assert combined is Verdict.FLAKY


def test_combine_needs_a_verdict() -> None:
    with pytest.raises(ValueError, match="no verdicts"):
        combine([])


@given(st.lists(st.sampled_from(Verdict), min_size=1))
def test_the_repetition_to_show(verdicts: list[Verdict]) -> None:
    shown = verdicts[telling(verdicts)]
    if Verdict.BAD in verdicts:
        assert shown is Verdict.BAD
    elif combine(verdicts) is Verdict.FLAKY and set(verdicts) != {Verdict.FLAKY}:
        assert shown is not Verdict.GOOD
    else:
        assert shown is combine(verdicts)


def test_there_is_a_repetition_to_show() -> None:
    with pytest.raises(ValueError, match="no verdicts"):
        telling([])


def test_a_bug_goes_before_what_shows_the_feature_missing() -> None:
    outcome = Outcome("raised", "run", SEEN, 1.0, import_failure=True)
    assert judge(outcome, [BUG], [BUG]) is Verdict.BAD
    assert judge(outcome, [OTHER], [BUG]) is Verdict.ABSENT
    assert judge(outcome, [OTHER], [OTHER]) is Verdict.UNTESTABLE
