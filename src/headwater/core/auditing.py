# SPDX-License-Identifier: Apache-2.0
"""Which known bugs a release has, by the atlas alone: nothing is probed, fetched or imported."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange
from headwater.core.atlas_text import axis_of
from headwater.core.cases import Case
from headwater.core.verdicts import Verdict

_WITHOUT = (Verdict.GOOD, Verdict.ABSENT)
HAS_IT = (Verdict.BAD, Verdict.FLAKY)


@dataclass(frozen=True)
class Remedy:
    """A patch that mends a case on a release: its series, its file, the variant that serves the release (None: the
    series itself), and the release that it is written against there."""

    series: str
    patch: str
    variant: str | None
    base: Version


@dataclass(frozen=True)
class KnownBug:
    """A bug that a release has.

    `since` is the first release of the unbroken run of bad ones that the release lies in, `from_first` that nothing
    older is measured, so that it may be older still. `without` is the nearest release that does not have it, a newer
    one where there is one (`newer`), and `absent` that it has not got the feature either; None where every release has
    the bug. `introduced` and `fixed` are the commits of the two change-overs, where they are known.
    """

    case: Case
    verdict: Verdict
    since: Version
    from_first: bool
    without: Version | None
    newer: bool
    absent: bool
    introduced: AtlasChange | None
    fixed: AtlasChange | None
    remedies: tuple[Remedy, ...] = ()


@dataclass(frozen=True)
class Audit:
    """What the atlas says of a release: the bugs that it has, the cases that could not be judged there, those that were
    not measured, and how many are good or absent. `release` is what the findings are of, None where the atlas has
    nothing that it could be compared with."""

    release: Version | None
    bugs: tuple[KnownBug, ...]
    not_judged: Mapping[str, Verdict]
    not_covered: tuple[str, ...]
    clear: int

    @property
    def exit_status(self) -> int:
        """0 only where every case is good or absent: what was not tested has not passed."""
        return 1 if self.bugs or self.not_judged or self.not_covered else 0


def audit_release(
    atlas: Atlas, cases: Mapping[str, Case], release: Version, known: Sequence[Version],
    yanked: Collection[Version], remedies: Mapping[str, tuple[Remedy, ...]],
) -> Audit:  # fmt: skip
    """Say what the atlas says of a release. A yanked release is never named as one without a bug."""
    axis = axis_of(atlas, known)
    bugs, not_judged, not_covered = [], {}, []
    for case in cases.values():
        verdict = atlas.expected(case.id, release)
        if verdict is None:
            not_covered.append(case.id)
        elif verdict in HAS_IT:
            bugs.append(_bug(atlas, case, release, axis, yanked, remedies.get(case.id, ())))
        elif verdict not in _WITHOUT:
            not_judged[case.id] = verdict
    clear = len(cases) - len(bugs) - len(not_judged) - len(not_covered)
    return Audit(release, tuple(bugs), not_judged, tuple(not_covered), clear)


def _bug(
    atlas: Atlas, case: Case, release: Version, axis: Sequence[Version], yanked: Collection[Version],
    remedies: tuple[Remedy, ...],
) -> KnownBug:  # fmt: skip
    verdicts = {version: atlas.expected(case.id, version) for version in axis}
    measured = [version for version in axis if verdicts[version] is not None]
    place = first = measured.index(release)
    while first and verdicts[measured[first - 1]] in HAS_IT:
        first -= 1
    without = [v for v in measured if verdicts[v] in _WITHOUT and v not in yanked]
    newer = next((v for v in without if v > release), None)
    nearest = newer or next((v for v in reversed(without) if v < release), None)
    end = next((v for v in measured[place:] if verdicts[v] not in HAS_IT), None)
    return KnownBug(
        case=case,
        verdict=verdicts[release] or Verdict.BAD,
        since=measured[first],
        from_first=first == 0,
        without=nearest,
        newer=newer is not None,
        absent=nearest is not None and verdicts[nearest] is Verdict.ABSENT,
        introduced=atlas.change(case.id, "introduced", measured[first]),
        fixed=atlas.change(case.id, "fixed", end) if end else None,
        remedies=remedies,
    )
