# SPDX-License-Identifier: Apache-2.0
"""`headwater reduce` and `headwater backport`."""

from __future__ import annotations

from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import answer_options, series_option
from headwater.cli.run import common_options, running
from headwater.commands.reduce.backport import backport
from headwater.commands.reduce.command import reduce_command as run_reduction
from headwater.commands.reduce.request import FEW_LINES, ReduceOptions
from headwater.effects.answers import keep_answer
from headwater.effects.probe import ProbeOptions
from headwater.report.reduction import backport_object, print_backport, print_reduction, reduction_object

_lines_option = click.option(
    "--lines",
    type=click.IntRange(0),
    default=FEW_LINES,
    show_default=True,
    metavar="N",
    help="At most N probes for leaving out single lines of hunks.",
)
_answer_options = answer_options(": commits as ends, and the commit of each hunk")


def _options(common: dict[str, Any]) -> ReduceOptions:
    """The options out of what click gives; the common ones are left."""
    probes = ProbeOptions(common.pop("fresh"), common.pop("repeat"), common.pop("allow_network"))
    names = ("device", "cases_dir", "jobs", "lines", "repo")
    return ReduceOptions(**{name: common.pop(name) for name in names}, series=common.pop("series", None), probes=probes)


@click.command("reduce")
@click.argument("what", shell_complete=completing.cases)
@click.option("--from", "old", required=True, metavar="REV", shell_complete=completing.releases, help="The older side.")
@click.option(
    "--to",
    "new",
    required=True,
    metavar="REV",
    shell_complete=completing.releases,
    help="The newer side, with another verdict.",
)
@series_option("Apply this series on both sides first.")
@_lines_option
@_answer_options
@common_options
def reduce_command(what: str, old: str, new: str, **common: Any) -> None:
    """Find the smallest part of the difference between two revisions that flips a verdict.

    WHAT is a case id, a script, an executable or a pytest node id. Both sides are proved first. Works from releases
    alone; with --repo also between commits.

    \b
    Examples:
      headwater reduce early-init --from 5.12.1 --to 5.13.0
      headwater reduce early-init --from 5.4.0 --to 5.5.0 --lines 60

    Status 0: minimal; 3: the sides do not differ; 4: whether a hunk is needed could not be judged.
    """
    options = _options(common)
    with running("reduce", **common) as (context, output):
        report = run_reduction(context, what, old, new, options)
        answer = output.give(lambda console: print_reduction(console, report), **reduction_object(report))
        if report.hunks and not report.interrupted:
            keep_answer(context.cache, report.case, report.device, answer)
        raise click.exceptions.Exit(report.exit_status)


@click.command("backport")
@click.argument("case", shell_complete=completing.cases)
@click.option(
    "--onto",
    required=True,
    metavar="RELEASE",
    shell_complete=completing.releases,
    help="The release to carry the fix to.",
)
@click.option("--as", "name", metavar="NAME", help="The series' name; default: backport-CASE.")
@_lines_option
@_answer_options
@common_options
def backport_command(case: str, onto: str, name: str | None, **common: Any) -> None:
    """Find what fixed a case, reduce it, carry it to a release, and write it as a series.

    Refused where it conflicts, where the case stays bad, or where a test of the conformance suite holds no more.

    \b
    Example:
      headwater backport early-init --onto 5.10.1
    """
    options = _options(common)
    with running("backport", **common) as (context, output):
        report = backport(context, case, onto, name, options)
        answer = output.give(lambda console: print_backport(console, report), **backport_object(report))
        keep_answer(context.cache, report.reduction.case, report.reduction.device, answer)
