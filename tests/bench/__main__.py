# SPDX-License-Identifier: Apache-2.0
"""Ratios, both sides of each measured in turns in one run. No figure is asserted: the exit status does not tell them.

A full run takes some minutes, prints the table and writes docs/performance.md; with --quick or --only it prints alone.
Caches are in HEADWATER_CACHE, else in .cache/bench of the workspace.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

import crossing
import hunting
import importing
import patching
import probing
import reducing
from rich.console import Console
from samples import Row
from showing import page, show

from headwater.commands.context import Context
from headwater.core.errors import HeadwaterError
from headwater.core.redaction import redact
from headwater.effects.files import write_atomically
from headwater.effects.git import shed_git_variables
from headwater.report.progress import ProgressReport

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "performance.md"
PROBES = {"process": probing.PROCESS, "fork": probing.FORK, "first": probing.FIRST}
NAMES = (*PROBES, "import", "status", "hunt", "reduce", "matrix")
HOW_TO_GET = "apt-get install hyperfine (Debian, Ubuntu), brew install hyperfine, or cargo install hyperfine"


def main() -> int:
    """Measure what was asked for, show it, and give the exit status."""
    options = parse()
    errors = Console(stderr=True)
    if shutil.which("hyperfine") is None:
        errors.print(f"bench: hyperfine, which times whole processes, is not installed: {HOW_TO_GET}", soft_wrap=True)
        return 2
    os.environ.setdefault("HEADWATER_CACHE", str(ROOT / ".cache" / "bench"))
    # Whoever times python has it keep its byte code, as it does by itself.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    shed_git_variables()
    try:
        with ProgressReport(errors) as progress, ExitStack() as exits:
            context = Context(ROOT, progress.emit, offline=False, exits=exits)
            rows = measure(context, options, errors)
            environment = context.environments.describe(context.workspace.pins.find(probing.RELEASE))
    except HeadwaterError as error:
        errors.print(
            f"bench: {error.kind}: {redact(str(error))}", style="red", markup=False, highlight=False, soft_wrap=True
        )
        return error.exit_status
    show(Console(), rows)
    if not options.quick and not options.only:
        software = f"Python {environment.python_version}, torch {environment.torch}, {importing.git_version()}"
        write_atomically(PAGE, page(rows, software, probing.RELEASE, probing.NEIGHBOUR, probing.CASE, patching.SERIES))
        errors.print(f"wrote {PAGE.relative_to(ROOT)}", style="dim", highlight=False)
    return 0


def parse() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", action="append", choices=NAMES, metavar="NAME", help=f"one of {', '.join(NAMES)}; may be repeated"
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and 8 releases instead of 45")
    return parser.parse_args()


def measure(context: Context, options: argparse.Namespace, errors: Console) -> list[Row]:
    """Every row that was asked for."""

    def tell(line: str) -> None:
        errors.print(line, style="dim", highlight=False, soft_wrap=True)

    wanted = options.only or list(NAMES)
    rows: list[Row] = []
    with context.workspace.cache.building("bench") as folder:
        compared = [PROBES[name] for name in PROBES if name in wanted]
        if compared:
            pace = probing.Pace(3, 2, 2) if options.quick else probing.Pace(10, 3, 2)
            rows += probing.measure(context, folder, pace, compared, tell)
        if "import" in wanted:
            count, rounds = (8, 1) if options.quick else (45, 3)
            rows += importing.measure(context, folder, count, rounds, tell)
        if "status" in wanted:
            rows += patching.measure(context, folder, 1 if options.quick else 5, tell)
        if "hunt" in wanted:
            rows += hunting.measure(context, folder, 1 if options.quick else 3, tell)
        if "matrix" in wanted:
            rows += crossing.measure(context, folder, options.quick, tell)
        if "reduce" in wanted and (options.only or not options.quick):
            rows += reducing.measure(context, tell)
    return rows


if __name__ == "__main__":
    sys.exit(main())
