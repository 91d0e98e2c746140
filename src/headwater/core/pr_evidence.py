# SPDX-License-Identifier: Apache-2.0
"""The evidence of a pull request: what was probed on which tree with which patch, as `evidence.json` has it.

Everything but `times` follows from what it was made of: the same input gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from headwater.core.errors import BadInput
from headwater.core.plain_data import from_plain, to_plain
from headwater.core.results import ProbeResult
from headwater.core.states import PatchState
from headwater.core.test_results import Changes, OneTest, TestResults
from headwater.core.verdicts import Verdict

SCHEMA = 1
# What stands in the bundle beside the patches.
EVIDENCE, EVIDENCE_TEXT, BODY, CHECKLIST = "evidence.json", "EVIDENCE.md", "BODY.md", "CHECKLIST.md"
RANGE_DIFF, CASES = "range-diff.txt", "cases"
TESTS = "tests"  # what a line is called that runs a patch's own tests

_FILE = re.compile(r"[^/\\\x00]*[^/\\\x00.][^/\\\x00]*")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


@dataclass(frozen=True)
class Sight:
    """What one probe saw: its verdict, what it shows, and what happened to each test of one that runs many."""

    verdict: Verdict
    type: str | None
    message: str | None
    frame: str | None
    tests: tuple[OneTest, ...]

    @property
    def shown(self) -> str:
        """Verdict and evidence in one line."""
        detail = ": ".join(filter(None, [self.type, " ".join((self.message or "").split())]))
        return f"{self.verdict.words} ({detail})" if detail else self.verdict.words

    def count(self, result: str) -> int:
        """How many tests had a result."""
        return sum(one.result == result for one in self.tests)


def sight_of(row: ProbeResult) -> Sight:
    """What a probe saw, without what changes from run to run: times, and addresses in messages."""
    tests = tuple(replace(one, reason=_plain_words(one.reason)) for one in row.tests)
    return Sight(row.verdict, row.evidence.type, _plain_words(row.evidence.message), row.evidence.frame, tests)


def _plain_words(text: str | None) -> str | None:
    return _ADDRESS.sub("0x...", text) if text is not None else None


@dataclass(frozen=True)
class Line:
    """One case, or the tests that a patch brings (`what` is then "tests"), on one revision and device: with the patches
    below this one (`before`), with this one (`after`), and with all (`whole`)."""

    what: str
    revision: str
    device: str
    before: Sight
    after: Sight
    whole: Sight


@dataclass(frozen=True)
class PatchEvidence:
    """One patch: `file` and its sha256; git's patch id; the sha256 of the file of the series that it was made of; the
    ids of the library's tree by revision once it is applied; its cases and test files."""

    file: str
    sha256: str
    patch_id: str
    source: str
    subject: str
    trees: Mapping[str, str]
    cases: tuple[str, ...]
    tests: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class LibraryLine:
    """A file of the library's own tests on one device, without and with the whole series: how many passed, and the
    names of those whose result differs."""

    file: str
    device: str
    before: Verdict
    after: Verdict
    passed_before: int
    passed_after: int
    failed_before: int
    failed_after: int
    still_failing: tuple[str, ...]
    newly_passing: tuple[str, ...]
    new_failures: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True)
class TargetEvidence:
    """What the patches are for. `word` is how it was named; `revision` the release or the whole commit id; `release`
    the release whose environment it runs in; `tree` the id of its library; `after_am` the id of the whole tree that
    `git am` makes of it; `rules` the commit at which upstream's own files (tests, template, settings) were read, None
    where no repository was at hand."""

    kind: Literal["release", "commit"]
    word: str
    revision: str
    release: str
    tree: str
    after_am: str
    rules: str | None


@dataclass(frozen=True)
class EnvironmentEvidence:
    """An environment, and the revision that ran in it. `name` is its group's."""

    revision: str
    name: str
    key: str
    torch: str | None
    python: str
    platform: str


