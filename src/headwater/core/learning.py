# SPDX-License-Identifier: Apache-2.0
"""Learning how a bug is known from the failures at the two ends of a hunt, for scripts that say nothing of it.

The failure at the bad end is the bug. Another one at the good end shows that the feature is missing there. Any third
failure stays an `other failure`. What the store holds are outcomes: what was learned judges them anew, and nothing runs
again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from headwater.core.cases import Case
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Outcome, Verdict, combine, disagreement, judge, telling

# So that the place where a child cuts off a long message, which moves with the length of its numbers, has no say.
_LENGTH = 2000
_PLACEHOLDERS = (
    # A temporary file's whole name, and the folders of any other file, say where it ran.
    (re.compile(r"(?<![\w:/.>])(?:/[\w.+@~-]+)+/tmp\w{6,}"), "<path>"),
    (re.compile(r"(?<![\w:/.>])(?:/[\w.+@~-]+)+/"), "<path>/"),
    # Not 0x8, which is the shape of an empty matrix.
    (re.compile(r"(?<!\w)0[xX](?:\d*[a-fA-F][0-9a-fA-F]*|\d{6,})"), "<address>"),
    (re.compile(r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"(?<!\w)(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{32,}"), "<id>"),
    # The shape of a matrix, as torch writes it.
    (re.compile(r"(?<!\w)\d+(?:x\d+)+(?!\w)"), "<number>x<number>"),
    # Digits inside a name (float32, Qwen2Model, layer_3) are part of it.
    (re.compile(r"(?:(?<![\w>])[-+])?(?<!\w)\d+(?:\.\d+)*(?:[eE][-+]?\d+)?"), "<number>"),
)
# Exceptions whose message is all names.
_EXACT = ("TestsFailed",)
_LINE = re.compile(r":\d+(?= in )")
_MISSING_MODULE = re.compile(r"No module named '([^'.]+)")
# Ends that say something of the library. A process that the kernel killed, say, may have lacked memory.
_TELLING_ENDS = ("raised", "died", "time-limit", "output-limit", "process-limit")


def normalise_message(message: str) -> str:
    """A message without what differs from one run, machine or size to the next: numbers that stand alone, addresses,
    ids, folders and the names of temporary files become placeholders, and white space is one blank. Idempotent."""
    for pattern, placeholder in _PLACEHOLDERS:
        message = pattern.sub(placeholder, message)
    return " ".join(message.split())[:_LENGTH].rstrip()


def normalise_frame(frame: str) -> str:
    """A frame without its line: `package/file.py in function`."""
    return _LINE.sub("", frame)


@dataclass(frozen=True)
class LearnedSignature:
    """How a bug is known that was seen once: exception type, normalised message, and the deepest frame inside the
    library as module path and function; `frame` is None where the failure lay outside of the library."""

    type: str
    message: str
    frame: str | None

    def matches(self, evidence: Evidence) -> bool:
        """Whether `evidence` is the same failure."""
        return self == signature_of(evidence)

    @property
    def words(self) -> str:
        """For people: `RuntimeError: The size of tensor ... (package/file.py in function)`."""
        return f"{self.type}: {self.message}" + (f" ({self.frame})" if self.frame else "")


def signature_of(evidence: Evidence) -> LearnedSignature:
    """The signature of a failure that was seen."""
    frame = normalise_frame(evidence.frame) if evidence.frame else None
    message = evidence.message or ""
    return LearnedSignature(
        evidence.type or "", message if evidence.type in _EXACT else normalise_message(message), frame
    )


@dataclass(frozen=True)
class Learned:
    """What the ends taught.

    `case` judges by it; `bug` is None where the bad end showed no failure to learn from, and then `why` says so in
    words; `absent` is the good end's failure, None where it had none.
    """

    case: Case
    bug: LearnedSignature | None
    absent: LearnedSignature | None
    why: str | None


def learn(case: Case, package: str, bad: Sequence[Outcome], good: Sequence[Outcome] = ()) -> Learned:
    """Learn, of the library `package`, from what was seen at the bad end, in one or several repetitions, and at the
    good end, where there is one.

    Where both ends failed alike, nothing is learned as absent: both are then judged `bad`, and do not differ.
    """
    reasons = [_why_not(outcome, package) for outcome in bad]
    bug = next((signature_of(o.evidence) for o, why in zip(bad, reasons, strict=True) if why is None), None)
    if bug is None:
        why = next(filter(None, reasons), "nothing ran at the bad end")
        return Learned(replace(case, signatures=(), absent=()), None, None, why)
    failures = [signature_of(o.evidence) for o in good if _why_not(o, package) is None]
    absent = next((failure for failure in failures if failure != bug), None)
    learned = replace(case, signatures=(bug,), absent=(absent,) if absent else ())
    return Learned(learned, bug, absent, None)


def _why_not(outcome: Outcome, package: str) -> str | None:
    """Why an outcome teaches nothing, or None where it does."""
    seen = outcome.evidence
    if outcome.end == "returned":
        return "it ended without a failure"
    if outcome.end not in _TELLING_ENDS:
        return f"it ended as {outcome.end} ({seen.type}: {seen.message})"
    module = missing_module(outcome, package)
    if module is not None:
        return f"it imports {module}, and the environment has no such module"
    return None


def missing_module(outcome: Outcome, package: str) -> str | None:
    """The module from outside the library that a script itself imports and the environment lacks, if that is what
    happened: no matter of the library."""
    seen = outcome.evidence
    if outcome.phase == "library" or seen.type != "ModuleNotFoundError" or seen.frame is not None:
        return None
    named = _MISSING_MODULE.match(seen.message or "")
    return named[1] if named and named[1] != package else None


def rejudged(row: ProbeResult, case: Case) -> ProbeResult:
    """A row judged anew by `case`, which may have learned since it ran. A row without a probe stays as it is."""
    if not row.outcomes:
        return row
    verdicts = [judge(outcome, case.signatures, case.absent) for outcome in row.outcomes]
    verdict, shown = combine(verdicts), row.outcomes[telling(verdicts)].evidence
    if verdict is Verdict.FLAKY:
        shown = disagreement(verdicts, shown)
    return replace(row, verdict=verdict, evidence=shown)
