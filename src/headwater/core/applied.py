# SPDX-License-Identifier: Apache-2.0
"""What Headwater remembers of a work tree, beside its index: the series that are applied there, and the move that is
under way, so that one that was killed can be ended either way."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from headwater.core.errors import HarnessError

SCHEMA = 1
T = TypeVar("T")


@dataclass(frozen=True)
class AppliedPatch:
    """A patch in a work tree: its file's sha256, and its commit there; None where it made none, since what it does was
    there already or is not needed."""

    file: str
    sha256: str
    commit: str | None


@dataclass(frozen=True)
class AppliedSeries:
    """A series in a work tree: the commits before and after it, the release that decided which variant serves it, that
    variant, and the folders that were made for its files."""

    series: str
    release: str | None
    variant: str | None
    before: str
    after: str
    patches: tuple[AppliedPatch, ...]
    folders: tuple[str, ...]

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits of its patches, from the lowest."""
        return tuple(patch.commit for patch in self.patches if patch.commit is not None)


@dataclass(frozen=True)
class Side:
    """A file as one commit has it: git's mode and blob id, and the sha256 of what lies, or shall lie, in the work tree
    for it."""

    mode: str
    blob: str
    sha256: str = ""


@dataclass(frozen=True)
class FileSides:
    """A file that differs between two commits; None where one of them does not have it."""

    path: str
    old: Side | None
    new: Side | None


@dataclass(frozen=True)
class Journal:
    """A move of a work tree from the commit `before` to `after`.

    `phase`: `begun` (nothing is touched), `writing` (files are), `written` (all of them are: it is to be completed).
    `token` names its lock and its files. With `keeps_files` the files lie there already as `after` has
    them. `folders` are those that it makes, `files` the absolute paths of the files that it
    replaces in the workspace, `applied` the series that are applied when it has ended.
    """

    token: str
    purpose: str
    phase: str
    before: str
    after: str
    keeps_files: bool
    changes: tuple[FileSides, ...] = ()
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    applied: tuple[AppliedSeries, ...] = ()

    def at(self, phase: str) -> Journal:
        """The same move, further on."""
        return replace(self, phase=phase)


def write_applied(series: Sequence[AppliedSeries]) -> str:
    """The text that `read_applied` reads."""
    return _write({"applied": [asdict(one) for one in series]})


def read_applied(text: str, origin: str) -> tuple[AppliedSeries, ...]:
    """Read the series of a work tree.

    Raises:
        HarnessError: it is damaged, or was written by a newer Headwater.
    """
    return _read(text, origin, lambda data: tuple(_series(one) for one in data["applied"]))


def write_journal(journal: Journal) -> str:
    """The text that `read_journal` reads."""
    return _write(asdict(journal))


def read_journal(text: str, origin: str) -> Journal:
    """Read the move that is under way.

    Raises:
        HarnessError: it is damaged, or was written by a newer Headwater.
    """
    return _read(text, origin, _journal)


def _write(data: dict[str, Any]) -> str:
    return json.dumps({"schema": SCHEMA, **data}, indent=1, ensure_ascii=True) + "\n"


def _read(text: str, origin: str, make: Callable[[dict[str, Any]], T]) -> T:
    try:
        data = json.loads(text)
        schema = data.pop("schema")
        if schema == SCHEMA:
            return make(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HarnessError(f"{origin} is damaged ({error!r}); look at `git status` there, then remove it") from error
    raise HarnessError(f"{origin} has schema {schema!r}, and this Headwater reads {SCHEMA}; update Headwater")


def _series(data: dict[str, Any]) -> AppliedSeries:
    patches = tuple(AppliedPatch(**patch) for patch in data["patches"])
    return AppliedSeries(**{**data, "patches": patches, "folders": tuple(data["folders"])})


def _journal(data: dict[str, Any]) -> Journal:
    changes = tuple(
        FileSides(one["path"], *(Side(**side) if side else None for side in (one["old"], one["new"])))
        for one in data["changes"]
    )
    applied = tuple(_series(one) for one in data["applied"])
    folders, files = tuple(data["folders"]), tuple(data["files"])
    return Journal(**{**data, "changes": changes, "applied": applied, "folders": folders, "files": files})
