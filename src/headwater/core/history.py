# SPDX-License-Identifier: Apache-2.0
"""The order in which a hunt meets releases: along the main line first, then into a maintenance line."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from headwater.core.errors import BadInput
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
