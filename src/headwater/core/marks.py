# SPDX-License-Identifier: Apache-2.0
"""What the probes of a hunt said, revision by revision, and what it comes to.

A revision may be probed more than once: the ends of a hunt are proved twice, and a culprit is confirmed before it is
named. Repetitions that disagree make the revision `flaky`, which blames nothing.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, Literal, TypeVar

from headwater.core.verdicts import Verdict, combine

Find = Literal["introduced", "fixed"]
K = TypeVar("K", bound=Hashable)

JUDGED = (Verdict.GOOD, Verdict.ABSENT, Verdict.BAD)
_PATIENCE = 2

_SIDES: dict[Find, dict[Verdict, bool]] = {
    "introduced": {Verdict.GOOD: False, Verdict.ABSENT: False, Verdict.BAD: True},
    "fixed": {Verdict.BAD: False, Verdict.GOOD: True},
}


def side(verdict: Verdict | None, find: Find) -> bool | None:
    """On which side of the change a verdict stands: False before it, True after it, None where it says neither.

    Hunting for what introduced a bug, `absent` is before: the feature was not there, so neither was the bug. Hunting
    for what fixed it, `absent` says neither: a feature that went has not been mended, and one that has yet to come
    back shows nothing of the mend. So `absent` widens the answer there, like everything else that is not judged.
    """
    return None if verdict is None else _SIDES[find].get(verdict)


class Marks(Generic[K]):
    """Every mark given so far, in order. `K` is whatever names a revision: a position, a version.

    `proofs` is how many probes that agree are the most that any revision will be asked for.
    """

    def __init__(self, proofs: int = 2) -> None:
        self._proofs = proofs
        self._log: list[tuple[K, Verdict]] = []
        self._of: dict[K, list[Verdict]] = {}

    def add(self, key: K, verdict: Verdict) -> None:
        """Record what one probe of `key` said."""
        self._log.append((key, verdict))
        self._of.setdefault(key, []).append(verdict)

    def forget(self, key: K) -> None:
        """Take back every mark of `key`, as if it had never been probed."""
        self._log = [entry for entry in self._log if entry[0] != key]
        self._of.pop(key, None)

    @property
    def log(self) -> tuple[tuple[K, Verdict], ...]:
        """All marks in the order in which they came: given again in this order, they make the same state."""
        return tuple(self._log)

    @property
    def seen(self) -> list[K]:
        """What was marked at least once, in the order of first marks."""
        return list(self._of)

    def repetitions(self, key: K) -> int:
        """How often `key` was marked: the repetition number of its next probe, from 0."""
        return len(self._of.get(key, ()))

    def standing(self, key: K) -> Verdict | None:
        """What the marks of `key` come to, None where there are none.

        Repetitions that disagree are `flaky`. A harness error says nothing of the library, so it takes nothing from
        what other probes said; but a verdict that needs another proof and met two harness errors in a row instead
        is a harness error: it cannot be proved, so nothing may be built on it.
        """
        marks = self._of.get(key)
        if not marks:
            return None
        if self.support(key) < self._proofs and self._faults(key) >= _PATIENCE:
            return Verdict.HARNESS_ERROR
        return combine(_of_the_library(marks) or marks)

    def support(self, key: K) -> int:
        """How many probes of `key` agree on its verdict, harness errors left out; 0 where they do not agree."""
        told = _of_the_library(self._of.get(key, []))
        return len(told) if len(set(told)) == 1 else 0

    def may_be_proved(self, key: K, proofs: int) -> bool:
        """Whether `key` has fewer than `proofs` probes that agree, and another probe may still add to them.

        Not where they disagree already, nor where the machine failed twice in a row.
        """
        told = _of_the_library(self._of.get(key, []))
        return len(set(told)) <= 1 and len(told) < proofs and self._faults(key) < _PATIENCE

    def _faults(self, key: K) -> int:
        """How many of the last marks in a row are harness errors."""
        marks = self._of.get(key, [])
        told = [n for n, verdict in enumerate(marks) if verdict is not Verdict.HARNESS_ERROR]
        return len(marks) - 1 - told[-1] if told else len(marks)


def _of_the_library(marks: list[Verdict]) -> list[Verdict]:
    return [verdict for verdict in marks if verdict is not Verdict.HARNESS_ERROR]
