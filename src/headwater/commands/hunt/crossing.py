# SPDX-License-Identifier: Apache-2.0
"""`--deps both`: old and new code with old and new packages, to tell whether the library or a package broke it."""

from __future__ import annotations

from headwater.commands.hunt.oracle import Oracle
from headwater.core.errors import EnvironmentUnavailable
from headwater.core.hunt_report import Crossing
from headwater.core.revisions import Revision, name_of, short_name
from headwater.core.verdicts import Verdict
from headwater.effects.envs import DatedLock


def cross(oracle: Oracle, before: Revision, after: Revision) -> tuple[Crossing | None, str | None]:
    """Probe the four pairs of code and packages around a change, each with the packages of its day, and say where these
    are the same; or say why not."""
    names = short_name(name_of(before)), short_name(name_of(after))
    locks: list[DatedLock] = []
    for revision, name in zip((before, after), names, strict=True):
        try:
            locks.append(oracle.lock_of(revision))
        except EnvironmentUnavailable as error:
            return None, f"there are no packages of the day of {name}: {error}"
    seen: list[tuple[Verdict, Verdict]] = []
    for revision in (before, after):
        rows = [oracle.probe_in(oracle.subject_in(revision, lock), lock.name) for lock in locks]
        seen.append((rows[0].verdict, rows[1].verdict))
    days = locks[0].day, locks[1].day
    same = f"the packages of {days[0]} and {days[1]} are the same" if locks[0].text == locks[1].text else None
    return Crossing(names, days, (seen[0], seen[1])), same
