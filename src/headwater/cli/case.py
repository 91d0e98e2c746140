# SPDX-License-Identifier: Apache-2.0
"""`headwater case`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import fresh_option, jobs_option, repo_option
from headwater.cli.run import common_options, running
from headwater.commands.case.check import check_cases
from headwater.commands.case.new import NewCaseRequest, new_case
from headwater.core.results import INTERRUPTED
from headwater.effects.probe import ProbeOptions
from headwater.report import cases as shown
from headwater.report import machine
from headwater.report.atlas import entry_object


@click.group("case")
def case_group() -> None:
    """The cases of tests/repro: small scripts that each show one bug.

    \b
    Example:
      headwater case list
    """


@case_group.command("list")
@common_options
def case_list(**common: Any) -> None:
    """List the cases, with the releases on which each is bad.

    \b
    Example:
      headwater case list
    """
    with running("case list", **common) as (context, output):
        cases, atlas = list(context.workspace.atlas_cases().values()), context.workspace.atlas
        output.give(
            lambda console: shown.print_cases(console, cases, atlas),
            cases=[shown.case_object(case, atlas) for case in cases],
        )


@case_group.command("check")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=completing.cases)
@click.option("--mutants", is_flag=True, help="Each case made worse on purpose must fail its self-test.")
@fresh_option
@jobs_option()
@common_options
def case_check(ids: tuple[str, ...], mutants: bool, fresh: bool, jobs: int, **common: Any) -> None:
    """Run each case's self-test: bad on one release that the atlas names, and good on another.

    A case marked `open = true` is good on none, and must be absent where the atlas says so. No case's failure may be
    matched by a signature of another, unless one of them says `same_as`. --mutants shows that no case passes idly: with
    a comparison of it inverted, or without a call of what it tests, the same self-test must fail.

    \b
    Examples:
      headwater case check
      headwater case check early-init --mutants
    """
    with running("case check", **common) as (context, output):
        report = check_cases(context, ids, ProbeOptions(fresh=fresh), jobs, mutants)
        output.give(
            lambda console: shown.print_case_checks(console, report.checks),
            cases=[shown.case_check_object(check) for check in report.checks],
            probes=[machine.probe_object(row) for check in report.checks for row in check.rows],
            probes_run=report.ran,
            interrupted=report.interrupted,
        )
        raise click.exceptions.Exit(report.exit_status)


@case_group.command("new")
@click.argument("issue", metavar="ISSUE-OR-URL")
@click.option("--script", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The reporter's script.")
@click.option(
    "--bad", required=True, metavar="REV", shell_complete=completing.releases, help="A revision where it fails."
)
@click.option("--good", metavar="REV", shell_complete=completing.releases, help="A revision where it does not.")
@repo_option(", for commits")
@click.option("--id", "case_id", metavar="ID", help="The case's id; default: from the script's name.")
@click.option("--title", metavar="TEXT", help="One line of what is wrong; default: the failure.")
@click.option("--releases", metavar="SPEC", help="Where to probe the case; default: the releases around the bad one.")
@click.option("--allow-network", is_flag=True, help="Let the script use the network; the case says `network = true`.")
@jobs_option()
@common_options
def case_new(allow_network: bool, **asked: Any) -> None:
    """Make a case of a reporter's script.

    It is run on the bad revision, its failure is learned, and a case around the script's body is written to
    tests/repro, if that is bad there, too. Nothing that is there is ever overwritten.

    \b
    Examples:
      headwater case new 46439 --script report.py --bad 5.10.1 --good 5.4.0 --id early-init-again
      headwater case new huggingface/transformers#46439 --script report.py --bad 5.10.1
      headwater case new 46439 --script report.py --bad main --repo ../transformers
    """
    common = {name: asked.pop(name) for name in ("as_json", "file", "offline", "root")}
    request = NewCaseRequest(**asked, options=ProbeOptions(allow_network=allow_network))
    with running("case new", **common) as (context, output):
        report = new_case(context, request)
        path = str(report.path.relative_to(context.workspace.root))
        output.give(
            lambda console: shown.print_new_case(
                console, path, report.learned, report.rows, report.proposed, report.notes
            ),
            case=report.case.id,
            path=path,
            learned=report.learned,
            proposed=[entry_object(entry) for entry in report.proposed],
            notes=list(report.notes),
            probes=[machine.probe_object(row) for row in report.rows],
            probes_run=report.ran,
            interrupted=report.interrupted,
        )
        raise click.exceptions.Exit(INTERRUPTED if report.interrupted else 0)
