# SPDX-License-Identifier: Apache-2.0
"""`init`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli.run import running
from headwater.commands.init import init
from headwater.report.terminal import print_lines


@click.command("init")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option("--library", metavar="NAME", help="As index and import know it; default: the one whose pins are shipped.")
@click.option("--first", metavar="RELEASE", help="The oldest release to pin, of another library.")
@click.option("--torch", metavar="VERSION", help="The torch of every environment, where that library needs it.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def init_command(folder: Path, as_json: bool, **words: Any) -> None:
    """Lay out a workspace in FOLDER, by default the current one, which must be empty.

    Pins and locks, cases with their atlas, series, noxfile and scripts. Nothing is fetched.

    \b
    Examples:
      headwater init work
      headwater init click-work --library click --first 8.2.0
    """
    with running("init", as_json, None, offline=True, root=None) as (_context, output):
        report = init(folder, **words)
        lines = [f"{folder} is a workspace for {report.library}: {len(report.files)} files. Next:"]
        lines += [f"  cd {folder}"] if folder != Path() else []
        lines += [f"  {step}" for step in report.steps]
        output.give(
            lambda console: print_lines(console, lines), folder=report.folder, library=report.library,
            files=list(report.files), next=list(report.steps),
        )  # fmt: skip
