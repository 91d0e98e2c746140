# SPDX-License-Identifier: Apache-2.0
"""`headwater worker` and `headwater scheduler`, and the options of what runs on the workers of one."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import click

from headwater.cli.options import together
from headwater.cli.run import common_options, running
from headwater.commands.remote.serve import be_scheduler, be_worker

# `--executor`, `--scheduler`.
executor_options = together(
    [
        click.option(
            "--executor", type=click.Choice(["local", "dask"]), default="local", show_default=True,
            help="Run on this machine, or on the workers of a Dask scheduler.",
        ),
        click.option("--scheduler", metavar="ADDRESS", help="The scheduler, e.g. tcp://10.0.0.1:8786."),
    ]
)  # fmt: skip


@click.command("worker")
@click.argument("address")
@click.option("--name", metavar="NAME", help="What it is called; default: the host and the process.")
@common_options
def worker_command(address: str, name: str | None, **common: Any) -> None:
    """Run what is sent by a scheduler at ADDRESS, with this workspace and its caches, until Ctrl-C.

    It runs one probe at a time; start as many as the machine bears. Whoever reaches the scheduler runs code here: see
    docs/scale-out.md.

    \b
    Examples:
      headwater worker tcp://127.0.0.1:8786
      headwater worker tcp://10.0.0.1:8786 --name gpu-1
    """
    with running("worker", **common) as (context, output):
        called = name or f"{socket.gethostname()}-{os.getpid()}"
        ran = be_worker(context, address, called)
        output.give(lambda console: console.print(f"{called} ran {ran} probes."), worker=called, probes_run=ran)


@click.command("scheduler")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help="0: one that is free.")
@click.option(
    "--address-file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write its address to FILE."
)
@common_options
def scheduler_command(host: str, port: int, address_file: Path | None, **common: Any) -> None:
    """Be the Dask scheduler that `--scheduler ADDRESS` and `headwater worker ADDRESS` speak to, until Ctrl-C.

    Whoever reaches it runs code on all its workers, and it asks nobody who they are: see docs/scale-out.md.

    \b
    Examples:
      headwater scheduler
      headwater scheduler --host 10.0.0.1
    """
    with running("scheduler", **common) as (context, output):
        address = be_scheduler(context, host, port, address_file)
        output.give(lambda console: console.print(f"The scheduler at {address} has ended."), address=address)
