# SPDX-License-Identifier: Apache-2.0
"""The table, in the terminal and in docs/performance.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table
from samples import Row, Samples

COLUMNS = ("what", "measured", "against", "its", "ratio", "aim", "met")
PAGE = """\
# Performance

Written by `nox -s bench`; edits are overwritten. Nothing asserts these figures: they depend on the machine. Only the
ratios say something about Headwater: both sides of each were measured in turns in one run.

{machine}, {date}.

{table}

Each figure is the median, with what the middle half of the samples lies between in brackets.

- **warm probe**: a probe of `{case}` on {release} by a running `headwater`: tree, environment and byte code stand,
  what transformers needs is imported, its own modules are not, and nothing is answered from the store.
- **further probe of a tree**: the same once more: the fork server of the tree has transformers imported.
- **python early_init.py**: the case as a plain process in the same environment on the same tree, with the byte code of
  everything as python itself keeps it, timed by hyperfine.
- **bare fork**: the least possible: a process with the same modules forks; the child imports transformers, with that
  byte code, runs the case's body and exits. No limits, no look at the tree, no events, no store.
- **first probe of {neighbour}**: {release} was probed, and the mirror holds {neighbour}; its tree is not laid out, and
  what it does not share with {release} is neither unpacked nor compiled.
- **import**: wheels that are here already into an empty mirror, hashes checked, against `git init` and, for each
  release, `git add -A` and `git commit` of the unpacked files; neither unpacking nor git's housekeeping is counted.
- **status**: the state of each patch of `{series}` by a running `headwater`, everything in the mirror, no answer kept;
  against a script that checks each release out in one work tree and runs `git apply --check` with each patch. The
  status does not merge where the atlas says that a patch is not needed; the script cannot know.
- **hunt**: from nothing to the release that brought the bug of `{case}`: `headwater bisect`, which probes both ends and
  what it names twice; against `git bisect run` over a history with a commit for each release and a script with
  `uv run --with transformers==X`, which believes the ends and probes each once; and against that with as many probes of
  ends and answer by hand as the hunt makes. Cold, the caches of both are empty and all is downloaded; warm, they are as
  the cold one left them, and no verdict is taken from before.
- **matrix**: five cases on six releases on the cpu: `headwater matrix --fresh`, one process that answers nothing from
  its store; against a loop of `uv run --with transformers==X python case.py`, a process a cell. Both have all that they
  need on disk already, and both must see the same in every cell.
- **reduction**: the probes of parts of the difference until the hunks that mended `{case}` are left, pairs and some
  lines tried as well; against plain delta debugging over files and then hunks, which knows nothing of what the case
  runs.
"""


def figure(samples: Samples) -> str:
    """A median with its spread."""
    low, high = samples.spread
    digits = 3 if samples.median < 10 and samples.unit == "s" else 1
    spread = "" if len(samples.values) == 1 else f" ({low:.{digits}f} to {high:.{digits}f})"
    return f"{samples.median:.{digits}f} {samples.unit}{spread}"


def cells(row: Row) -> tuple[str, ...]:
    """One row of the table."""
    aim = f"at most {row.aim:g}" + ("" if row.on_ratio else f" {row.measured.unit}")
    return (
        row.measured.what, figure(row.measured), row.against.what, figure(row.against), f"{row.ratio:.2f}", aim,
        "yes" if row.is_met else "no",
    )  # fmt: skip


def show(console: Console, rows: Sequence[Row]) -> None:
    """Print the table, and the aims that are not met."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in COLUMNS:
        width = 14 if name in ("what", "against") else None
        table.add_column(name, justify="right" if name == "ratio" else "left", no_wrap=name == "ratio", min_width=width)
    for row in rows:
        table.add_row(*cells(row), style=None if row.is_met else "yellow")
    console.print(table)
    for row in rows:
        if not row.is_met:
            seen = f"{row.ratio:.2f} of {row.against.what}" if row.on_ratio else figure(row.measured)
            text = f"aim not met: {row.measured.what} takes {seen}; the aim is {cells(row)[5]}"
            console.print(text, style="yellow", highlight=False, soft_wrap=True)


def markdown(rows: Sequence[Row]) -> str:
    """The table, for a page."""
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(rows: Sequence[Row], software: str, release: str, neighbour: str, case: str, series: str) -> str:
    """The whole of docs/performance.md."""
    return PAGE.format(
        machine=f"{machine()}, {software}", date=f"{datetime.now(UTC):%Y-%m-%d}", table=markdown(rows),
        release=release, neighbour=neighbour, case=case, series=series,
    )  # fmt: skip


def machine() -> str:
    """Processor, cores, memory and system; nothing that names the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return f"{_processor()}, {cores} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
