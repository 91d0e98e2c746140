# SPDX-License-Identifier: Apache-2.0
"""The reduction, on differences whose cause is known."""

from __future__ import annotations

import random
import statistics
from itertools import combinations, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reductions import World, drive, make_world, plain_ddmin

from headwater.core.changesets import Unit
from headwater.core.likely import Likely
from headwater.core.narrowing import PartOutcome, StageLimits
from headwater.core.reduction import Answer, Reduction

FLIPS, STAYS, UNJUDGED = PartOutcome.FLIPS, PartOutcome.STAYS, PartOutcome.UNJUDGED
SEEDS = st.integers(0, 10**9)
SPRINKLED = st.sampled_from([0, 0, 12, 5])


def check(world: World, reduction: Reduction) -> Answer:
    """What every answer of a search that has come to its end must hold."""
    answer = reduction.answer()
    assert answer.minimal and answer.pair_minimal and answer.line_minimal
    assert answer.subset == answer.hunks
    assert len(answer.subset) == len(world.units) or world.judge(answer.subset) is FLIPS
    for unit in answer.hunks:
        assert world.judge(answer.hunks - {unit}) is not FLIPS, "one-minimal"
        shown = answer.needed_by[unit]
        assert shown.subset == answer.hunks - {unit}
        assert shown.outcome is world.judge(shown.subset)
    for pair in combinations(sorted(answer.hunks), 2):
        assert world.judge(answer.hunks - set(pair)) is not FLIPS, "pair-minimal"
    if not world.sprinkled:
        assert answer.hunks in world.enough, "the planted cause, without what it only came along with"
    return answer


