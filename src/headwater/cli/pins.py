# SPDX-License-Identifier: Apache-2.0
"""`headwater pins`."""

from __future__ import annotations

from typing import Any

import click

from headwater.cli.run import common_options, running
from headwater.commands import pins as pins_commands
from headwater.report import terminal


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
