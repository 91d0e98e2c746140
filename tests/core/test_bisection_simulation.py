# SPDX-License-Identifier: Apache-2.0
"""The hunt over thousands of seeded histories; and that a searcher broken on purpose is caught by them."""

from __future__ import annotations

import random

import pytest
from histories import ABSENT, BAD, GOOD, UNJUDGEABLE, History, monotone, parallel, times

from headwater.core.bisection import Bisection
from headwater.core.marks import JUDGED
from headwater.core.verdicts import Verdict


def simulated(rng: random.Random) -> tuple[History, int]:
    """A long history: absent at the start, holes scattered and in stretches."""
    length = rng.choice([2, 3, 10, 40, 150, 600, 2000])
    culprit = rng.randrange(1, length)
    absent = rng.randrange(culprit) if rng.random() < 0.3 else 0
    history = monotone(absent, culprit - absent, length - culprit)
    if length > 2 and rng.random() < 0.7:
        for _ in range(rng.randrange(1, 4)):
            start = rng.randrange(1, length - 1)
            for position in range(start, min(length - 1, start + max(1, rng.randrange(length) // 3))):
                history[position] = rng.choice(UNJUDGEABLE)
    return history, culprit


def simulate(count: int, search: type[Bisection] = Bisection) -> tuple[int, int, float]:
    """Over seeded histories: wrong revisions blamed, right ones named of those that can be known, and the silent
    probes a hunt that no answer needed."""
    rng = random.Random(20260919)
    wrong = missed = spent = 0
    for _ in range(count):
        history, culprit = simulated(rng)
        bisection, _ = parallel(history, "introduced", rng.randint(1, 8), rng, search)
        answer = bisection.answer()
        knowable = history[culprit] is BAD and history[culprit - 1] in (GOOD, ABSENT)
        wrong += culprit not in answer.candidates or (answer.found and not knowable)
        missed += knowable and not answer.found
        needed = sum(history[p] in UNJUDGEABLE for p in answer.candidates)
        spent += sum(history[p] in UNJUDGEABLE for p in times(bisection)) - needed
    return wrong, missed, spent / count


class SkipIsGood(Bisection):
    """A searcher broken on purpose: what it cannot judge it takes as good, like a careless bisect script."""

    def mark(self, position: int, verdict: Verdict) -> None:
        super().mark(position, verdict if verdict in JUDGED else GOOD)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_seeded_histories(count: int) -> None:
    wrong, missed, spent = simulate(count)
    assert (wrong, missed) == (0, 0)
    # On stretches of up to a third of 2,000: creeping along them one by one would be hundreds.
    assert spent < 6


def test_the_simulation_catches_a_searcher_that_takes_skips_as_good() -> None:
    wrong, _, _ = simulate(100, SkipIsGood)
    assert wrong > 0
