# SPDX-License-Identifier: Apache-2.0
"""What a shell may offer after a word: names of the workspace that the current folder lies in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click

from headwater.core.errors import HeadwaterError
from headwater.core.results import DEVICES
from headwater.effects.series_folder import series_names
from headwater.effects.workspace import Workspace, find_root

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _offering(names: Callable[[Workspace], Iterable[str]]) -> Complete:
    """Offer `names`, also after a comma. Nothing is offered where the workspace cannot be read: a shell that is asking
    shows no errors, and the command itself will."""

    def complete(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        try:
            known = list(names(Workspace(find_root(ctx.params.get("root") or Path.cwd()))))
        except HeadwaterError:
            return []
        return [f"{before}{comma}{name}" for name in known if name.startswith(begun)]

    return complete


cases = _offering(lambda workspace: workspace.cases())
releases = _offering(lambda workspace: map(str, workspace.pins.versions))
series = _offering(lambda workspace: series_names(workspace.patches))
devices = _offering(lambda _workspace: DEVICES)
