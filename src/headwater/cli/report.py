# SPDX-License-Identifier: Apache-2.0
"""`headwater report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli.run import options_with, running
from headwater.commands.report import report
from headwater.effects.files import write_atomically
from headwater.report import terminal
from headwater.report.html import render

NAME = "headwater-report.html"


@click.command("report")
@click.option(
    "--with", "answers", multiple=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Show this hunt or reduction (what bisect, reduce or backport wrote with --output), not the last one.",
)  # fmt: skip
@options_with(f"Write the report to FILE; default: {NAME}.")
def report_command(answers: tuple[Path, ...], file: Path | None, **common: Any) -> None:
    """Make one HTML file of what is known: every case over every release, with the evidence. Nothing is probed.

    A reduction that it shows holds lines of the library: keep such a file to yourself, or link to it; never commit it.

    \b
    Examples:
      headwater report
      headwater report --output report.html
      headwater bisect early-init --output hunt.json && headwater report --with hunt.json
    """
    page = file or Path(NAME)
    if not page.parent.is_dir():
        raise click.BadParameter(f"the folder {page.parent} is not there", param_hint="--output")
    with running("report", file=None, **common) as (context, output):
        data = report(context, answers)
        text = render(data)
        write_atomically(page, text)
        size = len(text.encode())
        counts = f"{len(data.cases)} cases over {len(data.releases)} releases"
        lines = [f"{page}: {counts}, {size / 1e3:.0f} kB", f"Open it with: xdg-open {page}"]
        output.give(
            lambda console: terminal.print_lines(console, lines),
            file=str(page),
            bytes=size,
            cases=len(data.cases),
            releases=len(data.releases),
        )
