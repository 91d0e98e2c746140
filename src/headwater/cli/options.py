# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, and how options are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.core.results import MOST_REPETITIONS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def together(options: Sequence[Decorator]) -> Decorator:
    """One decorator of several; the help shows their options in this order."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def jobs_option(what: str = "Probes") -> Decorator:
    """`--jobs`: how many of `what` at a time."""
    return click.option(
        "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", help=f"{what} at a time."
    )


def repo_option(purpose: str = "", required: bool = False) -> Decorator:
    """`--repo`; `purpose` goes on in the help where it says what a repository is for."""
    return click.option(
        "--repo", envvar="HEADWATER_REPO", required=required, metavar="PATH-OR-URL",
        help=f"A clone of upstream, or its address{purpose}.",
    )  # fmt: skip


def series_option(help_text: str) -> Decorator:
    """`--series`; `help_text` says where it is applied."""
    return click.option("--series", metavar="NAME", shell_complete=completing.series, help=help_text)


def releases_option(help_text: str, default: str | None = None) -> Decorator:
    """`--releases`; `help_text` goes on after the examples."""
    return click.option(
        "--releases", default=default, show_default=default is not None, metavar="SPEC",
        shell_complete=completing.releases, help=f"5.10.1, '>=5.5.0,<5.13' ...{help_text}",
    )  # fmt: skip


fresh_option = click.option("--fresh", is_flag=True, help="Run also what is known from earlier runs.")
_repeat_option = click.option(
    "--repeat", type=click.IntRange(1, MOST_REPETITIONS), default=1, metavar="N",
    help="Probe N times; disagreement is `flaky`.",
)  # fmt: skip
_network_option = click.option(
    "--allow-network", is_flag=True, help="Run cases that need the network; let scripts use it."
)

repetition_options = together([fresh_option, _repeat_option])
probe_options = together([fresh_option, _repeat_option, _network_option])

cases_dir_option = click.option(
    "--cases-dir", type=click.Path(path_type=Path), metavar="DIR", help="A folder with cases of your own."
)

tree_option = click.option(
    "--tree",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="This checkout as it is, uncommitted edits included; nothing in it is written.",
)


def answer_options(purpose: str = "") -> Decorator:
    """`--device`, `--jobs`, `--repo`, and those of cases and probes, of what asks many revisions about one case;
    `purpose` says what a repository is for."""
    device = click.option("--device", default="cpu", show_default=True, metavar="D", shell_complete=completing.devices)
    return together([device, jobs_option(), repo_option(purpose), cases_dir_option, probe_options])
