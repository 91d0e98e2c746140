# SPDX-License-Identifier: Apache-2.0
"""The `headwater` command."""

from __future__ import annotations

import importlib
import io
import signal
import sys
from types import FrameType

import click
from click.exceptions import NoSuchCommand

from headwater import __version__
from headwater.effects.git import shed_git_variables
from headwater.report.machine import document, write_json

EXIT_STATUS = """\b
Exit status:
  0    as expected, or found
  1    not as expected
  2    bad input
  3    the ends of a hunt do not differ
  4    a hunt found only a range
  5    Headwater or the machine failed
  130  interrupted
"""


# In the order of the help: where each command is. A module is imported when its command is asked for, since all of
# them take longer to import than a known verdict takes to answer.
COMMANDS = {
    "repro": "repro:repro_command",
    "test-patched": "patched:test_patched_command",
    "matrix": "matrix:matrix_command",
    "bisect": "bisect:bisect_command",
    "reduce": "reduce:reduce_command",
    "backport": "reduce:backport_command",
    "audit": "audit:audit_command",
    "atlas": "atlas:atlas_group",
    "case": "case:case_group",
    "report": "report:report_command",
    "patch": "patch:patch_group",
    "pr": "pr:pr_group",
    "checkout": "checkout:checkout_command",
    "init": "init:init_command",
    "pins": "pins:pins_group",
    "cache": "cache:cache_group",
    "scheduler": "remote:scheduler_command",
    "worker": "remote:worker_command",
    "doctor": "doctor:doctor_command",
    "completion": "doctor:completion_command",
}


class _Commands(click.Group):
    """The commands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        found = getattr(importlib.import_module(f"headwater.cli.{module}"), name)
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            # click names the nearest of those that are loaded: none.
            raise NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from error


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EXIT_STATUS,
)
@click.version_option(__version__, prog_name="headwater")
def headwater() -> None:
    """Carry fixes upstream: reproduce a bug on any release, find what broke it, test the patch that mends it.

    \b
    Examples:
      headwater audit
      headwater repro 5.10.1
      headwater test-patched hybrid-static-cache
      headwater matrix --releases '>=5.0.0' --devices cpu,meta
      headwater bisect early-init --good 5.4.0 --bad 5.10.1
      headwater report
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    shed_git_variables()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that has not all of our signs gets a question mark for one, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, _interrupt)
    if sys.platform == "win32":
        click.echo("headwater: Windows is not supported; it runs under WSL", err=True)
        return 2
    try:
        result = headwater.main(args=arguments, prog_name="headwater", standalone_mode=False)
    except click.exceptions.ClickException as error:
        error.show()
        if "--json" in (sys.argv[1:] if arguments is None else arguments):
            write_json(document("", error={"kind": "bad input", "message": error.format_message()}))
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    # Without standalone mode click returns the status of an Exit, and None from a command that ended well.
    return result if isinstance(result, int) else 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
