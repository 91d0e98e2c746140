# SPDX-License-Identifier: Apache-2.0
"""The ends of a hunt: the revisions that were named, and those that are found by walking outward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from packaging.version import Version

from headwater.commands.hunt.drive import Course
from headwater.commands.hunt.oracle import Oracle
from headwater.core.history import path
from headwater.core.hunt_report import Obstacle, obstacle_of
from headwater.core.learning import learn
from headwater.core.marks import Find
from headwater.core.outward import Outward
from headwater.core.releases import is_on_main_line
from headwater.core.results import ProbeResult
from headwater.core.revisions import Revision, name_of
from headwater.core.verdicts import Verdict


@dataclass(frozen=True)
class Ends:
    """Both ends of a hunt; or `missing`, words for the end that could not be found, and what stood
    in the way."""

    good: Revision | None
    bad: Revision | None
    missing: str | None = None
    obstacle: Obstacle = "ends"


def look_at(oracle: Oracle, revision: Revision) -> ProbeResult:
    """One probe of one revision, for what is decided before any search."""
    row = oracle.ask(revision, len(oracle.verdicts(name_of(revision)))).result()
    oracle.keep(name_of(revision), row)
    return oracle.row(name_of(revision))


def learn_at(oracle: Oracle, bad: Revision, good: Revision | None, patience: int = 1) -> list[str]:
    """Learn how the bug is known from the failure at the bad end, and another one at the good end as `absent`; what was
    learned, in words. `patience`: how often the bad end is probed until it fails, for what fails only sometimes."""
    _look_until_it_fails(oracle, bad, patience)
    if good is not None:
        _look_until_it_fails(oracle, good, 1)
    package = oracle.context.workspace.pins.package
    outcomes = [oracle.row(name_of(revision)).outcomes if revision else () for revision in (bad, good)]
    learned = learn(oracle.target.case, package, outcomes[0], outcomes[1])
    oracle.case = learned.case
    if learned.bug is None:
        return [f"nothing was learned at {name_of(bad)}: {learned.why}"]
    words = [f"learned at {name_of(bad)}: {learned.bug.words}"]
    if learned.absent is not None and good is not None:
        words.append(f"learned at {name_of(good)}, taken for absent: {learned.absent.words}")
    return words


def _look_until_it_fails(oracle: Oracle, revision: Revision, patience: int) -> None:
    """Probe until there is a failure to learn from, at most `patience` times; where the machine fails, once more."""
    while set(seen := oracle.verdicts(name_of(revision))) <= {Verdict.GOOD, Verdict.HARNESS_ERROR}:
        if seen.count(Verdict.GOOD) >= patience or seen[-2:] == [Verdict.HARNESS_ERROR] * 2:
            return
        look_at(oracle, revision)


def find_ends(oracle: Oracle, good: Version | None, bad: Version | None, find: Find) -> Ends:
    """Releases for the ends that were not named: from the known end, or from the newest release, outward in growing
    steps."""
    ends = _find_ends(oracle, good, bad, find)
    # What was sought may be where the machine failed.
    return replace(ends, obstacle=obstacle_of([row.verdict for row in oracle.rows()]))


def _find_ends(oracle: Oracle, good: Version | None, bad: Version | None, find: Find) -> Ends:
    known = oracle.context.workspace.pins.versions
    if good is not None and bad is not None:
        return Ends(good, bad)
    if good is None and bad is None:
        newest = max(v for v in known if is_on_main_line(v))
        if look_at(oracle, newest).verdict is Verdict.BAD:
            if find == "fixed":
                return Ends(None, newest, f"the newest release, {newest}, is still bad")
            bad = newest
        else:
            # What is not bad today may have been mended: the newest release that is bad is nearest.
            bad = _walk(oracle, path_to(newest, known), "older", "fixed")
            if bad is None:
                return Ends(newest, None, f"no release up to {newest} was seen bad")
        if find == "fixed":
            good = newest
    if bad is not None and good is None:
        toward: Literal["older", "newer"] = "older" if find == "introduced" else "newer"
        good = _walk(oracle, _line(bad, known, toward), toward, find)
        return Ends(good, bad, None if good else f"no good release was found {toward} than {bad}")
    if good is not None and bad is None:
        toward = "newer" if find == "introduced" else "older"
        bad = _walk(oracle, _line(good, known, toward), toward, find)
        return Ends(good, bad, None if bad else f"no bad release was found {toward} than {good}")
    return Ends(good, bad)


def path_to(release: Version, known: Sequence[Version]) -> list[Version]:
    """A release and everything that it grew from, oldest first."""
    mains = [v for v in known if is_on_main_line(v) and v <= release]
    return path(min(mains, default=release), release, known)


def _line(release: Version, known: Sequence[Version], toward: Literal["older", "newer"]) -> list[Version]:
    if toward == "older":
        return path_to(release, known)
    newest = max(v for v in known if is_on_main_line(v))
    if is_on_main_line(release):
        return path(release, newest, known)
    # A maintenance release leads to the end of its own line only.
    last = max(v for v in known if v.release[:2] == release.release[:2])
    return path(release, last, known)


def _walk(oracle: Oracle, line: Sequence[Version], toward: Literal["older", "newer"], find: Find) -> Version | None:
    known = len(line) - 1 if toward == "older" else 0
    outward = Outward(len(line), known, toward, find)
    course = Course(oracle, outward, line, lambda: len(outward.next_steps(8)))
    # What an earlier walk saw, several at a time, beyond its own find: the same probe must not count twice.
    for position in range(known) if toward == "older" else range(known + 1, len(line)):
        course.tell(position)
    course.run()
    return line[outward.found] if outward.found is not None else None
