# SPDX-License-Identifier: Apache-2.0
"""What hunts and reductions answered, read back from the JSON that they wrote (`--output`), for a report to show."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from headwater.core.errors import BadInput
from headwater.core.marks import JUDGED
from headwater.core.verdicts import Evidence, Verdict

SCHEMA = 1
# What the two sides of a change are called in the JSON of a hunt.
SIDES = {"introduced": ("last_good", "first_bad"), "fixed": ("last_bad", "first_good")}
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True)
class AnswerProbe:
    """A probe as an answer has it: `revision` is a release, a whole commit id, or words for a tree between two."""

    revision: str
    verdict: Verdict
    evidence: Evidence
    repetitions: int


@dataclass(frozen=True)
class HuntAnswer:
    """A hunt: its probes in the order in which they were first asked for, the sentences that it came to, and where its
    commits lie on the line that was searched (`commits` of them in all, 0 where it ended at releases)."""

    case: str
    device: str
    find: Literal["introduced", "fixed", "all"]
    result: str
    changes: tuple[tuple[str, str, str], ...]
    probes: tuple[AnswerProbe, ...]
    notes: tuple[str, ...]
    command: str
    commits: int
    places: Mapping[str, int]


@dataclass(frozen=True)
class AnswerHunk:
    """A hunk that was kept: `without` is the probe without it, or in words why there is none."""

    file: str
    header: str
    without: AnswerProbe | str
    commit: str | None

    def lies_in(self, file: str, first: int, count: int) -> bool:
        """Whether it changes one of the `count` lines of the old file from line `first` on."""
        found = _HUNK.match(self.header)
        # What only adds lines stands behind the line that it names.
        return found is not None and file == f"src/{self.file}" and first - 1 <= int(found[1]) < first + count


@dataclass(frozen=True)
class ReductionStep:
    """A probe of a part of a difference: the stage that asked for it, of how many hunks the part was, what it showed,
    and how many hunks the smallest part had that was known to do by then."""

    stage: str
    hunks: int
    outcome: str
    verdict: Verdict
    left: int


@dataclass(frozen=True)
class ReductionAnswer:
    """A reduction: the ends and their verdicts, the stages (name, files, hunks, lines, probes), every probe of a part
    in its order (none where an earlier Headwater wrote it), what was kept."""

    case: str
    device: str
    ends: tuple[str, str]
    verdicts: tuple[Verdict, Verdict]
    minimal: bool
    stages: tuple[tuple[str, int, int, int, int], ...]
    steps: tuple[ReductionStep, ...]
    hunks: tuple[AnswerHunk, ...]
    diff: str
    asked: int


@dataclass(frozen=True)
class HuntStep:
    """One probe of a hunt in its order: its `position` on the line that was searched, and the first and the last
    position between which the change still lies after it."""

    position: int
    low: int
    high: int


def read_answer(text: str, origin: str) -> list[HuntAnswer | ReductionAnswer]:
    """The hunt and the reduction that a JSON object of `bisect`, `reduce` or `backport` holds; none of those where it
    tells of an error instead.

    Raises:
        BadInput: it is no such object.
    """
    try:
        document = json.loads(text)
        if "error" in document:
            return []
        if document["schema"] != SCHEMA or document["command"] not in ("bisect", "reduce", "backport"):
            raise KeyError(f"schema {document['schema']} of {document['command']}")
        if document["command"] != "bisect":
            return [_read_reduction(document)]
        hunt, inner = _read_hunt(document), document["reduction"]
        return [hunt, _read_reduction(inner)] if inner else [hunt]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadInput(
            f"{origin}: not what `headwater bisect`, `reduce` or `backport` writes with --output ({error})"
        ) from error


def _read_hunt(document: Mapping[str, Any]) -> HuntAnswer:
    changes = []
    for change in document["changes"]:
        old, new = SIDES.get(change["find"], ("before", "after"))
        changes.append((str(change["find"]), str(change[old]), str(change[new])))
    commits = document.get("commits") or {"count": 0, "places": {}}
    return HuntAnswer(
        document["what"], document["probes"][0]["device"] if document["probes"] else "cpu", document["find"],
        document["result"], tuple(changes), tuple(map(_read_probe, document["probes"])), tuple(document["notes"]),
        document["reproduce"], int(commits["count"]), {str(k): int(v) for k, v in commits["places"].items()},
    )  # fmt: skip


def _read_reduction(document: Mapping[str, Any]) -> ReductionAnswer:
    old, new = map(Verdict, document["verdicts"])
    stages = ((s["name"], *(int(s[key]) for key in ("files", "hunks", "lines", "probes"))) for s in document["stages"])
    return ReductionAnswer(
        document["case"], document["device"], (document["from"], document["to"]), (old, new),
        bool(document["minimal"]), tuple((str(a), b, c, d, e) for a, b, c, d, e in stages),
        tuple(_read_step(event, document["probes"]) for event in document.get("events", ())),
        tuple(map(_read_hunk, document["hunks"])), document["diff"], int(document["asked"]),
    )  # fmt: skip


def _read_step(event: Mapping[str, Any], probes: Sequence[Mapping[str, Any]]) -> ReductionStep:
    verdict = Verdict(probes[int(event["probe"])]["verdict"])
    return ReductionStep(
        str(event["stage"]), int(event["hunks"]), str(event["outcome"]), verdict, int(event["left"]["hunks"])
    )


def _read_hunk(hunk: Mapping[str, Any]) -> AnswerHunk:
    without = _read_probe(hunk["needed_by"]) if hunk["needed_by"] else hunk["without"] or "not probed"
    return AnswerHunk(hunk["file"], hunk["header"], without, hunk["commit"])


def _read_probe(probe: Mapping[str, Any]) -> AnswerProbe:
    said = probe["evidence"]
    evidence = Evidence(said["type"], said["message"], said["frame"])
    return AnswerProbe(probe["revision"], Verdict(probe["verdict"]), evidence, int(probe["repetitions"]))


def steps(hunt: HuntAnswer, places: Mapping[str, int], count: int) -> list[HuntStep]:
    """How a hunt went over one line of `count` revisions, of which `places` says where those that it probed lie: a step
    a probe, with the part in which the change that was found lies, as far as the probes up to there bound it.

    Verdicts that tell nothing of a bug bound nothing. Where no one change was looked for, or none was found on this
    line, the whole of it is left to the end.
    """
    found = [(places[a], places[b]) for _, a, b in hunt.changes if a in places and b in places]
    before, after = found[-1] if found and hunt.find != "all" else (-1, count)
    low, high = 0, count - 1
    taken = []
    for probe in hunt.probes:
        if probe.revision not in places:
            continue
        at = places[probe.revision]
        if probe.verdict in JUDGED and at <= before:
            low = max(low, at)
        elif probe.verdict in JUDGED and at >= after:
            high = min(high, at)
        taken.append(HuntStep(at, low, high))
    return taken
