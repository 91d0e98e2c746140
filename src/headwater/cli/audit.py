# SPDX-License-Identifier: Apache-2.0
"""`headwater audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from headwater.cli import completing
from headwater.cli.run import common_options, running
from headwater.commands.audit import AuditReport, audit
from headwater.report.audit import audit_object, print_audit


@click.command("audit")
@click.argument("release", required=False, shell_complete=completing.releases)
@click.option(
    "--python",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Audit this interpreter's, or environment's, library.",
)
@common_options
def audit_command(release: str | None, python: Path | None, **common: Any) -> None:
    """List the known bugs of a release; by default of the one that is installed in the current environment.

    The current environment is the active one (VIRTUAL_ENV, CONDA_PREFIX), else that of the interpreter that this was
    started with, or the first python on PATH that has the library. Nothing is imported, fetched or probed.

    \b
    Examples:
      headwater audit
      headwater audit 5.10.1
      headwater audit --python ../my-venv

    Status 1: it has known bugs, or the atlas was not measured on this very version: not tested is not passed.
    """
    with running("audit", **common) as (context, output):
        report = audit(context, release, python)
        installed = report.installed
        output.give(
            lambda console: print_audit(console, _audited(report), report.audit, report.notes),
            package=report.package,
            version=report.named,
            installed={
                "python": str(installed.python), "found_by": installed.found_by, "place": str(installed.place),
                "origin": installed.origin,
            } if installed else None,
            **audit_object(report.audit),
            cases=report.covered,
            notes=list(report.notes),
        )  # fmt: skip
        raise click.exceptions.Exit(report.exit_status)


def _audited(report: AuditReport) -> str:
    where = f" ({report.installed.place}, by {report.installed.found_by})" if report.installed else ""
    return f"{report.package} {report.named}{where}"
