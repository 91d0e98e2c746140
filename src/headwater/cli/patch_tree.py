# SPDX-License-Identifier: Apache-2.0
"""The commands of `headwater patch` that work on a tree of a person's: apply, undo, refresh, new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.run import common_options, running
from headwater.commands.patch.apply import apply
from headwater.commands.patch.new import NewRequest, new
from headwater.commands.patch.refresh import refresh
from headwater.commands.patch.undo import undo
from headwater.report import terminal, trees


def _on_tree(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--tree`."""
    return click.option(
        "--tree", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="PATH",
        help="A git work tree: one of `headwater checkout`, or your own clone.",
    )(function)  # fmt: skip


_add_option = click.option(
    "--add", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Take this new file too."
)


@click.command("apply", short_help="Apply a series to a work tree: all of it, or nothing.")
@click.argument("series", shell_complete=completing.series)
@_on_tree
@common_options
def patch_apply(series: str, tree: Path, **common: Any) -> None:
    """Apply a series to a work tree, a commit a patch: all of it, or nothing. Twice is once.

    \b
    Examples:
      headwater patch apply hybrid-static-cache --tree upstream/checkouts/5.10.1
      headwater patch apply hybrid-static-cache --tree ../transformers
    """
    with running("patch apply", **common) as (context, output):
        report = apply(context, series, tree)
        output.give(lambda console: trees.print_applied(console, report), **trees.applied_object(report))


@click.command("undo", short_help="Take a series off a work tree again.")
@click.argument("series", shell_complete=completing.series, required=False)
@_on_tree
@common_options
def patch_undo(series: str | None, tree: Path, **common: Any) -> None:
    """Take a series (the topmost, without a name) off a work tree: HEAD, index and files are as before.

    \b
    Example:
      headwater patch undo --tree upstream/checkouts/5.10.1
    """
    with running("patch undo", **common) as (context, output):
        report = undo(context, series, tree)
        count = len(report.patches)
        lines = [f"took {count} {'patch' if count == 1 else 'patches'} of series {report.series} off {report.tree}"]
        lines.append(f"HEAD is {report.after[:12]} again")
        output.give(
            lambda console: terminal.print_lines(console, lines),
            series=report.series,
            tree=str(report.tree),
            before=report.before,
            after=report.after,
            patches=list(report.patches),
        )


@click.command("refresh", short_help="Take edits in a tree back into a patch.")
@click.argument("series", shell_complete=completing.series)
@click.argument("patch", required=False)
@_on_tree
@_add_option
@common_options
def patch_refresh(series: str, patch: str | None, tree: Path, add: tuple[Path, ...], **common: Any) -> None:
    """Take what you edited in a tree back into a patch (the last, without a name), and commits that you amended into
    theirs. Patch files whose content does not change are not touched.

    \b
    Examples:
      headwater patch refresh hybrid-static-cache --tree upstream/checkouts/5.10.1
      headwater patch refresh hybrid-static-cache 0001 --tree upstream/checkouts/5.10.1 --add tests/utils/test_new.py
    """
    with running("patch refresh", **common) as (context, output):
        report = refresh(context, series, patch, tree, add)
        output.give(lambda console: trees.print_refreshed(console, report), **trees.refreshed_object(report))


@click.command("new", short_help="Make a patch of edits in a tree.")
@click.argument("series", shell_complete=completing.series)
@click.argument("subject")
@_on_tree
@_add_option
@click.option("--body", default="", metavar="TEXT", help="What the commit message says below its subject.")
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="ID",
    shell_complete=completing.cases,
    help="A case that the patch mends (repeat).",
)
@click.option("--author", metavar="'NAME <MAIL>'", help="Default: as your git settings have it.")
@common_options
def patch_new(
    series: str, subject: str, tree: Path, add: tuple[Path, ...], body: str, cases: tuple[str, ...],
    author: str | None, **common: Any,
) -> None:  # fmt: skip
    """Make a patch of what you edited in a tree, on top of the series that is applied there. On a release where there
    is no series of the name yet, it begins one.

    \b
    Example:
      headwater patch new my-fix "Static layers crop" --case static-crop-missing --tree upstream/checkouts/5.10.1
    """
    with running("patch new", **common) as (context, output):
        report = new(context, NewRequest(series, subject, body, cases, author, add), tree)
        output.give(lambda console: trees.print_new(console, report), **trees.new_object(report))


TREE_COMMANDS = (patch_apply, patch_undo, patch_refresh, patch_new)
