# SPDX-License-Identifier: Apache-2.0
"""`headwater checkout`."""

from __future__ import annotations

from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import series_option
from headwater.cli.run import common_options, running
from headwater.commands.checkout import checkout
from headwater.report import terminal


@click.command("checkout")
@click.argument("revision", shell_complete=completing.releases)
@series_option("With the patches of this series as commits on top.")
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
