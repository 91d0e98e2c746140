# SPDX-License-Identifier: Apache-2.0
"""The `headwater` command."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import click

from headwater import __version__
from headwater.cli.atlas import atlas_group, audit_command
from headwater.cli.bisect import bisect_command
from headwater.cli.case import case_group
from headwater.cli.matrix import matrix_command
from headwater.cli.patch import patch_group
from headwater.cli.pr import pr_group
from headwater.cli.probing import repro_command, test_patched_command
from headwater.cli.reduce import backport_command, reduce_command
from headwater.cli.remote import scheduler_command, worker_command
from headwater.cli.report import report_command
from headwater.cli.upkeep import cache_group, checkout_command, pins_group
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


@click.group(
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


for command in (
    repro_command,
    test_patched_command,
    matrix_command,
    bisect_command,
    reduce_command,
    backport_command,
    audit_command,
    atlas_group,
    case_group,
    report_command,
    patch_group,
    pr_group,
    checkout_command,
    pins_group,
    cache_group,
    scheduler_command,
    worker_command,
):
    headwater.add_command(command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    shed_git_variables()
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
