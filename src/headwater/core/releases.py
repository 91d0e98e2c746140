# SPDX-License-Identifier: Apache-2.0
"""Versions, their order, and the words that select them.

Releases are a tree, not a line: x.y.0 releases follow one another on the main line, and each x.y.z (z > 0) follows
x.y.(z-1) on a maintenance line of its own, whenever it was published.
"""

from __future__ import annotations

from collections.abc import Sequence

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from headwater.core.errors import BadInput


def parse_version(text: str) -> Version:
    """Read one version.

    Raises:
        BadInput: `text` is no version by PEP 440.
    """
    try:
        return Version(text)
    except InvalidVersion as error:
        raise BadInput(f"{text!r} is not a version, such as 5.10.1") from error


def is_on_main_line(version: Version) -> bool:
    """Whether a release was cut from the main branch: x.y.0."""
    return version.micro == 0


def nearest(wanted: Version, known: Sequence[Version], count: int = 3) -> list[Version]:
    """The releases around a version that is not among `known`, in order: those just below and just above it,
    then further ones from the side that still has some. At most `count`."""
    ordered = sorted(known)
    below = [v for v in ordered if v < wanted]
    above = [v for v in ordered if v > wanted]
    picked: list[Version] = []
    while len(picked) < count and (below or above):
        take_below = bool(below) and (not above or len(picked) % 2 == 0)
        picked.append(below.pop() if take_below else above.pop(0))
    return sorted(picked)


def require_known(text: str, known: Sequence[Version]) -> Version:
    """The release that `text` names.

    Raises:
        BadInput: there is no such release; the message names the nearest ones.
    """
    wanted = parse_version(text)
    if wanted in known:
        return wanted
    names = ", ".join(str(v) for v in nearest(wanted, known))
    raise BadInput(
        f"there is no pinned release {text}; the nearest are {names}. "
        "`headwater pins update` adds releases that are new in the index"
    )


def select(spec: str, known: Sequence[Version]) -> list[Version]:
    """The releases that `spec` names, in version order.

    `spec` is a version ("5.10.1"), several with commas, an inclusive range ("5.5.0..5.12.1"), a PEP 440 specifier
    (">=5.5.0,<5.13") or "all".

    Raises:
        BadInput: not readable, a named release is not pinned, or nothing matches.
    """
    text = spec.strip()
    if not known:
        raise BadInput("no release is pinned; `headwater pins update` adds those of the index")
    if text == "all":
        return sorted(known)
    if any(sign in text for sign in "<>=!~"):
        try:
            specifiers = SpecifierSet(text)
        except InvalidSpecifier as error:
            raise BadInput(f"{spec!r} is not a specifier, such as '>=5.5.0,<5.13'") from error
        found = [v for v in sorted(known) if v in specifiers]
    else:
        found = sorted({v for part in text.split(",") for v in _select_part(part.strip(), known)})
    if not found:
        raise BadInput(f"no pinned release matches {spec!r}; the pins go from {min(known)} to {max(known)}")
    return found


def _select_part(part: str, known: Sequence[Version]) -> list[Version]:
    first, dots, last = part.partition("..")
    if not dots:
        return [require_known(part, known)]
    low, high = require_known(first, known), require_known(last, known)
    if low > high:
        raise BadInput(f"the range {part!r} is empty: {low} comes after {high}")
    return [v for v in sorted(known) if low <= v <= high]
