# SPDX-License-Identifier: Apache-2.0
"""`headwater doctor` and `headwater completion`: the machine and the shell that Headwater runs in."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import get_completion_class

from headwater.cli.options import repo_option
from headwater.cli.run import common_options, running
from headwater.commands.doctor import doctor
from headwater.core.diagnosis import exit_status
from headwater.report.doctor import finding_object, print_doctor

# click's name for the variable by which a shell asks what may follow.
COMPLETE = "_HEADWATER_COMPLETE"


@click.command("doctor")
@repo_option()
@common_options
def doctor_command(repo: str | None, **common: Any) -> None:
    """Say what this machine has and lacks of what Headwater uses, and what each lack costs. Nothing is changed.

    \b
    Examples:
      headwater doctor
      headwater doctor --offline
      headwater doctor --repo ../transformers --json

    Status 1: something necessary lacks.
    """
    with running("doctor", **common) as (context, output):
        found = doctor(context, repo)
        status = exit_status(found)
        output.give(
            lambda console: print_doctor(console, found),
            findings=[finding_object(one) for one in found],
            well=not status,
        )
        raise click.exceptions.Exit(status)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print what makes a shell complete commands, options, cases, releases, series and devices.

    \b
    Examples:
      headwater completion bash
      eval "$(headwater completion bash)"
      headwater completion fish > ~/.config/fish/completions/headwater.fish
    """
    root = click.get_current_context().find_root()
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(root.command, {}, "headwater", COMPLETE).source())
