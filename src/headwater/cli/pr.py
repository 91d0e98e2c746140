# SPDX-License-Identifier: Apache-2.0
"""`headwater pr`: what is sent upstream, its gate, and its replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.options import cases_dir_option, repetition_options
from headwater.cli.run import common_options, folder_options, running
from headwater.commands.pr.check import check
from headwater.commands.pr.make import PrRequest, make_pr
from headwater.commands.pr.verify import verify
from headwater.core.naming import nearest_names
from headwater.effects.probe import ProbeOptions
from headwater.report import pr

_MAKE = "make"
# So like a command that no series is meant: of the letters of `chek` and `check` 8 in 9 agree.
_ALIKE = 0.8

_device_option = click.option(
    "--device",
    "--devices",
    "devices",
    multiple=True,
    metavar="D",
    shell_complete=completing.devices,
    help="cpu, meta, cuda, mps, xpu, cuda:1 ...",
)
_repo_option = click.option(
    "--repo", metavar="PATH-OR-URL", help="A clone of the upstream repository, which is only read, or its address."
)
_bundle = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))


class _Group(click.Group):
    """A group whose first word may be a series: then `make` is meant."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            if near := nearest_names(args[0], self.commands, alike=_ALIKE):
                told = f"No such command {args[0]!r}. Did you mean {near[0]!r}? For a series: `pr make {args[0]}`."
                raise click.UsageError(told, ctx)
            args = [_MAKE, *args]
        return super().parse_args(ctx, args)


@click.group("pr", cls=_Group, short_help="What is sent upstream: make it, check it, replay it.")
def pr_group() -> None:
    """A series as a bundle for a pull request: patches that `git am` takes, and the evidence for them.

    \b
    Examples:
      headwater pr hybrid-static-cache --onto 5.10.1
      headwater pr hybrid-static-cache --onto main --repo ../transformers --output outgoing/hybrid
      headwater pr check outgoing/hybrid-static-cache
      headwater pr verify outgoing/hybrid-static-cache

    The first word is a series, or `make`, `check` or `verify`. Headwater writes no word of a description.
    """


@pr_group.command(_MAKE, short_help="Make the bundle of a series: `headwater pr SERIES` for short.")
@click.argument("series", shell_complete=completing.series)
@click.option(
    "--onto",
    metavar="main|REV",
    help="A release, `newest`, or with --repo main, a tag, a commit. Default: main, or newest.",
)
@_repo_option
@click.option(
    "--output", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Where the bundle goes; default: outgoing/SERIES of the workspace.",
)  # fmt: skip
@click.option(
    "--former", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
    help="An earlier export to compare with; default: the bundle that lies there.",
)  # fmt: skip
@_device_option
@click.option(
    "--releases",
    metavar="SPEC",
    shell_complete=completing.releases,
    help="Show the cases on these releases too, before and after.",
)
@cases_dir_option
@repetition_options
@folder_options
def pr_make(
    series: str, onto: str | None, repo: str | None, folder: Path | None, former: Path | None,
    devices: tuple[str, ...], releases: str | None, cases_dir: Path | None, fresh: bool, repeat: int, **common: Any,
) -> None:  # fmt: skip
    """Make the bundle of a series for a target: patches as `git am` takes them, the evidence for each, upstream's
    check-list, and a body in which the words are left to you.

    \b
    Examples:
      headwater pr hybrid-static-cache --onto 5.10.1
      headwater pr hybrid-static-cache --onto main --repo ../transformers

    Status 1: upstream has its own fix on the target, or a patch does not apply.
    """
    options = ProbeOptions(fresh, repeat)
    request = PrRequest(series, onto, repo, folder, former, devices, releases, cases_dir, options)
    with running("pr", file=None, **common) as (context, output):
        report = make_pr(context, request)
        output.give(lambda console: pr.print_made(console, report), **pr.made_object(report))
        raise click.exceptions.Exit(report.exit_status)


@pr_group.command("check", short_help="Everything that speaks against sending a bundle.")
@_bundle
@_repo_option
@common_options
def pr_check(folder: Path, repo: str | None, **common: Any) -> None:
    """Say everything that speaks against sending a bundle: an unwritten body, no go-ahead of a maintainer, evidence
    that is older than the patches or from another tree, a test that is not red before and green after, what ruff says
    by upstream's settings, edits of generated or copied code, a fix that upstream has already.

    \b
    Example:
      headwater pr check outgoing/hybrid-static-cache --repo ../transformers

    Status 0: nothing. 1: the reasons are listed, all of them.
    """
    with running("pr check", **common) as (context, output):
        report = check(context, folder, repo)
        output.give(lambda console: pr.print_gate(console, report), **pr.gate_object(report))
        raise click.exceptions.Exit(report.exit_status)


@pr_group.command("verify", short_help="Replay the evidence of a bundle.")
@_bundle
@_repo_option
@click.option("--patch", metavar="PATCH", help="Only this patch (file, number or part of its name).")
@_device_option
@common_options
def pr_verify(folder: Path, repo: str | None, patch: str | None, devices: tuple[str, ...], **common: Any) -> None:
    """Run again what the evidence of a bundle says, from the bundle's own patches and cases, and compare every figure.

    \b
    Examples:
      headwater pr verify outgoing/hybrid-static-cache
      headwater pr verify ~/Downloads/bundle --patch 0001 --device cpu

    Status 1: figures are not repeated; each is named.
    """
    with running("pr verify", **common) as (context, output):
        report = verify(context, folder, repo, patch, devices)
        output.give(lambda console: pr.print_verified(console, report), **pr.verified_object(report))
        raise click.exceptions.Exit(report.exit_status)
