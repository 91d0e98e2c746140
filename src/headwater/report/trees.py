# SPDX-License-Identifier: Apache-2.0
"""What the commands of `headwater patch` that work on a tree show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from headwater.core.tree_results import ApplyReport, NewReport, RefreshReport
from headwater.report.patches import state_text
from headwater.report.terminal import plain_table


def print_applied(console: Console, report: ApplyReport) -> None:
    """What became of each patch, and where HEAD is."""
    if not report.changed:
        _say(console, f"series {report.series} is applied in {report.tree} already: nothing to do")
        return
    table = plain_table()
    for name in ("patch", "state", "commit"):
        table.add_column(name, no_wrap=name != "patch")
    for one in report.patches:
        table.add_row(one.patch, state_text(one.state), Text((one.commit or "")[:12]))
    console.print(table)
    served = f", variant {report.variant}" if report.variant else ""
    _say(console, f"applied to {report.tree} (as {report.release}{served}); HEAD is {report.after[:12]}")
    _say(console, f"Take it off again with: headwater patch undo {report.series} --tree {report.tree}")


def applied_object(report: ApplyReport) -> dict[str, Any]:
    """The same for machines."""
    return {
        "series": report.series,
        "tree": str(report.tree),
        "release": report.release,
        "variant": report.variant,
        "changed": report.changed,
        "before": report.before,
        "after": report.after,
        "patches": [{"patch": p.patch, "state": p.state.value, "commit": p.commit} for p in report.patches],
    }


def print_refreshed(console: Console, report: RefreshReport) -> None:
    """The files that were written, and those that git does not know."""
    for name in report.written:
        _say(console, f"wrote {name}")
    if not report.written:
        _say(console, "no patch changes: the tree has what the patches make of it")
    _left_out(console, report.left_out)


def refreshed_object(report: RefreshReport) -> dict[str, Any]:
    """The same for machines."""
    return {
        "series": report.series,
        "tree": str(report.tree),
        "patch": report.patch,
        "written": list(report.written),
        "kept": list(report.kept),
        "edits": list(report.edits),
        "left_out": list(report.left_out),
        "before": report.before,
        "after": report.after,
    }


def print_new(console: Console, report: NewReport) -> None:
    """The file of a new patch."""
    _say(console, f"{'began' if report.began else 'extended'} series {report.series} with {report.file}")
    _say(console, f"author {report.author}; it is commit {report.commit[:12]} in {report.tree}")
    _left_out(console, report.left_out)


def new_object(report: NewReport) -> dict[str, Any]:
    """The same for machines."""
    return {
        "series": report.series,
        "tree": str(report.tree),
        "file": report.file,
        "author": report.author,
        "commit": report.commit,
        "began": report.began,
        "edits": list(report.edits),
        "left_out": list(report.left_out),
    }


def _left_out(console: Console, files: Sequence[str]) -> None:
    if files:
        _say(console, f"left out, since git does not know them: {', '.join(files)}; --add FILE takes them")


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)
