# SPDX-License-Identifier: Apache-2.0
"""The hunt, on simulated histories whose answer is known."""

from __future__ import annotations

import math
import random

import pytest
from examples import examples
from histories import ABSENT, BAD, FAULT, GOOD, UNJUDGEABLE, UNTESTABLE, Drawn, History, monotone, parallel, times
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.core.bisection import Answer, Bisection
from headwater.core.marks import JUDGED, Find
from headwater.core.verdicts import Verdict


@st.composite
def histories(draw: st.DrawFn, *, holes: bool) -> Drawn:
    """A history with judged ends, its first position after the change, and what to find; `holes` are not judged."""
    find: Find = draw(st.sampled_from(("introduced", "fixed")))
    if find == "introduced":
        absent, good = draw(st.integers(0, 60)), draw(st.integers(0, 60))
        history = monotone(absent, good + (absent + good == 0), draw(st.integers(1, 60)))
        culprit = history.index(BAD)
    else:
        culprit = draw(st.integers(1, 60))
        history = [BAD] * culprit + [GOOD] * draw(st.integers(1, 60))
    if holes and len(history) > 2:
        inner = st.integers(1, len(history) - 2)
        low, high = sorted((draw(inner), draw(inner)))
        clustered = st.sets(st.integers(low, high))
        mute = UNJUDGEABLE if find == "introduced" else [*UNJUDGEABLE, ABSENT]
        for position in draw(st.sets(inner)) | draw(clustered):
            history[position] = draw(st.sampled_from(mute))
    return history, culprit, find


def words(bisection: Bisection) -> str:
    return bisection.result


def unjudged(verdict: Verdict, find: Find) -> bool:
    return verdict in UNJUDGEABLE or (find == "fixed" and verdict is ABSENT)


def hunt(
    history: History, find: Find = "introduced", proofs: int = 1, confirm: bool = False
) -> tuple[Bisection, History]:
    """Run a hunt with one worker to its end, checking at every step what must hold at every step."""
    bisection = Bisection(len(history), find, proofs=proofs, confirm=confirm)
    while steps := bisection.next_steps():
        [position] = steps
        before = bisection.answer() if bisection.ends_differ else None
        bisection.mark(position, history[position])
        if before is not None:
            after = bisection.answer()
            assert set(after.candidates) <= set(before.candidates)
            if unjudged(history[position], find):
                assert (after.before, after.after) == (before.before, before.after), "not judged never narrows"
    return bisection, [verdict for _, verdict in bisection.log]


def check_answer(history: History, culprit: int, find: Find, bisection: Bisection) -> Answer:
    """What must hold of every final answer over one change-over."""
    answer = bisection.answer()
    assert bisection.done
    assert culprit in answer.candidates
    assert history[answer.before] in ((GOOD, ABSENT) if find == "introduced" else (BAD,))
    assert history[answer.after] is (BAD if find == "introduced" else GOOD), "only bad may blame, only good mends"
    between = range(answer.before + 1, answer.after)
    probed = times(bisection)
    assert all(unjudged(history[p], find) and probed[p] for p in between), "nothing is left to learn"
    assert answer.confirmed and not answer.contradictions
    assert answer.found == (len(between) == 0)
    assert bisection.result == ("found" if answer.found else "range")
    return answer


@given(histories(holes=False))
@example((monotone(0, 1, 1), 1, "introduced"))
@example((monotone(0, 1, 200), 1, "introduced"))
def test_the_change_is_found_exactly(drawn: Drawn) -> None:
    history, culprit, find = drawn
    bisection, probed = hunt(history, find)
    assert bisection.answer() == Answer(culprit - 1, culprit)
    assert list(bisection.answer().candidates) == [culprit]
    assert len(probed) <= math.ceil(math.log2(len(history))) + 2


