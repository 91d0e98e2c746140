# SPDX-License-Identifier: Apache-2.0
"""`headwater atlas`."""

from __future__ import annotations

from typing import Any, Literal

import click

from headwater.cli import completing
from headwater.cli.options import fresh_option, jobs_option, releases_option, repo_option, together
from headwater.cli.run import common_options, running
from headwater.commands.atlas import commits as hunts
from headwater.commands.atlas import page as pages
from headwater.commands.atlas import update as updates
from headwater.effects.probe import ProbeOptions
from headwater.report import atlas as shown
from headwater.report import machine, terminal


@click.group("atlas")
def atlas_group() -> None:
    """What is known of every case over every release: tests/repro/atlas.toml.

    \b
    Example:
      headwater atlas show early-init
    """


_measure_options = together(
    [
        click.option(
            "--cases",
            multiple=True,
            metavar="SPEC",
            shell_complete=completing.cases,
            help="Only these cases: ids, with commas.",
        ),
        releases_option("", default="all"),
        click.option(
            "--devices",
            multiple=True,
            metavar="D",
            shell_complete=completing.devices,
            help="Default: cpu. On several they must agree.",
        ),
        fresh_option,
        jobs_option(),
    ]
)


def _request(common: dict[str, Any], new: bool) -> updates.AtlasRequest:
    """The request out of what click gives; the common options are left."""
    asked = {name: common.pop(name) for name in ("cases", "releases", "devices", "jobs")}
    return updates.AtlasRequest(**asked, new=new, options=ProbeOptions(fresh=common.pop("fresh")))


@atlas_group.command("show")
@click.argument("case", required=False, shell_complete=completing.cases)
@common_options
def atlas_show(case: str | None, **common: Any) -> None:
    """Show what the atlas says, of all cases or of one.

    \b
    Examples:
      headwater atlas show
      headwater atlas show early-init
    """
    with running("atlas show", **common) as (context, output):
        atlas, cases, series = pages.shown(context, case)
        ids = [one.id for one in cases]
        output.give(
            lambda console: shown.print_atlas(console, atlas, cases, series, case is not None),
            releases=[str(version) for version in atlas.releases],
            entries=[shown.entry_object(entry) for entry in atlas.entries if entry.case in ids],
            changes=[shown.change_object(change) for change in atlas.changes if change.case in ids],
            series={one: series[one] for one in ids if one in series},
        )


@atlas_group.command("update")
@click.option("--new", is_flag=True, help="Only what the atlas does not cover yet.")
@click.option("--write", is_flag=True, help="Write the atlas; else only say what would change.")
@_measure_options
@common_options
def atlas_update(new: bool, write: bool, **common: Any) -> None:
    """Measure cases on releases, and show what would change in the atlas.

    What is known from earlier runs is not run again. Harness errors, devices that are not there, and verdicts on which
    devices disagree are told and never written; untestable and other failures are written, and told.

    \b
    Examples:
      headwater atlas update
      headwater atlas update --cases early-init --releases 5.10.1
      headwater pins update && headwater atlas update --new --write
      headwater atlas update --cases early-init --releases '>=5.5.0' --write

    Status 1: something could not be measured, or a change-over whose commit is recorded has moved.
    """
    request = _request(common, new)
    with running("atlas update", **common) as (context, output):
        report = updates.update(context, request, write)
        update = report.update
        output.give(
            lambda console: shown.print_update(
                console, update, report.lost_comments if report.changed else (), _update_sentence(report)
            ),
            changed=report.changed,
            written=report.written,
            differences=[shown.difference_object(one) for one in update.differences],
            unclear=[shown.difference_object(one) for one in update.unclear],
            unwritten=[shown.unwritten_object(one) for one in update.unwritten],
            gaps=[shown.gap_object(gap) for gap in update.gaps],
            dropped=[shown.change_object(change) for change in update.dropped],
            probes=[machine.probe_object(row) for row in report.rows],
            probes_run=report.ran,
            interrupted=report.interrupted,
        )
        raise click.exceptions.Exit(report.exit_status)


def _update_sentence(report: updates.UpdateReport) -> str:
    measured = f"{len(report.rows)} cells measured, {report.ran} of them by a probe now."
    if report.interrupted:
        return f"{measured} Interrupted: nothing was written; the same command goes on."
    if not report.changed:
        return f"{measured} The atlas stays as it is."
    count = len(report.update.differences)
    what = f"{count} cell{'s' * (count != 1)} differ{'s' * (count == 1)}" if count else "Its form alone differs"
    return f"{measured} {what}. " + ("The atlas was written." if report.written else "--write writes it.")