@dataclass(frozen=True)
class LeftOut:
    """A patch of the series that the target does not need, and what its cases say of the target, by their ids, on a
    device."""

    file: str
    state: PatchState
    device: str
    verdicts: Mapping[str, Verdict]


@dataclass(frozen=True)
class CaseEvidence:
    """A case as the bundle holds it: the file that is run, and the sha256 of every file by its name."""

    file: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class Times:
    """What changes with every run; `made` in UTC."""

    made: str


@dataclass(frozen=True)
class PrEvidence:
    """All of it. `repeat` says how often each probe was made; `cases` are by id; `headings` are those of the body as it
    was made, `written` that of the files that a person goes on writing, as Headwater wrote them."""

    schema: int
    package: str
    series: str
    headwater: str
    target: TargetEvidence
    devices: tuple[str, ...]
    repeat: int
    releases: tuple[str, ...]
    patches: tuple[PatchEvidence, ...]
    left_out: tuple[LeftOut, ...]
    cases: Mapping[str, CaseEvidence]
    library: tuple[LibraryLine, ...]
    environments: tuple[EnvironmentEvidence, ...]
    headings: tuple[str, ...]
    written: Mapping[str, str]
    times: Times

    def only(self, patch: str) -> PrEvidence:
        """What is said of one patch alone."""
        chosen = tuple(one for one in self.patches if one.file == patch)
        return replace(self, patches=chosen, library=(), left_out=())

    def on(self, devices: tuple[str, ...]) -> PrEvidence:
        """What is said of some devices alone."""
        patches = tuple(
            replace(one, lines=tuple(line for line in one.lines if line.device in devices)) for one in self.patches
        )
        library = tuple(one for one in self.library if one.device in devices)
        left_out = tuple(one for one in self.left_out if one.device in devices)
        return replace(self, devices=devices, patches=patches, library=library, left_out=left_out)

    @property
    def failed(self) -> bool:
        """Whether Headwater or the machine failed in a probe: that says nothing of the patches."""
        lines = [line for patch in self.patches for line in patch.lines]
        seen = [one.verdict for line in lines for one in (line.before, line.after, line.whole)]
        return Verdict.HARNESS_ERROR in [
            *seen,
            *(verdict for one in self.left_out for verdict in one.verdicts.values()),
        ]


def library_line(file: str, before: ProbeResult, after: ProbeResult, changes: Changes) -> LibraryLine:
    """A file of the library's tests, compared."""
    return LibraryLine(
        file=file,
        device=before.device,
        before=before.verdict,
        after=after.verdict,
        passed_before=_count(before, "passed"),
        passed_after=_count(after, "passed"),
        failed_before=_count(before, "failed"),
        failed_after=_count(after, "failed"),
        still_failing=_names(changes.still_failing),
        newly_passing=_names(changes.newly_passing),
        new_failures=_names(changes.new_failures),
        lost=_names(changes.lost),
    )


def _count(row: ProbeResult, result: str) -> int:
    return sum(one.result == result for one in row.tests)


def _names(tests: TestResults) -> tuple[str, ...]:
    return tuple(one.name for one in tests)


def write_evidence(evidence: PrEvidence) -> str:
    """The text that `read_evidence` reads."""
    return json.dumps(to_plain(evidence), indent=1, ensure_ascii=False) + "\n"


def read_evidence(text: str, origin: str) -> PrEvidence:
    """Read an `evidence.json`.

    Raises:
        BadInput: it is no such file, was written by a newer Headwater, or names files elsewhere; the place is named.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadInput(f"{origin} is no JSON: {error}; make the bundle anew with `headwater pr`") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise BadInput(f"{origin} has schema {schema!r}, and this Headwater reads {SCHEMA}; update Headwater")
    evidence = from_plain(PrEvidence, data, origin)
    for name in (*(one.file for one in evidence.patches), *(n for one in evidence.cases.values() for n in one.files)):
        # They are looked for, and taken away, in the bundle's folder.
        if not _FILE.fullmatch(name):
            raise BadInput(f"{origin}: {name!r} is no name of a file in a bundle; make the bundle anew")
    return evidence
