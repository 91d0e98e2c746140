# SPDX-License-Identifier: Apache-2.0
"""In which environment a commit runs: the one of a group of releases whose lock satisfies what the commit requires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from packaging.requirements import Requirement
from packaging.version import Version

from headwater.core.errors import EnvironmentUnavailable
from headwater.core.grouping import unsatisfied
from headwater.core.pins import EnvironmentGroup, Pins


def release_near(version: Version, known: Sequence[Version]) -> Version:
    """The release whose needs a commit that states `version` shares: x.y.0.dev0 needs what x.y.0 will need; beyond the
    newest release the newest is nearest. `known` is in order."""
    wanted = Version(version.base_version)
    return max((v for v in known if v <= wanted), default=known[0])


def choose_release(
    requirements: Iterable[Requirement], near: Version, pins: Pins, locked: Mapping[str, Mapping[str, Version]]
) -> Version:
    """The release in whose environment a commit runs that requires `requirements`.

    `near` is the release that its version is nearest to; `locked` has what the lock of each group pins, by the name of
    the group.

    The group of `near` if it satisfies, else the nearest one that does, the older of two.

    Raises:
        EnvironmentUnavailable: none does; it names what the first choice leaves open.
    """
    wanted = list(requirements)
    order = _order(pins, near)
    missing = {group.name: unsatisfied(wanted, locked[group.name]) for group in order}
    for group in order:
        if not missing[group.name]:
            return min(max(near, group.first), group.last)
    if not order:
        raise EnvironmentUnavailable("there are no environment groups; `headwater pins update --locks` makes them")
    first = order[0].name
    others = "; ".join(f"{group.name}: {', '.join(missing[group.name])}" for group in order[1:])
    raise EnvironmentUnavailable(
        f"no environment satisfies what its setup.py requires: {first} lacks {', '.join(missing[first])}"
        + (f" ({others})" if others else "")
    )


def _order(pins: Pins, near: Version) -> list[EnvironmentGroup]:
    """The groups, the one to be tried first in front."""
    at = max((n for n, group in enumerate(pins.groups) if group.first <= near), default=0)
    return [pins.groups[n] for n in sorted(range(len(pins.groups)), key=lambda n: (abs(n - at), n))]