@atlas_group.command("check")
@_measure_options
@common_options
def atlas_check(**common: Any) -> None:
    """Measure every recorded cell; fail where one no longer holds.

    \b
    Examples:
      headwater atlas check
      headwater atlas check --cases early-init --releases 5.10.1,5.24.0 --fresh

    Status 1: a recorded cell no longer holds, or could not be measured.
    """
    request = _request(common, new=False)
    with running("atlas check", **common) as (context, output):
        report = updates.check(context, request)
        check = report.check
        output.give(
            lambda console: shown.print_check(console, check),
            held=check.held,
            broken=[shown.difference_object(one) for one in check.broken],
            unmeasured=[shown.unwritten_object(one) for one in check.unmeasured],
            gaps=[shown.gap_object(gap) for gap in check.gaps],
            probes=[machine.probe_object(row) for row in report.rows],
            probes_run=report.ran,
            interrupted=check.interrupted,
        )
        raise click.exceptions.Exit(check.exit_status)


@atlas_group.command("commits")
@click.argument("cases", nargs=-1, metavar="[CASE]...", shell_complete=completing.cases)
@repo_option(required=True)
@click.option("--check", is_flag=True, help="Hunt nothing; prove again the commits that are recorded.")
@click.option("--write", is_flag=True, help="Write each commit into the atlas as it is found.")
@click.option(
    "--deps",
    type=click.Choice(["period", "latest"]),
    default="latest",
    show_default=True,
    help="Packages: the newest that fit (the locks), or those of each revision's day.",
)
@fresh_option
@jobs_option()
@common_options
def atlas_commits(
    cases: tuple[str, ...],
    repo: str,
    check: bool,
    write: bool,
    deps: Literal["latest", "period"],
    fresh: bool,
    jobs: int,
    **common: Any,
) -> None:
    """Hunt the commit of every change-over that has none: between the releases of the main line around it, then over
    the commits between those.

    A commit counts only where it and its parent were both seen twice. Every verdict is kept: the same command goes on
    where it was interrupted. What stays without a commit is told, with the reason and the command that hunts it alone.
    Commits that none of the locks serves may be had with the packages of their day: --deps period. --check takes those
    by itself where it must.

    \b
    Examples:
      headwater atlas commits --repo ../transformers
      headwater atlas commits crop-oversized early-init --repo ../transformers --write --jobs 2
      headwater atlas commits --repo ../transformers --check --fresh

    Status 1: a change-over stays without its commit, or a recorded one does not hold.
    """
    request = hunts.CommitsRequest(cases, repo, check, deps, jobs, ProbeOptions(fresh=fresh))
    with running("atlas commits", **common) as (context, output):
        report = hunts.commits(context, request, write)
        output.give(
            lambda console: shown.print_commits(console, report.rows, report.lost_comments, _commits_sentence(report)),
            change_overs=[shown.commit_object(row) for row in report.rows],
            written=report.written,
            probes_run=sum(row.ran for row in report.rows),
            interrupted=report.interrupted,
        )
        raise click.exceptions.Exit(report.exit_status)


def _commits_sentence(report: hunts.CommitsReport) -> str:
    with_commit = [row for row in report.rows if row.state in ("found", "recorded")]
    commits = {row.change.commit for row in with_commit if row.change is not None}
    found = sum(row.state == "found" for row in report.rows)
    said = f"{len(with_commit)} of {len(report.rows)} change-overs have their commit, {found} of them seen now; "
    said += f"they are {len(commits)} distinct commits."
    if report.interrupted:
        return f"{said} Interrupted: the same command goes on."
    return said + (" The atlas was written; `headwater atlas page --write` makes the pages." if report.written else "")


@atlas_group.command("page")
@click.option("--write", is_flag=True, help="Write them; else only say whether they are up to date.")
@common_options
def atlas_page(write: bool, **common: Any) -> None:
    """Make docs/atlas.md, and the README's table, from the atlas and the cases.

    \b
    Example:
      headwater atlas page --write

    Status 1: without --write, one of them is out of date.
    """
    with running("atlas page", **common) as (context, output):
        report = pages.page(context, write)
        state = "written" if report.written else "out of date; --write writes it"
        lines = [f"{path}: {state}" for path in report.outdated] or ["docs/atlas.md and README.md are up to date"]
        output.give(
            lambda console: terminal.print_lines(console, lines),
            outdated=list(report.outdated),
            written=report.written and bool(report.outdated),
        )
        raise click.exceptions.Exit(1 if report.outdated and not report.written else 0)
