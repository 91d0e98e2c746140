# SPDX-License-Identifier: Apache-2.0
"""Hunts and reductions as a report draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from headwater.core.answers import AnswerHunk, AnswerProbe, HuntAnswer, HuntStep, ReductionAnswer, steps
from headwater.core.diffs import FileChange, read_diff
from headwater.core.drawing import Fall, fall_of, line_of_hunt
from headwater.core.revisions import short_name


@dataclass(frozen=True)
class Level:
    """One line that a hunt went over: what it is called, its length, the names at its ends, and the steps, each with
    the probe that it was."""

    title: str
    count: int
    ends: tuple[str, str]
    steps: tuple[tuple[HuntStep, AnswerProbe], ...]

    @property
    def labels(self) -> list[str]:
        """What is written beside each step."""
        told = []
        for number, (_, probe) in enumerate(self.steps, 1):
            times = f" ({probe.repetitions} times)" if probe.repetitions > 1 else ""
            told.append(f"{number}. {short_name(probe.revision)}: {probe.verdict.words}{times}")
        return told

    @property
    def gutter(self) -> int:
        """The room that these need, in pixels."""
        return 7 * max(map(len, self.labels), default=0)


def levels(hunt: HuntAnswer, known: Sequence[Version]) -> list[Level]:
    """The releases that a hunt went over, and then the commits, as far as it did."""
    found = []
    pinned = {str(version): version for version in known}
    probed = [pinned[probe.revision] for probe in hunt.probes if probe.revision in pinned]
    if probed:
        line = [str(version) for version in line_of_hunt(probed, known)]
        places = {name: place for place, name in enumerate(line)}
        found.append(_level("releases", hunt, places, (line[0], line[-1]), len(line)))
    if hunt.places:
        names = {place: name for name, place in hunt.places.items()}
        ends = tuple(names.get(place, f"commit {place + 1}") for place in (0, hunt.commits - 1))
        found.append(_level("commits", hunt, hunt.places, (ends[0], ends[1]), hunt.commits))
    return found


def _level(title: str, hunt: HuntAnswer, places: Mapping[str, int], ends: tuple[str, str], count: int) -> Level:
    took = [probe for probe in hunt.probes if probe.revision in places]
    return Level(title, count, ends, tuple(zip(steps(hunt, places, count), took, strict=True)))


def fall(reduction: ReductionAnswer) -> Fall:
    """How a reduction narrowed, from the whole difference on."""
    return fall_of(reduction.steps, reduction.stages[0][2])


@dataclass(frozen=True)
class DiffHunk:
    """A hunk of a reduced difference: its header, its lines with their kind (add, del, same), and the kept hunks that
    it shows, with what rests on each."""

    header: str
    lines: tuple[tuple[str, str], ...]
    kept: tuple[AnswerHunk, ...]


@dataclass(frozen=True)
class DiffFile:
    """A file of a reduced difference."""

    path: str
    hunks: tuple[DiffHunk, ...]


_KINDS = {"+": "add", "-": "del"}


def diff_files(reduction: ReductionAnswer) -> list[DiffFile]:
    """The reduced difference, file by file, each hunk with the probes that it rests on."""
    return [_file(change, reduction.hunks) for change in read_diff(reduction.diff.encode(), "the reduced difference")]


def _file(change: FileChange, kept: Sequence[AnswerHunk]) -> DiffFile:
    path = change.new or change.old or ""
    hunks = []
    for hunk in change.hunks:
        lines = hunk.body.decode("utf-8", "replace").splitlines()
        shown = tuple((_KINDS.get(line[:1], "same"), line) for line in lines)
        inside = tuple(one for one in kept if one.lies_in(path, hunk.old_start, hunk.old_count))
        hunks.append(DiffHunk(f"{hunk.header} {hunk.section}".rstrip(), shown, inside))
    return DiffFile(path, tuple(hunks))
