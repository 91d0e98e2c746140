# SPDX-License-Identifier: Apache-2.0
"""`headwater test-patched`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import cases_dir_option, probe_options, releases_option, tree_option
from headwater.cli.run import common_options, running
from headwater.commands.patched import PatchedRequest, test_patched
from headwater.effects.probe import ProbeOptions
from headwater.report import machine
from headwater.report.patched import print_patched


@click.command("test-patched")
@click.argument("series", default="hybrid-static-cache", shell_complete=completing.series)
@releases_option("; default: the series' base.")
@tree_option
@click.option(
    "--device", "devices", multiple=True, metavar="D", shell_complete=completing.devices, help="Default: cpu and meta."
)
@click.option("--case", "cases", multiple=True, metavar="ID", shell_complete=completing.cases, help="Only these cases.")
@cases_dir_option
@click.option("--drop", multiple=True, metavar="PATCH", help="Leave this patch out (file, number or part of its name).")
@click.option("--drop-each", is_flag=True, help="Once more without each patch: its own cases must turn bad again.")
@probe_options
@common_options
def test_patched_command(
    series: str, releases: str | None, tree: Path | None, devices: tuple[str, ...], cases: tuple[str, ...],
    cases_dir: Path | None, drop: tuple[str, ...], drop_each: bool, fresh: bool, repeat: int, allow_network: bool,
    **common: Any,
) -> None:  # fmt: skip
    """Apply a series on a copy; run every case before and after, and the patches' own tests.

    \b
    Examples:
      headwater test-patched
      headwater test-patched hybrid-static-cache --device cpu --drop 0002
      headwater test-patched --drop-each
    """
    request = PatchedRequest(
        series, releases, tree, devices, cases, cases_dir, drop, drop_each, ProbeOptions(fresh, repeat, allow_network)
    )
    with running("test-patched", **common) as (context, output):
        report = test_patched(context, request)
        output.give(
            lambda console: print_patched(console, report),
            series=report.series,
            runs=machine.patched_objects(report),
            probes=[machine.probe_object(row) for row in report.rows],
            probes_run=report.ran,
        )
        raise click.exceptions.Exit(report.exit_status)
