# SPDX-License-Identifier: Apache-2.0
"""States: the whole table of what the referee and git may say, and what needs no patch."""

from __future__ import annotations

from itertools import product

import pytest

from headwater.core.patch_results import PatchStatus, ReleaseStatus, SeriesStatus, release_runs, status_exit
from headwater.core.states import Attempt, Merged, PatchState, judge_state, needless
from headwater.core.verdicts import Verdict

ONTO, MERGED, OTHER = "onto", "merged", "other"
S = PatchState
CONFLICT, ELSEWHERE = Merged(None, "conflicts"), Merged(None, "would change A", misplaced=True)
FLAGS = [(moved, reduced) for moved in (False, True) for reduced in (False, True)]
PLACED = {
    (False, False): S.CLEAN,
    (True, False): S.OFFSET,
    (False, True): S.REDUCED_CONTEXT,
    (True, True): S.REDUCED_CONTEXT,
}


def attempts() -> list[Attempt]:
    """All that git may have made of it."""
    return [Attempt(None), *(Attempt(tree, *flags) for tree in (ONTO, MERGED, OTHER) for flags in FLAGS)]


@pytest.mark.parametrize("attempt", attempts(), ids=str)
def test_truth_table(attempt: Attempt) -> None:
    assert judge_state(ONTO, ELSEWHERE, attempt) is S.MISPLACED
    assert judge_state(ONTO, Merged(ONTO), attempt) is S.ALREADY_APPLIED
    as_it_stands = attempt.tree is not None and not attempt.reduced
    assert judge_state(ONTO, CONFLICT, attempt) is (S.MISPLACED if as_it_stands else S.CONFLICT)
    if attempt.tree == MERGED:
        wanted = PLACED[attempt.moved, attempt.reduced]
    else:
        wanted = S.MISPLACED if as_it_stands else S.THREE_WAY
    assert judge_state(ONTO, Merged(MERGED), attempt) is wanted


def test_only_what_the_referee_confirms_is_said_to_apply() -> None:
    for merged, attempt in product((CONFLICT, ELSEWHERE, Merged(MERGED), Merged(ONTO)), attempts()):
        state = judge_state(ONTO, merged, attempt)
        assert state.applies <= (merged.tree == MERGED)
        assert not (state.applies and state.refused)
        if state in (S.CLEAN, S.OFFSET, S.REDUCED_CONTEXT):
            assert attempt.tree == merged.tree


V = Verdict


@pytest.mark.parametrize(
    ("verdicts", "state"),
    [
        ([], None),
        ([None], None),
        ([V.GOOD], S.FIXED_UPSTREAM),
        ([V.ABSENT], S.ABSENT),
        ([V.GOOD, V.ABSENT], S.FIXED_UPSTREAM),
        ([V.GOOD, V.BAD], None),
        ([V.GOOD, None], None),
        ([V.ABSENT, V.BAD], None),
        *(([V.GOOD, verdict], None) for verdict in V if verdict not in (V.GOOD, V.ABSENT)),
    ],
)
def test_needless(verdicts: list[Verdict | None], state: PatchState | None) -> None:
    assert needless(verdicts) is state


def on(release: str, *states: PatchState, variant: str | None = None) -> ReleaseStatus:
    """A series on a release."""
    return ReleaseStatus(
        release, variant, tuple(PatchStatus(f"{n}.patch", state, "") for n, state in enumerate(states))
    )


@pytest.mark.parametrize("state", PatchState)
def test_exit_status(state: PatchState) -> None:
    wanted = 1 if state in (S.CONFLICT, S.MISPLACED) else 0
    status = SeriesStatus(
        "s", "5.0.0", ("0.patch", "1.patch"), (on("5.0.0", S.CLEAN, S.CLEAN), on("5.1.0", S.CLEAN, state))
    )
    assert status_exit([status]) == wanted
    assert status_exit([]) == 0


@pytest.mark.parametrize(
    ("states", "droppable"),
    [
        ((S.FIXED_UPSTREAM, S.FIXED_UPSTREAM), True),
        ((S.FIXED_UPSTREAM, S.ABSENT), True),
        ((S.ABSENT, S.ABSENT), False),
        ((S.FIXED_UPSTREAM, S.CLEAN), False),
        ((S.FIXED_UPSTREAM, S.ALREADY_APPLIED), False),
    ],
)
def test_proposed_for_dropping(states: tuple[PatchState, ...], droppable: bool) -> None:
    status = SeriesStatus("s", "5.0.0", ("0.patch", "1.patch"), (on("5.0.0", S.CLEAN, S.CLEAN), on("5.1.0", *states)))
    assert status.droppable == (("5.1.0",) if droppable else ())


def test_neighbours_that_are_alike_are_one_row() -> None:
    rows = [
        on("5.0.0", S.CLEAN), on("5.1.0", S.CLEAN), on("5.2.0", S.OFFSET), on("5.3.0", S.CLEAN),
        on("5.4.0", S.CLEAN, variant="older"), on("5.5.0", S.CLEAN, variant="older"),
    ]  # fmt: skip
    runs = [(first.release, last.release, count) for first, last, count in release_runs(rows)]
    assert runs == [("5.0.0", "5.1.0", 2), ("5.2.0", "5.2.0", 1), ("5.3.0", "5.3.0", 1), ("5.4.0", "5.5.0", 2)]


@pytest.mark.parametrize("state", PatchState)
def test_words(state: PatchState) -> None:
    assert state.words == ("three-way" if state is S.THREE_WAY else state.value.replace("-", " "))