@given(histories(holes=False))
def test_whatever_is_asked_for_next_was_foreseen(drawn: Drawn) -> None:
    history, _, find = drawn
    bisection = Bisection(len(history), find)
    foreseen: set[int] = set()
    while steps := bisection.next_steps():
        [position] = steps
        probed = times(bisection)
        assert position in foreseen or probed[position] or not probed
        ahead = bisection.foresee(steps)
        assert not {p for p in ahead if probed[p]} and position not in ahead
        assert len(ahead) <= 4
        foreseen.update(ahead)
        bisection.mark(position, history[position])


@examples(500)
@given(histories(holes=True))
@example(([UNTESTABLE if n in (6, 7, 9) else v for n, v in enumerate(monotone(0, 12, 2))], 12, "introduced"))
def test_holes_widen_the_answer_and_cost_two_probes_each_at_most(drawn: Drawn) -> None:
    history, culprit, find = drawn
    bisection, probed = hunt(history, find)
    check_answer(history, culprit, find, bisection)
    met = sum(unjudged(verdict, find) for verdict in probed)
    assert len(probed) <= 2 + math.ceil(math.log2(len(history) - 1)) + 2 * met
    assert set(times(bisection).values()) == {1}, "nothing that is known is probed again"


@examples(500)
@given(histories(holes=True), st.integers(1, 8), st.randoms(use_true_random=False))
def test_any_number_of_workers_in_any_order_find_the_same(drawn: Drawn, workers: int, rng: random.Random) -> None:
    history, culprit, find = drawn
    bisection, marks = parallel(history, find, workers, rng)
    alone, _ = hunt(history, find, proofs=2, confirm=True)
    assert check_answer(history, culprit, find, bisection) == alone.answer()
    assert marks <= 2 * len(history)
    probed = times(bisection)
    for end in (0, len(history) - 1, *((a := bisection.answer()).before, a.after)):
        assert probed[end] == 2, "ends are proved twice, the culprit and its parent too"


@given(histories(holes=False), st.integers(1, 8))
def test_rounds(drawn: Drawn, workers: int) -> None:
    """k workers in step cut the range in k + 1 parts: log to the base k + 1, the proofs of the ends, and one to
    confirm; and the workers that the proofs leave idle have cut already."""
    history, culprit, find = drawn
    bisection = Bisection(len(history), find)
    rounds = 0
    while steps := bisection.next_steps(workers):
        rounds += 1
        for position in reversed(steps):
            bisection.mark(position, history[position])
    assert bisection.answer() == Answer(culprit - 1, culprit)
    cuts, reach = 0, 1
    while reach < len(history) - 1:
        cuts, reach = cuts + 1, reach * (workers + 1)
    proofs = 4 if workers == 1 else 2
    assert rounds <= proofs + cuts + (2 if workers == 1 else 1)


@given(histories(holes=True), st.integers(1, 4), st.data())
def test_a_resumed_hunt_asks_for_what_the_interrupted_one_would(
    drawn: Drawn, workers: int, data: st.DataObject
) -> None:
    history, _, find = drawn
    bisection, _ = parallel(history, find, workers, random.Random(7))
    cutoff = data.draw(st.integers(0, len(bisection.log)))
    first, second = Bisection(len(history), find), Bisection(len(history), find)
    for position, verdict in bisection.log[:cutoff]:
        first.mark(position, verdict)
        # Whatever was asked in between changes nothing: the state is the marks.
        first.next_steps(3)
        second.mark(position, verdict)
    assert first.next_steps(workers) == second.next_steps(workers)
    assert (first.result, first.ends, first.log) == (second.result, second.ends, second.log)
    if cutoff == len(bisection.log):
        assert second.done, "a finished hunt that is replayed probes nothing"


