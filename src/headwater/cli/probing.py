# SPDX-License-Identifier: Apache-2.0
"""`repro` and `test-patched`, and the options of everything that probes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import Decorator, together
from headwater.cli.run import common_options, running
from headwater.commands.patched import PatchedRequest, test_patched
from headwater.commands.repro import ReproRequest, repro
from headwater.core.results import MOST_REPETITIONS
from headwater.effects.probe import ProbeOptions
from headwater.report import machine, terminal
from headwater.report.patched import print_patched

_fresh_option = click.option("--fresh", is_flag=True, help="Run also what is known from earlier runs.")
_repeat_option = click.option(
    "--repeat", type=click.IntRange(1, MOST_REPETITIONS), default=1, metavar="N",
    help="Probe N times; disagreement is `flaky`.",
)  # fmt: skip


def repetition_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--fresh`, `--repeat`."""
    return _fresh_option(_repeat_option(function))


def probe_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--fresh`, `--repeat`, `--allow-network`."""
    network = click.option("--allow-network", is_flag=True, help="Run cases that need the network; let scripts use it.")
    return repetition_options(network(function))


cases_dir_option = click.option(
    "--cases-dir", type=click.Path(path_type=Path), metavar="DIR", help="A folder with cases of your own."
)


def answer_options(repo: str = "") -> Decorator:
    """`--device`, `--jobs`, `--repo`, and those of cases and probes, of what asks many revisions about one case; `repo`
    says what a repository is for."""
    options: list[Decorator] = [
        click.option("--device", default="cpu", show_default=True, metavar="D", shell_complete=completing.devices),
        click.option(
            "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help="Probes at a time."
        ),
        click.option(
            "--repo", envvar="HEADWATER_REPO", metavar="PATH-OR-URL", help=f"A clone of upstream, or its address{repo}."
        ),
        cases_dir_option,
        probe_options,
    ]

    return together(options)


tree_option = click.option(
    "--tree",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="This checkout as it is, uncommitted edits included; nothing in it is written.",
)


@click.command("repro")
@click.argument("revision", required=False, shell_complete=completing.releases)
@tree_option
@click.option("--series", metavar="NAME", shell_complete=completing.series, help="Apply this series on a copy first.")
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


@click.command("test-patched")
@click.argument("series", default="hybrid-static-cache", shell_complete=completing.series)
@click.option(
    "--releases",
    metavar="SPEC",
    shell_complete=completing.releases,
    help="5.10.1, '>=5.5.0,<5.13' ...; default: the series' base.",
)
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
