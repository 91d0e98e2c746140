# SPDX-License-Identifier: Apache-2.0
"""`headwater matrix`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from headwater.cli import completing
from headwater.cli.options import (
    cases_dir_option,
    jobs_option,
    probe_options,
    releases_option,
    repo_option,
    series_option,
    together,
)
from headwater.cli.remote import executor_options
from headwater.cli.run import common_options, running
from headwater.cli.same_command import same_command
from headwater.commands.matrix.matrix import matrix
from headwater.commands.matrix.request import MatrixRequest
from headwater.commands.way import Way
from headwater.effects.files import write_atomically
from headwater.effects.probe import ProbeOptions
from headwater.report.matrix import print_matrix
from headwater.report.matrix_files import junit, markdown, matrix_object

_FILE = click.Path(path_type=Path, dir_okay=False)


# Which cells.
_cell_options = together(
    [
        releases_option("; default: all that are pinned."),
        click.option(
            "--commits", multiple=True, metavar="REV", help="Commits, tags, branches or dates too; needs --repo."
        ),
        click.option(
            "--devices",
            multiple=True,
            metavar="D,D",
            shell_complete=completing.devices,
            help="cpu (default), meta, cuda, mps, xpu, cuda:1 ...",
        ),
        click.option(
            "--cases",
            multiple=True,
            metavar="ID,ID",
            shell_complete=completing.cases,
            help="Only these cases; `none` for the tests alone.",
        ),
        series_option("Each cell also with this series, where the revision needs it."),
        click.option(
            "--tests", multiple=True, metavar="T,T", help="Also `conformance`, and `upstream`: the library's own tests."
        ),
        repo_option(),
    ]
)


# How to run them, and where the answer goes.
_way_options = together(
    [
        jobs_option("Cells"),
        click.option("--junit", "junit_file", type=_FILE, metavar="FILE", help="Write JUnit XML to FILE."),
        click.option("--markdown", "markdown_file", type=_FILE, metavar="FILE", help="Write Markdown to FILE."),
    ]
)


@click.command("matrix")
@_cell_options
@cases_dir_option
@executor_options
@_way_options
@probe_options
@common_options
@click.pass_context
def matrix_command(
    words: click.Context, /, junit_file: Path | None, markdown_file: Path | None, fresh: bool, repeat: int,
    allow_network: bool, as_json: bool, file: Path | None, offline: bool, root: Path | None,
    executor: Literal["local", "dask"], scheduler: str | None, jobs: int, **asked: Any,
) -> None:  # fmt: skip
    """What holds where: cases and test suites over releases and devices, before and after a series.

    Every cell is a probe, and what is known is not run again: an interrupted matrix goes on with the same command.

    \b
    Examples:
      headwater matrix
      headwater matrix --releases 5.10.1,5.13.0 --cases early-init --devices cpu,meta
      headwater matrix --releases '>=5.0.0' --devices cpu,meta --jobs 2
      headwater matrix --releases 5.5.0..5.13.0 --series hybrid-static-cache --tests conformance
      headwater matrix --cases none --tests upstream --releases 5.12.1 --repo ../transformers

    Status 0: every cell was run and has the verdict that the atlas expects (where it knows nothing: good or absent).
    """
    command = same_command(words, ("junit_file", "markdown_file"))
    request = MatrixRequest(
        options=ProbeOptions(fresh, repeat, allow_network), way=Way(executor, scheduler, jobs), command=command, **asked
    )
    for path in filter(None, (junit_file, markdown_file)):
        if not path.parent.is_dir():
            raise click.BadParameter(f"the folder {path.parent} is not there", param_hint="--junit, --markdown")
    with running("matrix", as_json, file, offline, root) as (context, output):
        report = matrix(context, request)
        if junit_file is not None:
            write_atomically(junit_file, junit(report))
        if markdown_file is not None:
            write_atomically(markdown_file, markdown(report))
        output.give(lambda console: print_matrix(console, report), **matrix_object(report))
        if report.interrupted:
            click.echo(f"headwater: interrupted; the same command goes on: {report.command}", err=True)
        raise click.exceptions.Exit(report.exit_status)
