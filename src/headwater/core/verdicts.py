# SPDX-License-Identifier: Apache-2.0
"""From what a probe's child reported to a verdict.

The rules are the design's: signatures are matched before any rule about import failures, so that a bug that
breaks the import can be `bad`; only a match is `bad`; a probe that did not reach its end is never `good`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, Protocol

from headwater.core.test_results import TestResults


class Verdict(Enum):
    """What a probe says. The value is the word used in JSON and in the store."""

    GOOD = "good"
    BAD = "bad"
    OTHER_FAILURE = "other-failure"
    ABSENT = "absent"
    UNTESTABLE = "untestable"
    FLAKY = "flaky"
    UNAVAILABLE = "unavailable"
    HARNESS_ERROR = "harness-error"

    @property
    def words(self) -> str:
        """The verdict as people read it."""
        return self.value.replace("-", " ")


@dataclass(frozen=True)
class Evidence:
    """Why a verdict was given: an exception's type and message and its deepest frame inside the library.

    All three are None where there is nothing to show. `frame` reads `package/file.py:742 in function`.
    """

    type: str | None = None
    message: str | None = None
    frame: str | None = None


class Recogniser(Protocol):
    """What can tell from an evidence whether it shows one bug, or one way in which a feature is missing."""

    def matches(self, evidence: Evidence) -> bool:
        """Whether `evidence` shows it."""


@dataclass(frozen=True)
class Signature:
    """How a bug is known: the exception's type name, a pattern searched in its message, and optionally one
    searched in its deepest frame inside the library (both regular expressions, as `re.search` takes them)."""

    type: str
    message: str
    frame: str | None = None

    def matches(self, evidence: Evidence) -> bool:
        """Whether `evidence` shows this bug."""
        if evidence.type != self.type or not re.search(self.message, evidence.message or ""):
            return False
        return self.frame is None or bool(re.search(self.frame, evidence.frame or ""))


End = Literal[
    "returned",
    "absent",
    "raised",
    "skipped",
    "aborted",
    "no-device",
    "died",
    "time-limit",
    "output-limit",
    "process-limit",
    "killed",
    "harness",
]
Phase = Literal["start", "device", "library", "case", "run"]


@dataclass(frozen=True)
class Outcome:
    """What happened in a probe, before anybody judges it.

    `end` says how it ended (`skipped`: what ran said itself that it cannot tell here; `aborted`: it said that nothing
    more should run, as the exit statuses of `git bisect run` have it), `phase` how far it had come, `import_failure`
    that the exception, or one it was raised from, is an ImportError. `seconds` is the wall time of the whole probe.
    `tests` is what happened to each test of a case that runs many, as far as it told.
    """

    end: End
    phase: Phase
    evidence: Evidence
    seconds: float
    import_failure: bool = False
    tests: TestResults = ()


def judge(outcome: Outcome, signatures: Sequence[Recogniser], absent: Sequence[Recogniser] = ()) -> Verdict:
    """Give the verdict of one probe. Pure: the same outcome and signatures always give the same verdict.

    `signatures` are those of the bug; `absent` are those of failures that show the feature to be missing.
    """
    if outcome.end in ("harness", "aborted"):
        return Verdict.HARNESS_ERROR
    if outcome.end == "skipped":
        return Verdict.UNTESTABLE
    if outcome.end == "no-device":
        return Verdict.UNAVAILABLE
    if outcome.end == "returned":
        return Verdict.GOOD
    if outcome.end == "absent":
        return Verdict.ABSENT
    if any(signature.matches(outcome.evidence) for signature in signatures):
        return Verdict.BAD
    if any(signature.matches(outcome.evidence) for signature in absent):
        return Verdict.ABSENT
    if outcome.end == "raised" and (outcome.import_failure or outcome.phase == "library"):
        return Verdict.UNTESTABLE
    return Verdict.OTHER_FAILURE


def is_reusable(outcome: Outcome) -> bool:
    """Whether a stored verdict may answer for a later probe: not where the machine may have been at fault, as when
    memory ran out, the kernel killed the process, or a device was busy; nor where a script told to stop."""
    return outcome.end not in ("harness", "aborted", "time-limit", "killed", "no-device")


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of repeated probes of one thing: `flaky` where they disagree.

    A harness error says nothing of the library, so it hides the others rather than counting as disagreement.
    """
    if not verdicts:
        raise ValueError("no verdicts to combine")
    if Verdict.HARNESS_ERROR in verdicts:
        return Verdict.HARNESS_ERROR
    return verdicts[0] if len(set(verdicts)) == 1 else Verdict.FLAKY


def telling(verdicts: Sequence[Verdict]) -> int:
    """Which of several repetitions to show: the first that is bad, else one with the verdict of all, else the first
    that is not good."""
    if not verdicts:
        raise ValueError("no verdicts to tell apart")
    together = combine(verdicts)
    for wanted in (Verdict.BAD, together):
        if wanted in verdicts:
            return verdicts.index(wanted)
    return next((n for n, verdict in enumerate(verdicts) if verdict is not Verdict.GOOD), 0)


def disagreement(verdicts: Sequence[Verdict], shown: Evidence) -> Evidence:
    """The evidence of repetitions that disagree: what each gave, and the message of one of them."""
    each = ", ".join(verdict.words for verdict in verdicts)
    return replace(shown, message=f"{each}: {shown.message or ''}".rstrip(": "))
