# SPDX-License-Identifier: Apache-2.0
"""`--deps both`: old and new code with old and new packages, to tell whether the library or a package broke it."""

from __future__ import annotations

from dataclasses import replace

from headwater.commands.hunt.oracle import Oracle
from headwater.core.hunting import Crossing, Point, short_name
from headwater.core.verdicts import Verdict


def cross(oracle: Oracle, before: Point, after: Point) -> tuple[Crossing | None, str | None]:
    """Probe the four pairs around a change; or say why there are none."""
    subjects = oracle.subject(before), oracle.subject(after)
    environments = [oracle.context.environments.describe(subject.pin) for subject in subjects]
    if environments[0].key == environments[1].key:
        words = f"both sides run with the same packages (environment {environments[0].name}): the library changed"
        return None, words
    seen: list[tuple[Verdict, Verdict]] = []
    for code in subjects:
        pair = [oracle.probe_in(replace(code, pin=packages.pin), code.revision).verdict for packages in subjects]
        seen.append((pair[0], pair[1]))
    names = short_name(subjects[0].revision), short_name(subjects[1].revision)
    return Crossing(names, (environments[0].name, environments[1].name), (seen[0], seen[1])), None