def test_with_one_worker_the_best_so_far_and_the_next_step_follow_from_the_marks() -> None:
    history = monotone(3, 10, 20)
    whole, _ = hunt(history, proofs=2, confirm=True)
    for count in range(2, len(whole.log)):
        resumed = Bisection(len(history))
        for position, verdict in whole.log[:count]:
            resumed.mark(position, verdict)
        assert 13 in resumed.answer().candidates
        assert resumed.next_steps() == [whole.log[count][0]]
        assert 0 < resumed.probes_left <= len(whole.log) - count + 2
    assert whole.probes_left == 0


ENDS_THAT_DIFFER = {
    ("introduced", GOOD, BAD),
    ("introduced", ABSENT, BAD),
    ("fixed", BAD, GOOD),
}


@pytest.mark.parametrize("find", ["introduced", "fixed"])
@pytest.mark.parametrize("last", Verdict)
@pytest.mark.parametrize("first", Verdict)
def test_both_ends_are_proved_first(first: Verdict, last: Verdict, find: Find) -> None:
    inside = [GOOD, GOOD, BAD, BAD] if find == "introduced" else [BAD, BAD, GOOD, GOOD]
    bisection, probed = hunt([first, *inside, last], find, proofs=2)
    assert bisection.ends == (first, last)
    assert bisection.ends_differ == ((find, first, last) in ENDS_THAT_DIFFER)
    if bisection.ends_differ:
        assert [position for position, _ in bisection.log[:4]] == [0, 5, 0, 5]
        return
    assert {position for position, _ in bisection.log} == {0, 5}, "nothing is searched between ends that do not differ"
    assert len(probed) == 2 + (first is FAULT) + (last is FAULT), "a fault of the machine has a second chance"
    judged = first in JUDGED and last in JUDGED
    assert bisection.result == ("bad-endpoints" if judged else "inconclusive")
    with pytest.raises(ValueError, match="ends do not differ"):
        bisection.answer()


def test_an_end_that_wavers_is_no_end() -> None:
    bisection = Bisection(10)
    for position, verdict in ((0, GOOD), (9, BAD), (0, GOOD), (9, GOOD)):
        assert bisection.next_steps() == [position]
        bisection.mark(position, verdict)
    assert bisection.ends == (GOOD, Verdict.FLAKY)
    assert bisection.done and bisection.result == "inconclusive"


def test_one_revision_alone_has_no_answer() -> None:
    for verdict in Verdict:
        bisection, probed = hunt([verdict])
        assert set(probed) == {verdict}
        assert not bisection.ends_differ


def test_nothing_is_known_before_the_ends_are() -> None:
    bisection = Bisection(5)
    assert bisection.ends == (None, None)
    assert not bisection.ends_differ and bisection.result == "inconclusive"
    with pytest.raises(ValueError, match="ends"):
        bisection.answer()


def test_known_verdicts_spare_probes() -> None:
    bisection = Bisection(100, proofs=1)
    for position, verdict in ((0, GOOD), (99, BAD), (40, ABSENT), (43, BAD)):
        bisection.mark(position, verdict)
    assert bisection.answer() == Answer(40, 43, confirmed=False)
    assert bisection.next_steps() in ([41], [42])


def test_a_culprit_that_is_not_confirmed_is_not_named() -> None:
    bisection = Bisection(9, proofs=1)
    history = monotone(0, 4, 5)
    while (steps := bisection.next_steps()) != [3] or not times(bisection)[3]:
        bisection.mark(steps[0], history[steps[0]])
    assert bisection.answer() == Answer(3, 4, confirmed=False) and bisection.result == "range"
    bisection.mark(3, BAD)
    assert bisection.standing(3) is Verdict.FLAKY
    assert 2 in bisection.next_steps(8), "the range is open again, and the search goes on"
    while rest := bisection.next_steps():
        bisection.mark(rest[0], history[rest[0]])
    assert bisection.answer() == Answer(2, 4)
    assert list(bisection.answer().candidates) == [3, 4]
    assert words(bisection) == "range"


