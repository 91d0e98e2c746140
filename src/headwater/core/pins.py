# SPDX-License-Identifier: Apache-2.0
"""The pins: what was recorded of every release, so that a later run works on the very same files.

They hold file names and hashes, never addresses. A schema version stands in front: a newer one is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from packaging.version import Version

from headwater.core.errors import EnvironmentUnavailable
from headwater.core.releases import require_known
from headwater.core.toml_text import Table, parse

SCHEMA = 1


@dataclass(frozen=True)
class IndexFile:
    """A file in the package index: its name, sha256 (hexadecimal) and size in bytes."""

    file: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Pin:
    """What was recorded of one release.

    `tree` is the git id of its `src/<package>` subtree and `mirror_commit` that of its commit in the mirror, both
    None until it was imported once. `nearest_commit` is the main-branch commit whose files differ least, by
    `differing_files` files; both None where that is not known.
    """

    version: Version
    uploaded: datetime
    requires_python: str
    yanked: str | None
    wheel: IndexFile
    sdist: IndexFile | None
    tree: str | None = None
    mirror_commit: str | None = None
    nearest_commit: str | None = None
    differing_files: int | None = None


@dataclass(frozen=True)
class EnvironmentGroup:
    """Consecutive releases that share one lock; `lock` is its path beside the pins file."""

    name: str
    first: Version
    last: Version
    lock: str

    def holds(self, version: Version) -> bool:
        """Whether `version` runs in this group's environment."""
        return self.first <= version <= self.last


@dataclass(frozen=True)
class Pins:
    """The whole file. `package` is the library, in the index and for Python; `first` the oldest release that is pinned;
    `torch` the version that every environment gets, None where the library needs none. `repository` is where its
    issues are, `owner/name`; `tests` are its own tests that are run beside the cases, by their places in that
    repository, and `sdist_tests` those that its sdists hold as well."""

    package: str
    first: Version
    torch: str | None
    groups: tuple[EnvironmentGroup, ...]
    releases: tuple[Pin, ...]
    repository: str | None = None
    tests: tuple[str, ...] = ()
    sdist_tests: tuple[str, ...] = ()

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """Every pinned version, in order."""
        return tuple(pin.version for pin in self.releases)

    def pin(self, version: Version) -> Pin:
        """The pin of a known version."""
        return self.releases[self.versions.index(version)]

    def find(self, text: str) -> Pin:
        """The pin that `text` names.

        Raises:
            BadInput: there is none; the nearest are named.
        """
        return self.pin(require_known(text, self.versions))

    def release_of_tree(self, tree: str) -> Version | None:
        """The newest release whose tree has this id."""
        return next((pin.version for pin in reversed(self.releases) if pin.tree == tree), None)

    def is_grouped(self, version: Version) -> bool:
        """Whether a group holds a release."""
        return any(group.holds(version) for group in self.groups)

    def group_of(self, version: Version) -> EnvironmentGroup:
        """The group in whose environment a release runs.

        Raises:
            EnvironmentUnavailable: no group holds it.
        """
        for group in self.groups:
            if group.holds(version):
                return group
        raise EnvironmentUnavailable(f"no environment group holds {version}; `headwater pins update --locks` makes one")


def read_pins(text: str, origin: str) -> Pins:
    """Read a pins file.

    Raises:
        BadInput: unknown or missing keys, wrong types, hashes that are none, releases out of order or twice, groups
            that overlap; with the line.
    """
    data = parse(text, origin)
    top = Table(data, text, origin)
    schema = top.take("schema", int)
    if schema != SCHEMA:
        raise top.error(
            "schema", f"is {schema}, and this Headwater reads {SCHEMA}; update Headwater or restore the file"
        )
    package = top.text("package")
    first = top.version("first")
    torch = top.text("torch", None)
    repository = top.text("repository", None)
    tests, sdist_tests = top.texts("tests", ()), top.texts("sdist_tests", ())
    group_tables, release_tables = top.tables("environment", []), top.tables("release", [])
    top.close()
    groups = tuple(_read_group(table) for table in group_tables)
    for table, earlier, later in zip(group_tables[1:], groups, groups[1:], strict=False):
        if earlier.last >= later.first:
            raise table.error("first", f"makes {later.name} overlap {earlier.name}; keep the groups in order")
    releases = tuple(_read_release(table) for table in release_tables)
    for table, before, after in zip(release_tables[1:], releases, releases[1:], strict=False):
        if before.version >= after.version:
            raise table.error("version", f"is {after.version} after {before.version}; keep the releases in order")
    return Pins(package, first, torch, groups, releases, repository, tests, sdist_tests)


def _read_group(table: Table) -> EnvironmentGroup:
    group = EnvironmentGroup(
        table.text("name"),
        table.version("first"),
        table.version("last"),
        table.text("lock"),
    )
    if group.first > group.last:
        raise table.error("last", f"comes before first: {group.first} to {group.last}")
    table.close()
    return group


def _read_release(table: Table) -> Pin:
    pin = Pin(
        version=table.version("version"),
        uploaded=table.time("uploaded"),
        requires_python=table.text("requires_python"),
        yanked=table.text("yanked", None),
        wheel=_read_file(table, "wheel"),
        sdist=_read_file(table, "sdist") if "sdist" in table else None,
        tree=_read_hash(table, "tree", 40),
        mirror_commit=_read_hash(table, "mirror_commit", 40),
        nearest_commit=_read_hash(table, "nearest_commit", 40),
        differing_files=table.take("differing_files", int, None),
    )
    table.close()
    return pin


def _read_file(table: Table, key: str) -> IndexFile:
    inner = table.table(key)
    sha256 = _read_hash(inner, "sha256", 64)
    file = inner.text("file")
    size = inner.take("size", int)
    inner.close()
    if sha256 is None:
        raise table.error(key, "has no sha256")
    if "/" in file or "\\" in file or ":" in file:
        raise table.error(key, f"must be a bare file name, not {file!r}")
    return IndexFile(file, sha256, size)


def _read_hash(table: Table, key: str, length: int) -> str | None:
    value: str | None = table.text(key, None)
    if value is not None and not re.fullmatch(rf"[0-9a-f]{{{length}}}", value):
        raise table.error(key, f"must be {length} hexadecimal digits, not {value!r}")
    return value
