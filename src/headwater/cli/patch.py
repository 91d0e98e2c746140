# SPDX-License-Identifier: Apache-2.0
"""`headwater patch`: series, their states on every release, and their variants."""

from __future__ import annotations

from typing import Any

import click

from headwater.cli.run import common_options, running
from headwater.commands.patch.explain import explain
from headwater.commands.patch.status import status
from headwater.core.patch_results import status_exit
from headwater.report import patches


@click.group("patch")
def patch_group() -> None:
    """Series of patches: where they apply, how they are carried, changed and sent.

    \b
    Examples:
      headwater patch status
      headwater patch explain hybrid-static-cache 5.5.0
      headwater patch apply hybrid-static-cache --tree upstream/checkouts/5.10.1
    """


@patch_group.command("status")
@click.argument("names", nargs=-1, metavar="[SERIES]...")
@click.option("--releases", default="all", show_default=True, metavar="SPEC", help="5.10.1, '>=5.5.0,<5.13' ...")
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


@patch_group.command("explain")
@click.argument("words", nargs=-1, required=True, metavar="[SERIES] RELEASE")
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
