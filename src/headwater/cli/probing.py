# SPDX-License-Identifier: Apache-2.0
"""`repro`, `test-patched` and `bisect`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from headwater.cli.run import common_options, running
from headwater.commands.bisect import HuntReport, HuntRequest, bisect
from headwater.commands.patched import PatchedReport, PatchedRequest, test_patched
from headwater.commands.repro import ReproRequest, repro
from headwater.core.results import exit_status
from headwater.effects.probe import ProbeOptions
from headwater.report import machine, terminal


def probe_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--fresh`, `--repeat`, `--allow-network`."""
    options = [
        click.option("--fresh", is_flag=True, help="Run also what is known from earlier runs."),
        click.option(
            "--repeat", type=click.IntRange(1, 1000), default=1, metavar="N",
            help="Probe N times; disagreement is `flaky`.",
        ),
        click.option("--allow-network", is_flag=True, help="Run cases that need the network."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


tree_option = click.option(
    "--tree",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="This checkout as it is, uncommitted edits included; nothing in it is written.",
)


@click.command("repro")
@click.argument("revision", required=False)
@tree_option
@click.option("--series", metavar="NAME", help="Apply this series on a copy first.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only these cases (repeat, or with commas).")
@click.option("--cases-dir", type=click.Path(path_type=Path), metavar="DIR", help="A folder with cases of your own.")
@click.option("--device", "devices", multiple=True, metavar="D", help="cpu (default), meta, cuda, mps, xpu, cuda:1 ...")
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
        output.give(
            lambda console: terminal.print_repro(console, report.rows, report.cases, report.surroundings, report.ran),
            probes=[machine.probe_object(row) for row in report.rows],
            surroundings=machine.surroundings_object(report.surroundings),
            probes_run=report.ran,
        )
        raise click.exceptions.Exit(exit_status(report.rows))


@click.command("test-patched")
@click.argument("series", default="hybrid-static-cache")
@click.option("--releases", metavar="SPEC", help="5.10.1, '>=5.5.0,<5.13' ...; default: the series' base.")
@tree_option
@click.option("--device", "devices", multiple=True, metavar="D", help="Default: cpu and meta.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="Only these cases.")
@click.option("--drop", multiple=True, metavar="PATCH", help="Leave this patch out (file, number or part of its name).")
@click.option("--drop-each", is_flag=True, help="Once more without each patch: its own cases must turn bad again.")
@probe_options
@common_options
def test_patched_command(
    series: str, releases: str | None, tree: Path | None, devices: tuple[str, ...], cases: tuple[str, ...],
    drop: tuple[str, ...], drop_each: bool, fresh: bool, repeat: int, allow_network: bool, **common: Any,
) -> None:  # fmt: skip
    """Apply a series on a copy; run every case before and after, and the patches' own tests.

    \b
    Examples:
      headwater test-patched
      headwater test-patched hybrid-static-cache --device cpu --drop 0002
      headwater test-patched --drop-each
    """
    request = PatchedRequest(
        series, releases, tree, devices, cases, drop, drop_each, ProbeOptions(fresh, repeat, allow_network)
    )
    with running("test-patched", **common) as (context, output):
        report = test_patched(context, request)
        lines = [line for run in report.runs for line in run.lines]
        rows = [row for line in lines for row in (line.before, line.after)]
        output.give(
            lambda console: _print_patched(console, report),
            series=report.series,
            runs=[
                {"release": run.release, "dropped": list(run.dropped), "applied": list(run.applied),
                 "surroundings": machine.surroundings_object(run.surroundings),
                 "lines": [{"title": line.title, "before": machine.probe_object(line.before),
                            "after": machine.probe_object(line.after)} for line in run.lines]}
                for run in report.runs
            ],
            probes=[machine.probe_object(row) for row in rows],
            probes_run=report.ran,
        )  # fmt: skip
        raise click.exceptions.Exit(exit_status(rows))


def _print_patched(console: Console, report: PatchedReport) -> None:
    rows = []
    for run in report.runs:
        without = f" without {', '.join(run.dropped)}" if run.dropped else ""
        console.print(f"{report.series} on {run.release}{without}", style="bold", markup=False)
        terminal.print_comparisons(
            console, [(line.title, line.before, line.after) for line in run.lines], run.surroundings
        )
        console.print()
        rows += [row for line in run.lines for row in (line.before, line.after)]
    terminal.print_closing(console, rows, report.ran)


@click.command("bisect")
@click.argument("what")
@click.option("--good", required=True, metavar="REV", help="A release without the bug.")
@click.option("--bad", required=True, metavar="REV", help="A release with it.")
@click.option("--device", default="cpu", show_default=True, metavar="D")
@probe_options
@common_options
def bisect_command(
    what: str, good: str, bad: str, device: str, fresh: bool, repeat: int, allow_network: bool, **common: Any
) -> None:
    """Find the release that introduced a bug.

    WHAT is the id of a case. Both ends are proved first.

    \b
    Example:
      headwater bisect early-init --good 5.4.0 --bad 5.10.1
    """
    request = HuntRequest(what, good, bad, device, ProbeOptions(fresh, repeat, allow_network))
    with running("bisect", **common) as (context, output):
        report = bisect(context, request)
        output.give(
            lambda console: _print_hunt(console, report),
            result="found" if report.answer.found else "range",
            changes=[_change(report)],
            probes=[machine.probe_object(row) for row in report.rows],
            probes_run=report.ran,
        )
        raise click.exceptions.Exit(report.exit_status)


def _change(report: HuntReport) -> dict[str, object]:
    answer = report.answer
    return {
        "find": "introduced",
        "last_good": str(report.history[answer.last_good]),
        "first_bad": str(report.history[answer.first_bad]),
        "candidates": [str(report.history[n]) for n in answer.candidates],
    }


def _print_hunt(console: Console, report: HuntReport) -> None:
    answer = report.answer
    last, first = report.history[answer.last_good], report.history[answer.first_bad]
    terminal.print_hunt(
        console,
        case=report.case,
        last_good=str(last),
        first_bad=str(first),
        candidates=[str(report.history[n]) for n in answer.candidates],
        rows=report.rows,
        ran=report.ran,
    )
