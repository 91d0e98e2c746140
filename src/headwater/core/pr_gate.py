# SPDX-License-Identifier: Apache-2.0
"""What keeps a bundle from being sent, and how evidence that was replayed differs from what was recorded."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from headwater.core.plain_data import flatten, to_plain
from headwater.core.pr_copies import HandEdit
from headwater.core.pr_evidence import TESTS, CaseEvidence, Line, PatchEvidence, PrEvidence, Sight
from headwater.core.verdicts import Verdict

Kind = Literal[
    "body-unwritten", "no-go-ahead", "evidence-older", "other-tree", "not-red-and-green", "style", "generated-file",
    "copied-code", "fixed-upstream",
]  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """One reason why a bundle is refused: its kind, for machines, and a sentence that names the next step."""

    kind: Kind
    text: str


def older_than(
    evidence: PrEvidence, patches: Mapping[str, str], cases: Mapping[str, CaseEvidence], series: Mapping[str, str]
) -> list[Reason]:
    """Whether the evidence is of other contents than these, which are sha256 sums: of the bundle's patches by file, of
    its cases' files, and of the series' files as they are now by the subject of their patch (empty where the workspace
    does not hold the series)."""
    known = {one.file: one.sha256 for one in evidence.patches}
    told = []
    for file in sorted(known.keys() | patches.keys()):
        if file not in patches:
            told.append(f"{file} is gone since")
        elif file not in known:
            told.append(f"{file} was added since")
        elif patches[file] != known[file]:
            told.append(f"{file} was changed since")
    for case, known_files in evidence.cases.items():
        if cases.get(case) != known_files:
            told.append(f"the case {case} in the bundle was changed since")
    for one in evidence.patches:
        if series and series.get(one.subject) != one.source:
            told.append(f"its patch {one.subject!r} in patches/{evidence.series} was changed or dropped since")
    again = f"`headwater pr {evidence.series} --onto {evidence.target.word}` makes it anew"
    return [Reason("evidence-older", f"the evidence is older than the patches: {words}; {again}") for words in told]


def not_red_and_green(evidence: PrEvidence) -> list[Reason]:
    """The cases and tests that do not show on the target what a patch does: bad, or red, below it, and good with it and
    with the whole series."""
    found = []
    for patch in evidence.patches:
        lines = [line for line in patch.lines if line.revision == evidence.target.revision]
        told = [words for line in lines for words in _not_as_it_should(line, patch)]
        if not patch.tests:
            told.append("it brings no test below tests/; upstream wants one that fails before and passes after")
        elif not any(line.what == TESTS for line in lines):
            told.append("its tests ran on no device that has real numbers; --device cpu has them")
        found += [Reason("not-red-and-green", f"{patch.file}: {words}") for words in told]
    return found


def _not_as_it_should(line: Line, patch: PatchEvidence) -> Iterator[str]:
    what = "its tests" if line.what == TESTS else f"the case {line.what}"
    if line.before.verdict is not Verdict.BAD:
        yield f"{what} on {line.device} must be bad below the patch and is {line.before.shown}"
    for with_what, sight in (("with it", line.after), ("with the whole series", line.whole)):
        if sight.verdict is not Verdict.GOOD:
            yield f"{what} on {line.device} must be good {with_what} and is {sight.shown}"
    if line.what == TESTS and line.before.verdict is Verdict.BAD and line.after.verdict is Verdict.GOOD:
        for path in patch.tests:
            yield from _colours(path, line)


def _colours(path: str, line: Line) -> Iterator[str]:
    """Whether a test file has a test that fails below the patch and passes with it."""
    red = {name for name, result in _of_file(path, line.before).items() if result == "failed"}
    green = {name for name, result in _of_file(path, line.after).items() if result == "passed"}
    if not red & green:
        yield f"no test of {path} on {line.device} fails below the patch and passes with it"


def _of_file(path: str, sight: Sight) -> dict[str, str]:
    name = posixpath.basename(path)
    return {one.name: one.result for one in sight.tests if one.name.partition("::")[0] == name}


def by_hand(edits: Sequence[HandEdit]) -> list[Reason]:
    """The edits that upstream's tools would take back, those whose source is edited alike left out."""
    found = []
    for edit in edits:
        if edit.kept:
            continue
        if edit.name is None:
            text = (
                f"{edit.path} is generated from {edit.source}: edit that, and have upstream's `make fix-repo` make it"
            )
            found.append(Reason("generated-file", text))
        else:
            text = f"{edit.name} in {edit.path} is a copy of {edit.source}: edit that, or take `# Copied from` away"
            found.append(Reason("copied-code", text))
    return found


@dataclass(frozen=True)
class Difference:
    """A figure that a replay does not repeat: its path in `evidence.json`, what is recorded, and what was seen."""

    path: str
    recorded: object
    seen: object


# What a replay cannot see, or what may be another on another machine.
_NO_FIGURES = ("times", "headings", "written", "headwater", "environments", "schema")


def differences(recorded: PrEvidence, seen: PrEvidence) -> list[Difference]:
    """Every figure that differs, in the order of the paths."""
    sides = [
        {path: value for path, value in flatten(to_plain(one)).items() if not path.startswith(_NO_FIGURES)}
        for one in (recorded, seen)
    ]
    paths = [*sides[0], *(path for path in sides[1] if path not in sides[0])]
    missing = "nothing"
    pairs = [(path, sides[0].get(path, missing), sides[1].get(path, missing)) for path in paths]
    return [Difference(*pair) for pair in pairs if pair[1] != pair[2]]


def count_of_figures(evidence: PrEvidence) -> int:
    """How many figures a replay compares."""
    return sum(not path.startswith(_NO_FIGURES) for path in flatten(to_plain(evidence)))
