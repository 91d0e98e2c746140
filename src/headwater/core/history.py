# SPDX-License-Identifier: Apache-2.0
"""The order in which a hunt meets releases: along the main line first, then into a maintenance line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.marks import Find
from headwater.core.releases import is_on_main_line


def parent(version: Version, known: Sequence[Version]) -> Version | None:
    """The release that `version` grew from: the one before on its maintenance line, or on the main line.

    None for the first known release of the main line, and for a maintenance release whose x.y.0 is not known.
    """
    if is_on_main_line(version):
        return max((v for v in known if is_on_main_line(v) and v < version), default=None)
    line = [v for v in known if v.release[:2] == version.release[:2] and v < version]
    return max(line, default=None)


def path(old: Version, new: Version, known: Sequence[Version]) -> list[Version]:
    """The releases from `old` to `new`, both included, each the parent of the next.

    Raises:
        BadInput: `old` comes after `new`, or is no ancestor of it; the message names the nearest release that is.
    """
    if old > new:
        raise BadInput(f"{old} comes after {new}; give the older release first")
    steps = [new]
    while steps[-1] > old:
        before = parent(steps[-1], known)
        if before is None or before < old:
            break
        steps.append(before)
    if steps[-1] != old:
        raise BadInput(
            f"{old} is no ancestor of {new}: maintenance releases lead nowhere. Use {steps[-1]} or an x.y.0 before it"
        )
    return steps[::-1]


@dataclass(frozen=True)
class Line:
    """A line of a plan: `releases`, oldest first, each the parent of the next, and what to hunt for along it.

    `needs` is what the first of them, the common ancestor, must show for this line to be the one that holds the
    change: "good" (absent counts as good here) or "bad". None where there is no such condition, because the first
    release is an end that the user named, to be proved like any end.
    """

    releases: tuple[Version, ...]
    find: Find
    needs: Literal["good", "bad"] | None = None


def plan(good: Version, bad: Version, known: Sequence[Version], find: Find = "introduced") -> list[Line]:
    """The lines to search for a change between a good and a bad release, that which was asked for first.

    Where one release is an ancestor of the other there is one line. Otherwise both grew from a common ancestor, which
    must be proved first, like an end (git bisect tests merge bases for the same reason). What it shows says which line
    holds the change, and never both do: a good ancestor leaves what introduced the bug on the way to the bad release;
    a bad one leaves what fixed it on the way to the good release, and the bug itself is older than both. An ancestor
    that cannot be judged leaves the question open.

    Raises:
        BadInput: the same release twice; the lines have no known common ancestor; or one end is an ancestor of the
            other the wrong way round for `find`.
    """
    if good == bad:
        raise BadInput(f"{good} is given as good and as bad; give two releases")
    ancestor = common_ancestor(good, bad, known)
    if ancestor == (bad if find == "introduced" else good):
        other = "fixed" if find == "introduced" else "introduced"
        order = f"bad {bad} is before good {good}" if find == "introduced" else f"good {good} is before bad {bad}"
        raise BadInput(f"{order}: nothing was {find} on the way. Use --find {other}, or give other ends")
    to_bad, to_good = tuple(path(ancestor, bad, known)), tuple(path(ancestor, good, known))
    if ancestor == good:
        return [Line(to_bad, "introduced")]
    if ancestor == bad:
        return [Line(to_good, "fixed")]
    both = [Line(to_bad, "introduced", "good"), Line(to_good, "fixed", "bad")]
    return both if find == "introduced" else both[::-1]


def common_ancestor(one: Version, other: Version, known: Sequence[Version]) -> Version:
    """The newest release that both grew from, which may be one of them.

    Raises:
        BadInput: none is known.
    """
    shared = [v for v in _ancestry(one, known) if v in _ancestry(other, known)]
    if not shared:
        raise BadInput(
            f"{one} and {other} have no common ancestor among the pinned releases; "
            "`headwater pins update` may add the x.y.0 that a maintenance release grew from"
        )
    return shared[0]


def lines(old: Version, new: Version, known: Sequence[Version]) -> list[list[Version]]:
    """The tree of releases from `old` to `new`, both included, as lines: the main line first, then the maintenance
    lines by age, each beginning with the x.y.0 that it grew from where that is in the range.

    Raises:
        BadInput: no known release is in the range.
    """
    inside = sorted(v for v in known if old <= v <= new)
    if not inside:
        raise BadInput(f"no pinned release is in {old}..{new}; give the older release first")
    series = [list(group) for _, group in itertools.groupby(inside, key=lambda v: v.release[:2])]
    main = [v for v in inside if is_on_main_line(v)]
    return [line for line in [main, *(s for s in series if len(s) > 1 or not is_on_main_line(s[0]))] if line]


def _ancestry(version: Version, known: Sequence[Version]) -> list[Version]:
    """`version`, its parent, and so on to the first known release."""
    chain = [version]
    while (before := parent(chain[-1], known)) is not None:
        chain.append(before)
    return chain
