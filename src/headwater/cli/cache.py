# SPDX-License-Identifier: Apache-2.0
"""`headwater cache`."""

from __future__ import annotations

from typing import Any

import click

from headwater.cli import completing
from headwater.cli.run import Output, common_options, running
from headwater.commands import cache as cache_commands
from headwater.report import terminal


@click.group("cache")
def cache_group() -> None:
    """What can be made again: mirror, wheels, trees, environments; and the verdicts.

    \b
    Example:
      headwater cache info
    """


@cache_group.command("info")
@common_options
def cache_info(**common: Any) -> None:
    """Say what the caches hold and take.

    \b
    Example:
      headwater cache info
    """
    with running("cache info", **common) as (context, output):
        report = cache_commands.info(context)
        output.give(
            lambda console: terminal.print_shelves(
                console, str(report.root), [(s.name, s.count, s.bytes) for s in report.shelves]
            ),
            root=str(report.root),
            shelves=[{"name": s.name, "path": str(s.path), "count": s.count, "bytes": s.bytes} for s in report.shelves],
        )


@cache_group.command("fill")
@click.argument("releases", default="all", metavar="SPEC", shell_complete=completing.releases)
@common_options
def cache_fill(releases: str, **common: Any) -> None:
    """Import releases into the mirror, all in one go, and pack it. SPEC: all (default), or e.g. '>=5.5.0,<5.13'.

    \b
    Examples:
      headwater cache fill
      headwater cache fill 5.5.0..5.12.1
    """
    with running("cache fill", **common) as (context, output):
        new = cache_commands.fill(context, releases)
        lines = [f"imported {', '.join(new)}"] if new else ["nothing to import: all are there"]
        output.give(lambda console: terminal.print_lines(console, lines), imported=new)


@cache_group.command("prune")
@common_options
def cache_prune(**common: Any) -> None:
    """Remove what no later run needs: leftovers, imported wheels, patched trees, outdated environments.

    \b
    Example:
      headwater cache prune
    """
    with running("cache prune", **common, exclusive=True) as (context, output):
        removed = cache_commands.prune(context)
        _give_removed(output, removed)


@cache_group.command("clean")
@click.option("--store", is_flag=True, help="The verdicts too.")
@common_options
def cache_clean(store: bool, **common: Any) -> None:
    """Remove everything that can be made again. Checkouts stay; verdicts too, without --store.

    \b
    Examples:
      headwater cache clean
      headwater cache clean --store
    """
    with running("cache clean", **common, exclusive=True) as (context, output):
        removed = cache_commands.clean(context, store)
        _give_removed(output, removed)


def _give_removed(output: Output, removed: list[str]) -> None:
    lines = [f"removed {line}" for line in removed] or ["nothing to remove"]
    output.give(lambda console: terminal.print_lines(console, lines), removed=removed)
