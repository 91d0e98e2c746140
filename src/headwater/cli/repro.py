# SPDX-License-Identifier: Apache-2.0
"""`headwater repro`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import cases_dir_option, probe_options, series_option, tree_option
from headwater.cli.run import common_options, running
from headwater.commands.repro import ReproRequest, repro
from headwater.effects.probe import ProbeOptions
from headwater.report import machine, terminal


@click.command("repro")
@click.argument("revision", required=False, shell_complete=completing.releases)
@tree_option
@series_option("Apply this series on a copy first.")
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    shell_complete=completing.cases,
    help="Only these cases (repeat, or with commas).",
)
@cases_dir_option
@click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="D",
    shell_complete=completing.devices,
    help="cpu (default), meta, cuda, mps, xpu, cuda:1 ...",
)
@probe_options
@common_options
def repro_command(
    revision: str | None, tree: Path | None, series: str | None, cases: tuple[str, ...], cases_dir: Path | None,
    devices: tuple[str, ...], fresh: bool, repeat: int, allow_network: bool, **common: Any,
) -> None:  # fmt: skip
    """Run every case on a release and compare with the atlas.

    \b
    Examples:
      headwater repro 5.10.1
      headwater repro 5.9.0 --device meta --case early-init
      headwater repro 5.10.1 --series hybrid-static-cache
      headwater repro --tree upstream/checkouts/5.10.1

    Status 0: every verdict is the one that the atlas expects (where it knows nothing: good or absent).
    """
    request = ReproRequest(
        revision, tree, series, cases, cases_dir, devices, ProbeOptions(fresh, repeat, allow_network)
    )
    with running("repro", **common) as (context, output):
        report = repro(context, request)
        known = context.workspace.cases(cases_dir)
        output.give(
            lambda console: terminal.print_repro(console, report, known),
            probes=[machine.probe_object(row) for row in report.rows],
            surroundings=machine.surroundings_object(report.surroundings),
            probes_run=report.ran,
        )
        raise click.exceptions.Exit(report.exit_status)
