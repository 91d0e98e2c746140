# SPDX-License-Identifier: Apache-2.0
"""`headwater cache`: what the caches hold, and making room."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater.commands.context import Context
from headwater.core.errors import EnvironmentUnavailable
from headwater.core.events import Note
from headwater.effects import housekeeping
from headwater.effects.checkouts import checkouts_of
from headwater.effects.housekeeping import Shelf


@dataclass(frozen=True)
class CacheReport:
    """Where the caches lie and what stands on their shelves."""

    root: Path
    shelves: list[Shelf]


def info(context: Context) -> CacheReport:
    """Look, and change nothing."""
    cache = context.workspace.cache
    return CacheReport(cache.root, housekeeping.survey(cache))


def prune(context: Context) -> list[str]:
    """Remove what no later run needs."""
    workspace = context.workspace
    current = []
    for group in workspace.pins.groups:
        try:
            environment = context.environments.describe(workspace.pins.pin(group.last))
        except EnvironmentUnavailable as error:
            context.emit(Note(f"the environments stay as they are: {error}", warning=True))
            current = list(workspace.cache.environments.glob("*"))
            break
        current.append(environment.folder)
    return housekeeping.prune(workspace.cache, workspace.pins, context.mirror.imported(), current)


def clean(context: Context, store: bool) -> list[str]:
    """Remove everything that can be made again."""
    cache = context.workspace.cache
    checkouts = sorted(checkouts_of(context.mirror.git, cache))
    if checkouts:
        context.emit(
            Note(
                f"the mirror stays, since {', '.join(checkouts)} depends on it; remove that first",
                warning=True,
            )
        )
    return housekeeping.clean(cache, store, keep_mirror=bool(checkouts))
