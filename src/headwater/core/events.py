# SPDX-License-Identifier: Apache-2.0
"""What the engine says while it works. The entry point decides how, and whether, to show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Started:
    """Something that may last longer than two seconds has begun.

    `key` ties later events to it; `total` is in `unit`s, or None where the end is not known. `long`: it lasts so long
    that somebody without a terminal wants to know that it has begun.
    """

    key: str
    what: str
    total: int | None = None
    unit: str = ""
    long: bool = False


@dataclass(frozen=True)
class Advanced:
    """`done` units of the work named `key` are done, in all; `note` says what else there is to say of it by now."""

    key: str
    done: int
    note: str = ""


@dataclass(frozen=True)
class Finished:
    """The work named `key` has ended; `note` says how, in a few words, and is empty when there is nothing to add."""

    key: str
    note: str = ""


@dataclass(frozen=True)
class Note:
    """A line for the reader that belongs to no longer work, e.g. the warning of a yanked release."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Counted:
    """`number` more of what a run is measured by: downloads, environments, servers, forks, compilations."""

    what: str
    number: int


Event = Started | Advanced | Finished | Note | Counted
Emit = Callable[[Event], None]


def silent(_event: Event) -> None:
    """Drop an event."""
