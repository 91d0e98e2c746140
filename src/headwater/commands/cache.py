# SPDX-License-Identifier: Apache-2.0
"""`headwater cache`: what the caches hold, and making room."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater.commands.context import Context
from headwater.core.errors import EnvironmentUnavailable
from headwater.core.events import Note
from headwater.core.releases import select
from headwater.effects import housekeeping
from headwater.effects.checkouts import works_of_people
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


def fill(context: Context, spec: str) -> list[str]:
    """Import releases into the mirror, all in one go, and pack it.

    Raises:
        BadInput: no such release.
    """
    workspace = context.workspace
    versions = select(spec, workspace.pins.versions)
    before = set(context.mirror.imported())
    context.mirror.ensure_all([workspace.pins.pin(version) for version in versions])
    new = [str(version) for version in versions if str(version) not in before]
    if new:
        context.mirror.repack(anew=True)
    return new


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
    context.mirror.repack()
    return housekeeping.prune(context.cache, workspace.pins, context.mirror.imported(), current)


def clean(context: Context, store: bool) -> list[str]:
    """Remove everything that can be made again."""
    cache = context.cache
    dependents = works_of_people(context.mirror.git, cache)
    if dependents:
        names = ", ".join(dependents)
        context.emit(Note(f"the mirror stays, since {names} would go with it; remove that first", warning=True))
    return housekeeping.clean(cache, store, keep_mirror=bool(dependents))
