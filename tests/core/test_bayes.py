# SPDX-License-Identifier: Apache-2.0
"""The hunt for a flaky bug, on seeded histories: are its answers as good as it says, and what do they cost?"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from examples import examples
from histories import times
from hypothesis import example, given
from hypothesis import strategies as st

from headwater.core.bayes import FAULTS, BayesianSearch, Beta
from headwater.core.marks import Find
from headwater.core.verdicts import Verdict

GOOD, BAD, ABSENT, UNTESTABLE = Verdict.GOOD, Verdict.BAD, Verdict.ABSENT, Verdict.UNTESTABLE
FAULT = Verdict.HARNESS_ERROR
REVISIONS = 24
Oracle = Callable[[int], Verdict]


def flaky(rng: random.Random, culprit: int, shows: float, find: Find = "introduced") -> Oracle:
    """A history whose bug begins (or ends) at `culprit` and shows in that share of the probes."""

    def probe(position: int) -> Verdict:
        present = position >= culprit if find == "introduced" else position < culprit
        return BAD if present and rng.random() < shows else GOOD

    return probe


def failing(rng: random.Random, share: float, probe: Oracle) -> Oracle:
    """A machine that fails at that share of the probes."""
    return lambda position: FAULT if rng.random() < share else probe(position)


def run(search: BayesianSearch, probe: Oracle, limit: int = 3000) -> int:
    """Probe until nothing is asked for; how many probes that took."""
    for probes in range(limit):
        steps = search.next_steps()
        if not steps:
            return probes
        search.mark(steps[0], probe(steps[0]))
    raise AssertionError("the search does not end")


def by_repetition(repetitions: int, probe: Oracle) -> tuple[int, int]:
    """Plain halving with each position probed until it is bad, at most so often: the answer and the probes."""
    low, high, probes = 0, REVISIONS - 1, 0
    while high > low + 1:
        middle, seen = (low + high) // 2, GOOD
        for _ in range(repetitions):
            probes += 1
            seen = probe(middle)
            if seen is BAD:
                break
        low, high = (low, middle) if seen is BAD else (middle, high)
    return high, probes


def hunts(count: int, shows: float | None, find: Find = "introduced") -> tuple[float, float]:
    """Over seeded hunts at 95 %: the share of right answers, and the mean number of probes."""
    rng = random.Random(20260919)
    right = probes = 0
    for _ in range(count):
        culprit = rng.randrange(1, REVISIONS)
        search = BayesianSearch(REVISIONS, find, patience=60)
        probes += run(search, flaky(rng, culprit, rng.uniform(0.2, 1) if shows is None else shows, find))
        answer = search.answer()
        assert answer.probability >= 0.95
        right += answer.found and answer.candidates[0] == culprit
    return right / count, probes / count


@pytest.mark.parametrize("shows", [0.2, 0.35, 0.6, 1.0])
def test_an_answer_at_95_percent_is_right_that_often_however_rarely_the_bug_shows(shows: float) -> None:
    right, probes = hunts(150, shows)
    # Three standard errors of a share of 0.95 in 150 are 0.053.
    assert right >= 0.95 - 0.053
    if shows == 1:
        assert probes <= 3 * math.log2(REVISIONS)


@pytest.mark.slow
def test_over_a_thousand_hunts() -> None:
    right, _ = hunts(1000, None)
    assert right >= 0.95


def test_it_needs_fewer_probes_than_repetition_of_the_same_accuracy() -> None:
    right, probes = hunts(300, None)
    assert right >= 0.95
    for repetitions in range(1, 60):
        rng = random.Random(20260919)
        hits = spent = 0
        for _ in range(1000):
            culprit = rng.randrange(1, REVISIONS)
            found, used = by_repetition(repetitions, flaky(rng, culprit, rng.uniform(0.2, 1)))
            hits, spent = hits + (found == culprit), spent + used
        if hits / 1000 >= right:
            break
    assert hits / 1000 >= right
    assert probes < spent / 1000


def test_a_bug_that_always_shows_is_found_like_any_other() -> None:
    for culprit in range(1, 64):
        search = BayesianSearch(64)
        probes = run(search, flaky(random.Random(0), culprit, 1.0))
        assert search.answer().found and search.answer().candidates == range(culprit, culprit + 1)
        assert probes <= 3 * math.ceil(math.log2(64)) + 2


@pytest.mark.parametrize("find", ["introduced", "fixed"])
def test_both_directions(find: Find) -> None:
    right, _ = hunts(60, 0.8, find)
    assert right >= 0.95
    search = BayesianSearch(8, find)
    assert search.next_steps(5) == [7 if find == "introduced" else 0], "the bad end first, until it shows"


@examples(60)
@given(st.integers(2, 40), st.data())
def test_what_cannot_be_judged_joins_its_neighbour(length: int, data: st.DataObject) -> None:
    culprit = data.draw(st.integers(1, length - 1))
    find: Find = data.draw(st.sampled_from(("introduced", "fixed")))
    end = length - 1 if find == "introduced" else 0
    holes = data.draw(st.sets(st.integers(0, length - 1))) - {end}
    truth = flaky(random.Random(1), culprit, 1.0, find)
    search = BayesianSearch(length, find)
    run(search, lambda position: UNTESTABLE if position in holes else truth(position))
    answer = search.answer()
    assert culprit in answer.candidates and answer.probability >= 0.95 and search.settled
    # A probe at p tells a first bad at p or before from one after it, and a first good likewise.
    inside = set(answer.candidates[:-1])
    assert inside <= holes, "only what holes hide stays together"
    assert max((times(search)[p] for p in holes), default=0) <= 1, "what is silent is not asked again"


@pytest.mark.parametrize("find", ["introduced", "fixed"])
def test_a_machine_that_fails_now_and_then_silences_nothing(find: Find) -> None:
    """It fails at one probe in ten: nearly every hunt names one revision all the same, and as seldom a wrong one."""
    rng = random.Random(7)
    named = right = 0
    for _ in range(120):
        culprit = rng.randrange(1, REVISIONS)
        search = BayesianSearch(REVISIONS, find, patience=60)
        run(search, failing(rng, 0.1, flaky(rng, culprit, rng.uniform(0.2, 1), find)))
        answer = search.answer()
        named += answer.found
        right += culprit in answer.candidates
    assert named / 120 >= 0.93
    assert right / 120 >= 0.95 - 0.06, "three standard errors of a share of 0.95 in 120"


def test_a_machine_that_always_fails_is_given_up() -> None:
    """At the bad end, after which there is no hunt; and in the middle, which joins its neighbour."""
    search = BayesianSearch(6)
    assert run(search, lambda position: FAULT) == FAULTS
    assert not search.bad_end_shown
    search = BayesianSearch(6)
    run(search, lambda position: FAULT if position == 2 else BAD if position >= 3 else GOOD)
    assert times(search)[2] == FAULTS
    assert search.answer().candidates == range(2, 4)


def test_a_failure_of_the_machine_takes_nothing_from_what_was_seen() -> None:
    search, plain = BayesianSearch(6), BayesianSearch(6)
    for verdict in (FAULT, FAULT, BAD, FAULT, FAULT, BAD):
        search.mark(5, verdict)
    for verdict in (BAD, BAD):
        plain.mark(5, verdict)
    assert search.posterior() == plain.posterior()
    assert search.next_steps() == plain.next_steps()


@examples(80)
@given(
    st.integers(2, 30),
    st.lists(st.tuples(st.integers(0, 29), st.sampled_from(Verdict)), max_size=40),
    st.sampled_from(["introduced", "fixed"]),
    st.sampled_from([None, Beta(0.5, 4.0)]),
    st.integers(1, 6),
)
# Its sum over the answer, added up another way, is 0.9499999999999997.
@example(15, [(4, GOOD), (10, Verdict.OTHER_FAILURE)], "introduced", None, 1)
def test_whatever_is_marked_it_stays_a_probability(
    length: int, marks: list[tuple[int, Verdict]], find: Find, alarms: Beta | None, count: int
) -> None:
    search = BayesianSearch(length, find, false_alarms=alarms)
    again = BayesianSearch(length, find, false_alarms=alarms)
    for position, verdict in marks:
        search.mark(position % length, verdict)
        search.next_steps()
    for position, verdict in search.log:
        again.mark(position, verdict)
    posterior = search.posterior()
    candidates = range(length) if find == "introduced" else range(1, length + 1)
    assert list(posterior) == list(candidates)
    assert sum(posterior.values()) == pytest.approx(1) and min(posterior.values()) >= 0
    assert 0 <= search.entropy() <= math.log2(length) + 1e-9
    answer = search.answer()
    assert answer.probability == pytest.approx(sum(posterior[c] for c in answer.candidates))
    assert answer.probability >= 0.95
    silent = {p for p, verdict in search.log if verdict not in (GOOD, BAD, ABSENT, FAULT)}
    for p in range(length):
        told = [verdict for marked, verdict in search.log if marked == p]
        silent |= {p for n in range(len(told)) if told[n : n + FAULTS] == [FAULT] * FAULTS}
    steps = search.next_steps(count)
    assert steps == again.next_steps(count), "replayed, it asks for the same"
    assert len(set(steps)) == len(steps) <= count and not set(steps) & silent
    assert not set(steps) & set(search.next_steps(count, pending=steps)), "none is probed twice at a time"


def test_the_next_probe_halves_the_uncertainty() -> None:
    """Against the definition: no other position leaves less entropy, weighing both outcomes by how likely they are."""
    rng = random.Random(4)
    search = BayesianSearch(9)
    probe = flaky(rng, 4, 0.6)
    for _ in range(25):
        steps = search.next_steps()
        if not steps:
            break
        [step] = steps
        if search.bad_end_shown:
            left = [expected_entropy(search, position) for position in range(9)]
            assert left[step] == pytest.approx(min(left), abs=1e-9)
        search.mark(step, probe(step))


def expected_entropy(search: BayesianSearch, position: int) -> float:
    """By simulating both outcomes; how likely each is follows from the posterior being a martingale."""
    branches: list[BayesianSearch] = []
    for verdict in (BAD, GOOD):
        branch = BayesianSearch(9)
        for marked, said in (*search.log, (position, verdict)):
            branch.mark(marked, said)
        branches.append(branch)
    now, bad, good = search.posterior(), branches[0].posterior(), branches[1].posterior()
    # now = share * bad + (1 - share) * good, for every candidate.
    widest = max(now, key=lambda c: abs(bad[c] - good[c]))
    share = 1.0 if bad[widest] == good[widest] else (now[widest] - good[widest]) / (bad[widest] - good[widest])
    return share * branches[0].entropy() + (1 - share) * branches[1].entropy()


def test_false_alarms_make_one_bad_no_proof() -> None:
    certain, doubtful = BayesianSearch(10), BayesianSearch(10, false_alarms=Beta(0.5, 4.0))
    for search in (certain, doubtful):
        search.mark(9, BAD)
        search.mark(4, BAD)
    assert sum(p for c, p in certain.posterior().items() if c > 4) == 0
    assert sum(p for c, p in doubtful.posterior().items() if c > 4) > 0.05


def test_absent_counts_as_good_for_what_introduced_a_bug_and_tells_nothing_of_a_fix() -> None:
    introduced, fixed = BayesianSearch(6), BayesianSearch(6, "fixed")
    for search in (introduced, fixed):
        search.mark(3, ABSENT)
    assert introduced.posterior()[4] > introduced.posterior()[3]
    assert len({round(p, 12) for p in fixed.posterior().values()}) == 1


def test_a_bug_that_never_shows_is_given_up() -> None:
    search = BayesianSearch(6, patience=7)
    assert run(search, lambda position: GOOD) == 7
    assert not search.bad_end_shown and not search.settled and not search.answer().found


def test_a_bug_that_was_there_from_the_beginning_is_no_change() -> None:
    for find, outside in (("introduced", 0), ("fixed", 12)):
        search = BayesianSearch(12, "introduced" if find == "introduced" else "fixed")
        run(search, lambda position: BAD)
        assert search.answer().candidates == range(outside, outside + 1)
        assert not search.answer().found


def test_many_workers_part_the_probability() -> None:
    search = BayesianSearch(100)
    search.mark(99, BAD)
    assert search.next_steps(3) == [24, 49, 74]
    assert len(search.next_steps(3, pending=[24, 49])) == 3


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="two revisions"):
        BayesianSearch(1)
    for confidence in (0.5, 1.0, 95):
        with pytest.raises(ValueError, match="confidence"):
            BayesianSearch(5, confidence=confidence)
    with pytest.raises(IndexError, match="outside"):
        BayesianSearch(5).mark(5, GOOD)
