# SPDX-License-Identifier: Apache-2.0
"""`headwater bisect`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from headwater.cli import completing
from headwater.cli.options import answer_options, series_option, together
from headwater.cli.remote import executor_options
from headwater.cli.run import Output, common_options, running
from headwater.cli.same_command import same_command
from headwater.commands.hunt.bisect import bisect
from headwater.commands.hunt.request import HuntRequest
from headwater.commands.way import Way
from headwater.core.hunt_report import HuntReport
from headwater.effects.answers import keep_answer
from headwater.effects.probe import ProbeOptions
from headwater.report import machine
from headwater.report.hunt import hunt_object, print_hunt

_FILE = click.Path(path_type=Path, dir_okay=False)


# What to look for, and where.
_range_options = together(
    [
        click.option(
            "--good",
            metavar="REV",
            shell_complete=completing.releases,
            help="A revision without the bug; default: found by walking outward.",
        ),
        click.option("--bad", metavar="REV", shell_complete=completing.releases, help="A revision with it; likewise."),
        click.option(
            "--find",
            type=click.Choice(["introduced", "fixed", "all"]),
            default="introduced",
            show_default=True,
            help="What to look for: one change, or every one.",
        ),
        click.option(
            "--history",
            type=click.Choice(["auto", "releases", "commits"]),
            default="auto",
            show_default=True,
            help="auto: releases, then the commits between two of them where --repo is given.",
        ),
        click.option(
            "--grid", type=click.IntRange(2), metavar="N", help="--find all: probe N points first, not every x.y.0."
        ),
        click.option("--exhaustive", is_flag=True, help="--find all: probe every revision."),
        click.option(
            "--deps",
            type=click.Choice(["period", "latest", "both"]),
            default="latest",
            show_default=True,
            help="Packages: the newest that fit (the locks), those of each revision's day, or old and new crosswise.",
        ),
    ]
)


# How to hunt.
_way_options = together(
    [
        series_option("Apply this series wherever it applies, to get past another bug."),
        click.option(
            "--confidence",
            type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
            metavar="P",
            help="The bug shows only sometimes: search until one revision has this probability.",
        ),
        click.option(
            "--undo", multiple=True, metavar="REV", help="Do not believe what is known of REV; probe it again."
        ),
        click.option("--reduce", is_flag=True, help="Go on to the hunks between the two neighbours that were found."),
        click.option("--log", type=_FILE, metavar="FILE", help="Write every verdict to FILE."),
        click.option("--replay", type=_FILE, metavar="FILE", help="Take verdicts from such a file instead of probing."),
        click.option(
            "--git-log",
            type=_FILE,
            metavar="FILE",
            help="Write what `git bisect replay` takes, of a hunt over commits.",
        ),
    ]
)


@click.command("bisect")
@click.argument("what", shell_complete=completing.cases)
@_range_options
@_way_options
@answer_options()
@executor_options
@common_options
@click.pass_context
def bisect_command(
    words: click.Context, /, what: str, fresh: bool, repeat: int, allow_network: bool, as_json: bool, file: Path | None,
    offline: bool, root: Path | None, executor: Literal["local", "dask"], scheduler: str | None, jobs: int,
    **asked: Any,
) -> None:  # fmt: skip
    """Find the release, and the commit, that introduced or fixed a bug.

    WHAT is the id of a case; a python script, whose failure is learned at the bad end; an executable that speaks the
    exit statuses of `git bisect run`; or a pytest node id, in a file of yours or in the upstream checkout. Revisions
    are releases, tags, commits, branches and dates. Both ends are proved first. Every verdict is kept: the same command
    goes on where it was interrupted.

    \b
    Examples:
      headwater bisect early-init --good 5.4.0 --bad 5.10.1
      headwater bisect early-init --find all
      headwater bisect early-init --find fixed --reduce
      headwater bisect repro.py --good 5.4.0 --bad 5.10.1 --repo ../transformers
      headwater bisect early-init --find fixed --history commits --repo ../transformers --bad 5.12.0 --good 5.13.0
      headwater bisect tests/utils/test_cache_utils.py::CacheTest --good v5.4.0 --bad main --repo ../transformers

    Status 0: found; 3: the ends do not differ or cannot be judged; 4: only a range, or more than one change was seen
    between the ends; 5: the machine failed where an end had to be judged.
    """
    request = HuntRequest(
        what=what,
        options=ProbeOptions(fresh, repeat, allow_network),
        way=Way(executor, scheduler, jobs),
        command=same_command(words, ("undo", "log", "replay", "git_log")),
        **asked,
    )
    with running("bisect", as_json, file, offline, root) as (context, output):
        report = bisect(context, request)
        answer = _give(output, report)
        if report.changes and not report.interrupted:
            keep_answer(context.cache, report.what, report.device, answer)
        if report.interrupted:
            click.echo(f"headwater: interrupted; the same command goes on: {request.command}", err=True)
        raise click.exceptions.Exit(report.exit_status)


def _give(output: Output, report: HuntReport) -> str:
    """Show the hunt; the text of its JSON object is returned."""
    return output.give(
        lambda console: print_hunt(console, report),
        **hunt_object(report),
        probes=[machine.probe_object(row) for row in report.rows],
        probes_run=report.ran,
        interrupted=report.interrupted,
    )
