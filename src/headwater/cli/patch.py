# SPDX-License-Identifier: Apache-2.0
"""`headwater patch`: series, their states on every release, and their variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import releases_option
from headwater.cli.patch_tree import TREE_COMMANDS
from headwater.cli.run import common_options, running
from headwater.commands.patch.carry import abort, carry, resume
from headwater.commands.patch.diff import diff
from headwater.commands.patch.drop import drop
from headwater.commands.patch.explain import explain
from headwater.commands.patch.export import export
from headwater.commands.patch.importing import import_patches
from headwater.commands.patch.status import status
from headwater.core.patch_results import status_exit
from headwater.report import patches, terminal


@click.group("patch")
def patch_group() -> None:
    """Series of patches: where they apply, how they are carried, changed and sent.

    \b
    Examples:
      headwater patch status
      headwater patch explain hybrid-static-cache 5.5.0
      headwater patch apply hybrid-static-cache --tree upstream/checkouts/5.10.1
    """


for command in TREE_COMMANDS:
    patch_group.add_command(command)


@patch_group.command("status", short_help="In which state every patch is on every release.")
@click.argument("names", nargs=-1, metavar="[SERIES]...", shell_complete=completing.series)
@releases_option("", default="all")
@common_options
def patch_status(names: tuple[str, ...], releases: str, **common: Any) -> None:
    """Say in which state every patch is on every release. Nothing is checked out.

    \b
    States: clean, offset, reduced context, three-way: it applies, at the right place.
    already applied, fixed upstream, absent (so is the feature): there is nothing to do.
    conflict, misplaced (git apply would put it into the wrong place): somebody has to look.

    \b
    Examples:
      headwater patch status
      headwater patch status hybrid-static-cache --releases '>=5.5.0,<5.13'

    Status 0: every patch applies, is applied already, or is not needed. Else 1.
    """
    with running("patch status", **common) as (context, output):
        report = status(context, names, releases)
        output.give(
            lambda console: patches.print_status(console, report),
            series=[patches.status_object(one) for one in report],
        )
        raise click.exceptions.Exit(status_exit(report))


@patch_group.command("explain", short_help="Which file serves a release, and why.")
@click.argument("words", nargs=-1, required=True, metavar="[SERIES] RELEASE", shell_complete=completing.releases)
@common_options
def patch_explain(words: tuple[str, ...], **common: Any) -> None:
    """Say which file serves a release, its base and hash, and why.

    \b
    Examples:
      headwater patch explain 5.5.0
      headwater patch explain hybrid-static-cache 5.5.0
    """
    if len(words) > 2:
        raise click.UsageError(f"one series and one release, not {' '.join(words)}")
    with running("patch explain", **common) as (context, output):
        rows = explain(context, words[0] if len(words) == 2 else None, words[-1])
        output.give(
            lambda console: patches.print_explained(console, words[-1], rows),
            release=words[-1],
            patches=[patches.explained_object(row) for row in rows],
        )


@patch_group.command("carry", short_help="Make a variant for a release.")
@click.argument("series", shell_complete=completing.series)
@click.option(
    "--to",
    "release",
    required=True,
    metavar="RELEASE",
    shell_complete=completing.releases,
    help="The release to make a variant for.",
)
@click.option("--as", "folder", metavar="NAME", help="The variant's folder; default: rebase-5-5-0 for 5.5.0.")
@click.option("--continue", "go_on", is_flag=True, help="Go on once the conflict is resolved in the tree.")
@click.option("--abort", "give_up", is_flag=True, help="Give up a carry that has stopped; its tree is removed.")
@common_options
def patch_carry(series: str, release: str, folder: str | None, go_on: bool, give_up: bool, **common: Any) -> None:
    """Make a variant of a series for a release where its patches do not fit as they are.

    Patches are carried by three-way merge. At a conflict it stops with a work tree to edit.

    \b
    Examples:
      headwater patch carry hybrid-static-cache --to 5.5.0 --as plain-integers
      headwater patch carry hybrid-static-cache --to 5.5.0 --continue

    Status 1: it stopped and waits for you.
    """
    if go_on and give_up:
        raise click.UsageError("--continue and --abort exclude one another")
    if folder and (go_on or give_up):
        raise click.UsageError("--as belongs to the beginning of a carry")
    with running("patch carry", **common) as (context, output):
        if give_up:
            path = abort(context, series, release)
            output.give(
                lambda console: terminal.print_lines(console, [f"removed {path}"]), series=series, removed=str(path)
            )
            return
        report = resume(context, series, release) if go_on else carry(context, series, release, folder)
        output.give(lambda console: patches.print_carried(console, report), **patches.carried_object(report))
        raise click.exceptions.Exit(1 if report.stopped else 0)


@patch_group.command("export", short_help="Write files that git am takes.")
@click.argument("series", shell_complete=completing.series, required=False)
@click.option(
    "--to", "folder", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where to write them."
)
@click.option(
    "--release",
    metavar="RELEASE",
    shell_complete=completing.releases,
    help="As they apply to this release; default: the series' base.",
)
@common_options
def patch_export(series: str | None, folder: Path, release: str | None, **common: Any) -> None:
    """Write a series as files that `git am` takes, the same bytes every time.

    \b
    Example:
      headwater patch export hybrid-static-cache --to outgoing --release 5.11.0
    """
    with running("patch export", **common) as (context, output):
        report = export(context, series, folder, release)
        output.give(
            lambda console: patches.print_exported(console, report),
            folder=str(report.folder),
            release=report.release,
            files=list(report.files),
            skipped=[{"patch": patch, "state": state.value} for patch, state in report.skipped.items()],
        )


@patch_group.command("import", short_help="Take what git format-patch or a mail program wrote.")
@click.argument("series", shell_complete=completing.series)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--base", metavar="RELEASE", shell_complete=completing.releases, help="Begin a new series against this release."
)
@common_options
def patch_import(series: str, sources: tuple[Path, ...], base: str | None, **common: Any) -> None:
    """Append patches that `git format-patch` or a mail program wrote: files, mailboxes, folders of *.patch.

    \b
    Examples:
      git format-patch -o outgoing v5.10.1..; headwater patch import my-fix outgoing --base 5.10.1
      headwater patch import hybrid-static-cache mail.mbox
    """
    with running("patch import", **common) as (context, output):
        report = import_patches(context, series, sources, base)
        begun = "began" if report.new else "extended"
        lines = [f"{begun} series {report.series}", *(f"  {name}" for name in report.files)]
        output.give(
            lambda console: terminal.print_lines(console, lines),
            series=report.series,
            new=report.new,
            files=list(report.files),
        )


@patch_group.command("drop", short_help="Take a patch out of a series.")
@click.argument("series", shell_complete=completing.series)
@click.argument("patch")
@common_options
def patch_drop(series: str, patch: str, **common: Any) -> None:
    """Take a patch (file, number or part of its name) out of a series; those above it are carried over the gap.

    \b
    Example:
      headwater patch drop hybrid-static-cache 0003
    """
    with running("patch drop", **common) as (context, output):
        report = drop(context, series, patch)
        lines = [f"dropped {report.patch}; kept as {', '.join(report.kept)}"]
        lines += [f"rewritten: {name}" for name in report.rewritten]
        output.give(
            lambda console: terminal.print_lines(console, lines),
            patch=report.patch,
            kept=list(report.kept),
            rewritten=list(report.rewritten),
        )


@patch_group.command("diff", short_help="Show what changed between two revisions of a series.")
@click.argument("series", shell_complete=completing.series)
@click.argument("old")
@click.argument("new", required=False)
@click.option(
    "--release",
    metavar="RELEASE",
    shell_complete=completing.releases,
    help="Compare as applied to this release; default: the newer one's base.",
)
@common_options
def patch_diff(series: str, old: str, new: str | None, release: str | None, **common: Any) -> None:
    """Show what changed between two revisions of a series, patch by patch (git range-diff).

    OLD and NEW are git revisions of the workspace's repository, or folders with a `series` file; without NEW, the
    series as it is now.

    \b
    Examples:
      headwater patch diff hybrid-static-cache HEAD
      headwater patch diff hybrid-static-cache v1 v2 --release 5.11.0
    """
    with running("patch diff", **common) as (context, output):
        report = diff(context, series, old, new, release)
        output.give(lambda console: patches.print_diff(console, report), **patches.diff_object(report))