@pytest.mark.parametrize("seeds", [range(200), pytest.param(range(200, 1000), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("sprinkled", [0, 10])
def test_a_planted_cause_is_found_two_thousand_times(sprinkled: int, seeds: range) -> None:
    for seed in seeds:
        world = make_world(seed, sprinkled=sprinkled)
        reduction = Reduction(world.likely)
        drive(reduction, world.judge)
        check(world, reduction)


@given(SEEDS, SPRINKLED, st.integers(2, 8))
def test_the_answer_is_the_same_however_many_are_tested_at_once(seed: int, sprinkled: int, count: int) -> None:
    world = make_world(seed, sprinkled=sprinkled)
    alone, together = Reduction(world.likely), Reduction(world.likely)
    assert drive(alone, world.judge) <= drive(together, world.judge, count, seed)
    assert check(world, together) == alone.answer()
    assert together.stages == alone.stages


@given(SEEDS, SPRINKLED)
def test_any_order_of_units_gives_an_answer_that_is_minimal(seed: int, sprinkled: int) -> None:
    world = make_world(seed, sprinkled=sprinkled)
    order = list(world.units)
    random.Random(seed).shuffle(order)
    reduction = Reduction(Likely(world.likely.kept, world.likely.cores, tuple(order)))
    drive(reduction, world.judge)
    check(world, reduction)


@given(SEEDS, SPRINKLED)
@example(21297, 0)
def test_stopped_at_any_moment_the_best_so_far_flips(seed: int, sprinkled: int) -> None:
    world = make_world(seed, sprinkled=sprinkled)
    reduction = Reduction(world.likely)
    sizes = []
    while not reduction.done:
        answer = reduction.answer()
        assert len(answer.subset) == len(world.units) or world.judge(answer.subset) is FLIPS
        assert not answer.pair_minimal
        sizes.append(len(answer.subset))
        (step,) = reduction.next_steps(1)
        reduction.mark(step, world.judge(step))
    # Of a single unit nothing is to be asked: both ends are proved.
    assert sizes[:1] == ([len(world.units)] if len(world.units) > 1 else [])


@given(SEEDS, SPRINKLED)
def test_a_search_goes_on_from_what_is_stored(seed: int, sprinkled: int) -> None:
    world = make_world(seed, sprinkled=sprinkled)
    whole = Reduction(world.likely)
    drive(whole, world.judge)
    again = Reduction(world.likely)
    for tested in reversed(whole.log[: len(whole.log) // 2]):
        again.mark(tested.subset, tested.outcome)
    assert drive(again, world.judge) == len(whole.log) - len(whole.log) // 2
    assert check(world, again).subset == whole.answer().subset


def test_stages_only_narrow_and_end_with_the_answer() -> None:
    for seed in range(100):
        world = make_world(seed)
        reduction = Reduction(world.likely, size=lambda unit: 3)
        drive(reduction, world.judge)
        stages = reduction.stages
        assert stages[0].name == "all"
        assert (stages[0].hunks, stages[0].probes) == (len(world.units), 0)
        for before, after in pairwise(stages):
            assert (before.hunks, -before.probes) >= (after.hunks, -after.probes)
        answer = reduction.answer().hunks
        assert (stages[-1].files, stages[-1].hunks) == (len({unit.path for unit in answer}), len(answer))
        assert stages[-1].lines == 3 * len(answer)
        assert stages[-1].probes == len(reduction.log)


@pytest.mark.parametrize(("information", "share"), [("good", 0.45), ("some", 0.6), ("wrong", 0.7), ("none", 0.75)])
def test_it_takes_clearly_fewer_probes_than_plain_ddmin(information: str, share: float) -> None:
    ours, plain = [], []
    for seed in range(150):
        world = make_world(seed, information=information)
        ours.append(drive(Reduction(world.likely), world.judge))
        plain.append(plain_ddmin(world))
    assert statistics.mean(ours) <= share * statistics.mean(plain)


A, B, C, D, E = (Unit(path, hunk) for path, hunk in (("a.py", 1), ("a.py", 2), ("b.py", 1), ("c.py", 1), ("c.py", 2)))
ALL = (A, B, C, D, E)
UNKNOWN = Likely(frozenset(ALL), (), ALL)


def test_the_kept_set_is_proved_first_and_files_return_where_it_does_not_flip() -> None:
    likely = Likely(frozenset({A, B}), (frozenset({A}),), ALL)
    reduction = Reduction(likely)
    assert reduction.next_steps(1) == [frozenset({A, B})]
    drive(reduction, lambda subset: FLIPS if {A, D} <= subset else STAYS)
    assert [tested.stage for tested in reduction.log][:2] == ["kept", "returned"]
    assert reduction.stages[1].name == "returned"
    assert reduction.answer().subset == {A, D}


def test_the_core_comes_next() -> None:
    likely = Likely(frozenset({A, B, C}), (frozenset({A}), frozenset({A, C})), ALL)
    reduction = Reduction(likely)
    drive(reduction, lambda subset: FLIPS if {A, C} <= subset else STAYS)
    assert [tested.subset for tested in reduction.log] == [{A, B, C}, {A}, {A, C}, {C}]


def test_more_hunks_that_depend_on_each_other_than_a_pair_go_together() -> None:
    units = tuple(Unit("a.py", number) for number in range(1, 10))
    cause, bound = frozenset(units[:1]), frozenset(units[5:])

    def judge(subset: frozenset[Unit]) -> PartOutcome:
        return UNJUDGED if 0 < len(bound & subset) < len(bound) else FLIPS if cause <= subset else STAYS

    reduction = Reduction(Likely(frozenset(units), (), tuple(reversed(units))))
    drive(reduction, judge)
    assert reduction.answer().subset == cause


def test_what_is_ruled_out_is_never_tested_and_says_so() -> None:
    reduction = Reduction(UNKNOWN, valid=lambda subset: (A in subset) == (C in subset))
    drive(reduction, lambda subset: FLIPS if {A, C} <= subset else STAYS)
    assert all((A in tested.subset) == (C in tested.subset) for tested in reduction.log)
    answer = reduction.answer()
    assert answer.subset == {A, C}
    assert {shown.outcome for shown in answer.needed_by.values()} == {PartOutcome.RULED_OUT}


def test_subsets_that_make_the_same_are_tested_once() -> None:
    keys: list[frozenset[Unit]] = []
    reduction = Reduction(UNKNOWN, key=lambda subset: subset - {B, E})

    def judge(subset: frozenset[Unit]) -> PartOutcome:
        keys.append(subset - {B, E})
        return FLIPS if {A, D} <= subset else STAYS

    drive(reduction, judge)
    assert len(keys) == len(set(keys))
    assert reduction.answer().subset == {A, D}


def test_pairs_are_bounded_and_the_answer_says_so() -> None:
    units = tuple(Unit("a.py", number) for number in range(1, 9))
    full = frozenset(units)
    for pairs, complete in ((10, False), (28, True)):
        reduction = Reduction(Likely(full, (), units), limits=StageLimits(pairs=pairs))
        drive(reduction, lambda subset: FLIPS if subset == full else STAYS)
        answer = reduction.answer()
        assert (answer.subset, answer.minimal, answer.pair_minimal) == (full, True, complete)
        assert sum(tested.stage == "pairs" for tested in reduction.log) <= pairs


def lines_of(unit: Unit, count: int) -> list[Unit]:
    return [Unit(*unit[:2], number) for number in range(count)]


def layers(unit: Unit) -> list[list[frozenset[Unit]]]:
    """Six lines: two statements of three, then each line; one hunk does not split."""
    lines = lines_of(unit, 6)
    return [] if unit == C else [[frozenset(lines[:3]), frozenset(lines[3:])], [frozenset([line]) for line in lines]]


@given(st.sets(st.integers(0, 5), min_size=1), st.sets(st.integers(0, 5), min_size=1))
def test_hunks_are_reduced_by_line(of_a: set[int], of_d: set[int]) -> None:
    needed = {lines_of(A, 6)[n] for n in of_a} | {lines_of(D, 6)[n] for n in of_d}

    def judge(subset: frozenset[Unit]) -> PartOutcome:
        lines = {line for unit in subset for line in (lines_of(unit, 6) if unit == unit.whole else [unit])}
        return FLIPS if needed <= lines and C in subset else STAYS

    reduction = Reduction(UNKNOWN, split=layers)
    drive(reduction, judge, 3)
    answer = reduction.answer()
    assert answer.hunks == {A, C, D} and answer.minimal
    assert answer.line_minimal and judge(answer.subset) is FLIPS
    assert {unit for unit in answer.subset if unit != unit.whole} <= needed
    for unit in answer.subset | answer.hunks:
        if unit in needed or unit == C:
            assert answer.needed_by[unit].outcome is STAYS


def test_lines_are_bounded_and_the_answer_says_so() -> None:
    needed = frozenset(lines_of(A, 6)[::2])
    reduction = Reduction(UNKNOWN, split=layers, limits=StageLimits(lines=2))
    drive(reduction, lambda subset: FLIPS if A in subset or needed <= subset else STAYS)
    answer = reduction.answer()
    assert answer.minimal and answer.pair_minimal and not answer.line_minimal
    assert sum(tested.stage == "lines" for tested in reduction.log) == 2


def test_a_flaky_case_is_refused_and_a_second_try_may_judge() -> None:
    reduction = Reduction(UNKNOWN)
    subset = reduction.next_steps(1)[0]
    reduction.mark(subset, UNJUDGED)
    reduction.mark(subset, STAYS)
    reduction.mark(subset, UNJUDGED)
    with pytest.raises(ValueError, match="flaky"):
        reduction.mark(subset, FLIPS)
    with pytest.raises(ValueError, match="flaky"):
        reduction.mark(ALL, STAYS)


def test_what_is_no_part_of_the_difference_is_refused() -> None:
    reduction = Reduction(UNKNOWN)
    with pytest.raises(ValueError, match="no unit"):
        reduction.mark([Unit("other.py", 1)], STAYS)
    with pytest.raises(ValueError, match="not tested"):
        reduction.mark([A], PartOutcome.RULED_OUT)
    with pytest.raises(ValueError, match="without units"):
        Reduction(Likely(frozenset(), (), ()))


def test_nothing_is_asked_while_all_that_may_help_is_under_test() -> None:
    reduction = Reduction(Likely(frozenset({A, B}), (), (A, B)))
    steps = reduction.next_steps(8)
    assert reduction.next_steps(8, steps) == []
    assert not reduction.done