@examples(500)
@given(histories(holes=True), st.integers(1, 8), st.data())
def test_noise_never_blames_another_revision(drawn: Drawn, workers: int, data: st.DataObject) -> None:
    """Whatever a probe says besides what it should, short of the opposite verdict, the answer may only widen."""
    history, culprit, find = drawn
    noise = st.sampled_from([None, None, None, *UNJUDGEABLE])
    bisection = Bisection(len(history), find)
    asked = 0
    while steps := bisection.next_steps(workers):
        for position in steps:
            asked += 1
            bisection.mark(position, data.draw(noise) or history[position])
    assert asked <= 4 * len(history), "it ends"
    if bisection.ends_differ:
        answer = bisection.answer()
        assert culprit in answer.candidates and not answer.contradictions
        assert answer.confirmed, "what is not confirmed has been widened"


@given(st.lists(st.sampled_from([GOOD, BAD, ABSENT, UNTESTABLE]), min_size=2, max_size=40), st.integers(1, 8))
def test_any_history_ends_in_a_true_answer(inside: History, workers: int) -> None:
    history = [GOOD, *inside, BAD]
    bisection, marks = parallel(history, "introduced", workers, random.Random(3))
    assert marks <= 2 * len(history)
    answer = bisection.answer()
    judged = {p: v is BAD for p, v in bisection.log if v in JUDGED}
    back = any(judged[a] and not judged[b] for a in judged for b in judged if a < b)
    assert bool(answer.contradictions) == back
    probed = times(bisection)
    for a, b in answer.contradictions:
        assert history[a] is BAD and history[b] in (GOOD, ABSENT)
        assert all(history[p] is UNTESTABLE for p in range(a + 1, b) if probed[p])
    assert history[answer.before] in (GOOD, ABSENT) and history[answer.after] is BAD
    if back:
        assert not answer.found and bisection.result == "inconclusive"
        assert all(judged[p] is False for p in judged if p <= answer.before)
        assert all(judged[p] is True for p in judged if p >= answer.after)


def test_what_contradicts_one_change_over_is_said_once_it_is_confirmed() -> None:
    bisection = Bisection(10, proofs=1)
    for position, verdict in ((0, GOOD), (2, BAD), (5, GOOD), (9, BAD)):
        bisection.mark(position, verdict)
    assert bisection.contradictions == ((2, 5),)
    assert bisection.answer() == Answer(0, 9, confirmed=False, contradictions=((2, 5),))
    assert bisection.next_steps(8) == [2, 5]
    assert bisection.next_steps(8, pending=[2]) == [5]
    bisection.mark(2, BAD)
    bisection.mark(5, GOOD)
    assert bisection.done and bisection.result == "inconclusive"
    assert not bisection.answer().found
    bisection.undo(5)
    assert bisection.answer() == Answer(0, 2, confirmed=False)


def test_a_contradiction_that_was_a_fluke_goes_away() -> None:
    bisection = Bisection(10, proofs=1)
    for position, verdict in ((0, GOOD), (2, BAD), (5, GOOD), (9, BAD), (2, GOOD)):
        bisection.mark(position, verdict)
    assert bisection.contradictions == ()
    assert bisection.answer().candidates == range(6, 10)


def test_absent_after_bad_is_no_fix() -> None:
    history = [BAD] * 5 + [ABSENT] * 3 + [GOOD] * 4
    bisection, _ = hunt(history, "fixed")
    assert bisection.answer() == Answer(4, 8)
    assert bisection.result == "range" and list(bisection.answer().candidates) == [5, 6, 7, 8]
    gone, _ = hunt([BAD, BAD, ABSENT], "fixed")
    assert gone.result == "bad-endpoints"


def test_bad_arguments_are_refused() -> None:
    for position in (-1, 3):
        with pytest.raises(IndexError, match="outside"):
            Bisection(3).mark(position, GOOD)
    with pytest.raises(ValueError, match="at least one"):
        Bisection(0)
    with pytest.raises(ValueError, match="proof"):
        Bisection(3, proofs=0)
