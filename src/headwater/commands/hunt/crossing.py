# SPDX-License-Identifier: Apache-2.0
"""`--deps both`: old and new code with old and new packages, to tell whether the library or a package broke it."""

from __future__ import annotations

from dataclasses import replace

from headwater.commands.hunt.oracle import Oracle
from headwater.core.hunting import Crossing, Point, short_name
from headwater.core.verdicts import Verdict


def cross(oracle: Oracle, before: Point, after: Point) -> tuple[Crossing | None, str | None]:
    """Probe the four pairs of code and packages around a change, each with the packages of its day; or say why not."""
    codes = [oracle.subject(point) for point in (before, after)]
    days = [oracle.dated(code, point) for code, point in zip(codes, (before, after), strict=True)]
    for day in days:
        if day.dated is None:
            return None, f"there are no packages of the day of {short_name(day.revision)}: {day.untestable}"
    locks = [day.dated for day in days if day.dated is not None]
    if locks[0].text == locks[1].text:
        return None, f"the packages of {locks[0].day} and {locks[1].day} are the same: the library changed"
    seen: list[tuple[Verdict, Verdict]] = []
    for code in codes:
        rows = [oracle.probe_in(replace(code, dated=lock, untestable=None), lock.name) for lock in locks]
        seen.append((rows[0].verdict, rows[1].verdict))
    names = short_name(codes[0].revision), short_name(codes[1].revision)
    return Crossing(names, (locks[0].day, locks[1].day), (seen[0], seen[1])), None
