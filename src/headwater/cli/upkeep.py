# SPDX-License-Identifier: Apache-2.0
"""`checkout`, `pins` and `cache`."""

from __future__ import annotations

from typing import Any

import click

from headwater.cli import completing
from headwater.cli.run import common_options, running
from headwater.commands import cache as cache_commands
from headwater.commands import pins as pins_commands
from headwater.commands.checkout import checkout
from headwater.report import terminal


@click.command("checkout")
@click.argument("revision", shell_complete=completing.releases)
@click.option(
    "--series",
    metavar="NAME",
    shell_complete=completing.series,
    help="With the patches of this series as commits on top.",
)
@common_options
def checkout_command(revision: str, series: str | None, **common: Any) -> None:
    """Lay out a git work tree of a release under upstream/checkouts/, to read and edit.

    One that is there already is left as it is.

    \b
    Examples:
      headwater checkout 5.10.1
      headwater checkout 5.10.1 --series hybrid-static-cache
      headwater repro --tree upstream/checkouts/5.10.1
    """
    with running("checkout", **common) as (context, output):
        report = checkout(context, revision, series)
        state = "was there already and is left as it is" if report.existed else "is ready to edit"
        lines = [f"{report.path} {state}", f"Probe it with: headwater repro --tree {report.path}"]
        output.give(
            lambda console: terminal.print_lines(console, lines),
            path=str(report.path),
            commit=report.commit,
            existed=report.existed,
        )


@click.group("pins")
def pins_group() -> None:
    """What is recorded of every release: hashes, tree ids, environments' locks.

    \b
    Example:
      headwater pins check
    """


@pins_group.command("update")
@click.option("--trees", is_flag=True, help="Import every release and record its tree id (about 600 MB of wheels).")
@click.option("--locks", is_flag=True, help="Make all locks anew; else only those that new releases need.")
@common_options
def pins_update(trees: bool, locks: bool, **common: Any) -> None:
    """Add the releases that are new in the index. What is recorded never changes silently.

    \b
    Examples:
      headwater pins update
      headwater pins update --trees
    """
    with running("pins update", **common) as (context, output):
        report = pins_commands.update(context, trees=trees, locks=locks)
        output.give(lambda console: terminal.print_lines(console, report.lines), lines=list(report.lines))


@pins_group.command("imports")
@common_options
def pins_imports(**common: Any) -> None:
    """Record which modules of their packages probes import, as the environments here have learned.

    New environments are built with the byte code of those alone, which takes less time.

    \b
    Examples:
      headwater repro 5.10.1
      headwater pins imports
    """
    with running("pins imports", **common) as (context, output):
        report = pins_commands.imports(context)
        output.give(lambda console: terminal.print_lines(console, report.lines), lines=list(report.lines))


@pins_group.command("check")
@common_options
def pins_check(**common: Any) -> None:
    """Verify pins against index, locks against requirements, mirror against pins.

    \b
    Example:
      headwater pins check
    """
    with running("pins check", **common) as (context, output):
        report = pins_commands.check(context)
        output.give(
            lambda console: terminal.print_lines(console, report.lines),
            well=report.well,
            lines=list(report.lines),
        )
        raise click.exceptions.Exit(0 if report.well else 1)


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
        output.give(
            lambda console: terminal.print_lines(
                console, [f"removed {line}" for line in removed] or ["nothing to remove"]
            ),
            removed=removed,
        )


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
        output.give(
            lambda console: terminal.print_lines(
                console, [f"removed {line}" for line in removed] or ["nothing to remove"]
            ),
            removed=removed,
        )
