# SPDX-License-Identifier: Apache-2.0
"""Histories whose answer is known, and hunts over them with several workers."""

from __future__ import annotations

import random
from collections import Counter

from headwater.core.bayes import BayesianSearch
from headwater.core.bisection import Bisection
from headwater.core.marks import JUDGED, Find
from headwater.core.verdicts import Verdict

GOOD, BAD, ABSENT, UNTESTABLE = Verdict.GOOD, Verdict.BAD, Verdict.ABSENT, Verdict.UNTESTABLE
FAULT = Verdict.HARNESS_ERROR
UNJUDGEABLE = sorted(set(Verdict) - set(JUDGED), key=lambda verdict: verdict.value)
History = list[Verdict]
Drawn = tuple[History, int, Find]


def monotone(absent: int, good: int, bad: int) -> History:
    return [ABSENT] * absent + [GOOD] * good + [BAD] * bad


def times(search: Bisection | BayesianSearch) -> Counter[int]:
    """How often each position was probed."""
    return Counter(position for position, _ in search.log)


def parallel(
    history: History, find: Find, workers: int, rng: random.Random, search: type[Bisection] = Bisection
) -> tuple[Bisection, int]:
    """A hunt with workers that finish in any order, and how many probes it took."""
    bisection = search(len(history), find)
    pending: list[int] = []
    marks = 0
    while True:
        steps = bisection.next_steps(workers - len(pending), pending) if len(pending) < workers else []
        assert len(set(steps)) == len(steps) and not set(steps) & set(pending), "none is probed twice at a time"
        assert len(steps) + len(pending) <= workers
        pending += steps
        if not pending:
            return bisection, marks
        position = pending.pop(rng.randrange(len(pending)))
        bisection.mark(position, history[position])
        marks += 1
