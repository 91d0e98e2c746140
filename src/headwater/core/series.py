# SPDX-License-Identifier: Apache-2.0
"""Series: ordered sets of patches with one purpose, as written in a folder's `series` file.

# a comment
base: 5.10.1 <id of the src/<package> tree of that release>
range 5.5.0 plain-integers
range 5.5.1..5.7.0 older-layers
0001-subject.patch

A `range` line names a variant: a folder beside the file, with a `series` file of its own that has a base and those
patches that read otherwise there. A release that is named alone goes before a range that holds it, and what no line
names is served by the patches beside the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.releases import parse_version

_BASE = re.compile(r"base:\s+(?P<release>\S+)\s+(?P<tree>[0-9a-f]{40})\s*$")
_RANGE = re.compile(r"range\s+(?P<first>[^\s.]+(?:\.[^\s.]+)*)(?:\.\.(?P<last>\S+))?\s+(?P<folder>\S+)\s*$")
_PATCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*\.patch$")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Range:
    """The releases from `first` to `last`, both included, are served by the variant `folder`."""

    first: Version
    last: Version
    folder: str

    @property
    def exact(self) -> bool:
        """Whether it names one release alone."""
        return self.first == self.last

    def holds(self, release: Version) -> bool:
        """Whether a release lies in it."""
        return self.first <= release <= self.last

    def __str__(self) -> str:
        return str(self.first) if self.exact else f"{self.first}..{self.last}"


@dataclass(frozen=True)
class SeriesFile:
    """What a `series` file says: the release it is written against, that release's tree id, the patch files, and the
    variants by range."""

    base: Version
    base_tree: str
    patches: tuple[str, ...]
    ranges: tuple[Range, ...] = ()

    def serving(self, release: Version) -> Range | None:
        """The range whose variant serves a release: one that names it alone, else one that holds it; None where the
        default serves it."""
        holding = [entry for entry in self.ranges if entry.holds(release)]
        return min(holding, key=lambda entry: not entry.exact, default=None)


def read_series(text: str, origin: str, variant: bool = False) -> SeriesFile:
    """Read a `series` file; with `variant`, that of a variant, which has no ranges of its own.

    Raises:
        BadInput: a line that is neither comment, base, range nor patch file's name; no base; a patch twice; ranges
            that are empty or overlap.
    """
    bases: list[tuple[Version, str]] = []
    patches: list[str] = []
    ranges: list[Range] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line, place = raw.strip(), f"{origin}, line {number}"
        if not line or line.startswith("#"):
            continue
        if line.startswith("base:"):
            bases.append(_read_base(line, place, bases))
        elif line.split()[0] == "range":
            ranges.append(_read_range(line, place, ranges, variant))
        else:
            patches.append(_read_name(line, place, patches))
    if not bases:
        raise BadInput(f"{origin}: no `base: RELEASE TREE-ID` line")
    if not patches:
        raise BadInput(f"{origin}: lists no patch")
    return SeriesFile(*bases[0], tuple(patches), tuple(ranges))


def is_patch_name(name: str) -> bool:
    """Whether a file may be called so in a `series` file."""
    return _PATCH.match(name) is not None


def _read_name(line: str, place: str, earlier: Sequence[str]) -> str:
    if not is_patch_name(line):
        raise BadInput(f"{place}: neither a comment, a base, a range nor a patch's name: {line!r}")
    if line in earlier:
        raise BadInput(f"{place}: {line} is listed twice")
    return line


def _read_base(line: str, place: str, earlier: Sequence[object]) -> tuple[Version, str]:
    if earlier:
        raise BadInput(f"{place}: a second base")
    base = _BASE.match(line)
    if base is None:
        raise BadInput(f"{place}: not `base: RELEASE TREE-ID`: {line!r}")
    return _version(base["release"], place), base["tree"]


def _version(text: str, place: str) -> Version:
    try:
        return parse_version(text)
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from error


def _read_range(line: str, place: str, earlier: Sequence[Range], variant: bool) -> Range:
    if variant:
        raise BadInput(f"{place}: a variant has no ranges of its own")
    found = _RANGE.match(line)
    if found is None:
        raise BadInput(f"{place}: not `range FIRST..LAST FOLDER` or `range RELEASE FOLDER`: {line!r}")
    first = _version(found["first"], place)
    entry = Range(first, _version(found["last"], place) if found["last"] else first, found["folder"])
    # A folder called 5.5.1..5.7.0 would seem to say which releases it serves, and this line says it.
    require_name(entry.folder, f"{place}: the variant's folder")
    if entry.first > entry.last:
        raise BadInput(f"{place}: the range {entry} is empty")
    for other in earlier:
        if other.exact == entry.exact and other.first <= entry.last and entry.first <= other.last:
            raise BadInput(f"{place}: {entry} overlaps {other}, which {other.folder} serves")
    return entry


def require_name(name: str, what: str) -> str:
    """A series' or variant's name.

    Raises:
        BadInput: it is not made of lower-case words with hyphens.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(f"{what} must be lower-case words with hyphens, such as plain-integers, not {name!r}")
    return name


def check_variants(file: SeriesFile, variants: dict[str, SeriesFile], releases: Sequence[Version], origin: str) -> None:
    """Check what a series says of its variants against these and against the releases that there are.

    Raises:
        BadInput: a range serves no release or the series' own base, a folder is named by no range, a variant's base is
            not served by it, or a variant has a patch that the series does not have, or in another order.
    """
    if own := file.serving(file.base):
        raise BadInput(f"{origin}: the series is written against {file.base}, which range {own} gives to {own.folder}")
    for entry in file.ranges:
        if not any(file.serving(release) is entry for release in releases):
            raise BadInput(f"{origin}: range {entry} serves no pinned release; remove it, and {entry.folder} with it")
    named = {entry.folder for entry in file.ranges}
    for folder, variant in variants.items():
        place = f"{origin}: variant {folder}"
        if folder not in named:
            raise BadInput(f"{place} is named by no range; declare one, or remove the folder")
        serving = file.serving(variant.base)
        if serving is None or serving.folder != folder:
            other = serving.folder if serving else "the default"
            raise BadInput(f"{place} is written against {variant.base}, which {other} serves")
        if list(variant.patches) != [patch for patch in file.patches if patch in variant.patches]:
            raise BadInput(f"{place} must hold patches of the series, in its order, and has {variant.patches}")


def resolve_patch(wanted: str, patches: tuple[str, ...]) -> str:
    """The patch file that `wanted` names: its file name, its number ("2", "0002") or a unique part of the name.

    Raises:
        BadInput: none or several match.
    """
    if wanted.isdigit():
        found = [p for p in patches if p.partition("-")[0].lstrip("0") == wanted.lstrip("0")]
    else:
        found = [p for p in patches if p == wanted] or [p for p in patches if wanted in p]
    if len(found) != 1:
        raise BadInput(f"{wanted!r} names {len(found)} patches; the series has {', '.join(patches)}")
    return found[0]
