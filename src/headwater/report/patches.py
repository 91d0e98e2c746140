# SPDX-License-Identifier: Apache-2.0
"""What `headwater patch` shows: grids of states, and which file serves what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.core.patch_results import (
    CarryReport,
    Explained,
    Exported,
    PatchStatus,
    ReleaseStatus,
    SeriesDiff,
    SeriesStatus,
    release_runs,
)
from headwater.core.states import PatchState
from headwater.report.terminal import plain_table

STYLES = {
    PatchState.CLEAN: "green",
    PatchState.OFFSET: "green",
    PatchState.REDUCED_CONTEXT: "green",
    PatchState.THREE_WAY: "green",
    PatchState.CONFLICT: "bold red",
    PatchState.MISPLACED: "bold magenta",
    PatchState.ALREADY_APPLIED: "cyan",
    PatchState.FIXED_UPSTREAM: "cyan",
    PatchState.ABSENT: "dim",
}


def state_text(state: PatchState) -> Text:
    """A state in its colour; the word alone tells it too."""
    return Text(state.words, STYLES[state])


def print_status(console: Console, statuses: Sequence[SeriesStatus]) -> None:
    """A grid a series, releases with equal states in one row, and what is to be done."""
    for status in statuses:
        console.print(f"{status.name}, written against {status.base}", style="bold", highlight=False)
        table = _table("releases", *(["variant"] if any(one.variant for one in status.releases) else []))
        for patch in status.patches:
            table.add_column(patch.partition("-")[0])
        for first, last, count in release_runs(status.releases):
            cells = [state_text(cell.state) for cell in first.cells]
            variant = [first.variant or ""] if any(one.variant for one in status.releases) else []
            table.add_row(_run_words(first, last, count), *variant, *cells)
        console.print(table)
        console.print()
        for patch in status.patches:
            console.print(f"  {patch}", style="dim", highlight=False, soft_wrap=True)
        console.print()
        for line in status_sentences(status):
            console.print(line, highlight=False, soft_wrap=True)


def _table(*columns: str) -> Table:
    table = plain_table()
    for name in columns:
        table.add_column(name, no_wrap=True)
    return table


def _run_words(first: ReleaseStatus, last: ReleaseStatus, count: int) -> str:
    return first.release if count == 1 else f"{first.release}..{last.release} ({count})"


def status_sentences(status: SeriesStatus) -> list[str]:
    """What a person has to look at, and what can be left out."""
    lines = []
    refused = [one for one in status.releases if not one.in_order]
    for first, last, count in release_runs(refused):
        lines += [
            f"{cell.patch} on {_run_words(first, last, count)}: {cell.state.words}, {cell.reason}."
            for cell in first.cells
            if cell.state.refused
        ]
    if refused:
        lines.append(
            f"`headwater patch carry {status.name} --to {refused[-1].release}` makes a variant for that release."
        )
    for first, last, count in release_runs([one for one in status.releases if one.droppable]):
        lines.append(
            f"On {_run_words(first, last, count)} upstream has its own fix for every patch: the series can be left out "
            "there. Nothing is deleted."
        )
    if not refused:
        lines.append(f"In order on {_count(len(status.releases), 'release', 'releases')}.")
    else:
        lines.append(f"Not in order on {len(refused)} of {_count(len(status.releases), 'release', 'releases')}.")
    return lines


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def print_explained(console: Console, release: str, rows: Sequence[Explained]) -> None:
    """Which file serves a release, a paragraph a patch."""
    for row in rows:
        title = Text(f"{row.patch} on {release}: ", "bold")
        console.print(
            title.append_text(state_text(row.state)).append(f" ({row.reason})" if row.reason else ""), soft_wrap=True
        )
        console.print(f"  file    {row.file}", highlight=False, soft_wrap=True)
        console.print(f"  base    {row.base}", highlight=False)
        console.print(f"  sha256  {row.sha256}", highlight=False, soft_wrap=True)
        console.print(f"  why     {row.why}", highlight=False, soft_wrap=True)


def status_object(status: SeriesStatus) -> dict[str, Any]:
    """A series' states for machines."""
    return {
        "name": status.name,
        "base": status.base,
        "patches": list(status.patches),
        "droppable": list(status.droppable),
        "releases": [
            {
                "release": one.release,
                "variant": one.variant,
                "states": _cell_objects(one.cells),
            }
            for one in status.releases
        ],
    }


def _cell_objects(cells: Sequence[PatchStatus]) -> list[dict[str, str]]:
    return [{"patch": cell.patch, "state": cell.state.value, "reason": cell.reason} for cell in cells]


def explained_object(row: Explained) -> dict[str, Any]:
    """Which file serves, for machines."""
    return {
        "patch": row.patch,
        "file": row.file,
        "base": row.base,
        "sha256": row.sha256,
        "why": row.why,
        "state": row.state.value,
        "reason": row.reason,
    }


def print_carried(console: Console, report: CarryReport) -> None:
    """What became of each patch of a carry, and what is to be done next."""
    table = _table("patch", "state")
    for cell in report.cells:
        words = Text(cell.reason) if cell.reason == "done" else state_text(cell.state)
        table.add_row(cell.patch, words)
    console.print(table)
    for line in carried_sentences(report):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def carried_sentences(report: CarryReport) -> list[str]:
    """The next step of a carry, or what it wrote."""
    command = f"headwater patch carry {report.series} --to {report.release}"
    if report.stopped is not None:
        stopped = next(cell for cell in report.cells if cell.patch == report.stopped)
        return [
            f"{report.stopped} ({stopped.state.words}): {stopped.reason}.",
            f"Edit the files in {report.tree} (`git diff` there shows the merge), then `{command} --continue`; "
            "`--abort` gives it up.",
        ]
    if report.variant is None:
        return [f"Every patch applies to {report.release} as it is: no variant is needed."]
    return [
        f"Wrote patches/{report.series}/{report.variant} with {', '.join(report.files)}; it serves {report.serves}.",
        f"Test it with: headwater test-patched {report.series} --releases {report.serves}",
    ]


def carried_object(report: CarryReport) -> dict[str, Any]:
    """A carry for machines."""
    return {
        "series": report.series,
        "release": report.release,
        "states": _cell_objects(report.cells),
        "stopped": report.stopped,
        "tree": str(report.tree) if report.tree else None,
        "variant": report.variant,
        "serves": report.serves,
        "files": list(report.files),
    }


def print_exported(console: Console, report: Exported) -> None:
    """The files that were written."""
    for patch, state in report.skipped.items():
        console.print(f"left out, {state.words}: {patch}", style="cyan", highlight=False, soft_wrap=True)
    for name in report.files:
        console.print(str(report.folder / name), highlight=False, markup=False, soft_wrap=True)
    count = _count(len(report.files), "patch", "patches")
    line = f"{count} as on {report.release}: git am --keep-cr {report.folder}/*.patch"
    console.print(line, highlight=False, markup=False, soft_wrap=True)


_MARKS = {"=": "unchanged", "!": "changed", "<": "gone", ">": "new"}


def print_diff(console: Console, report: SeriesDiff) -> None:
    """git's range-diff, under a line that says what is compared and above one that sums it up."""
    console.print(
        f"{report.series}: {report.before} against {report.after}, on {report.release}", style="bold", highlight=False
    )
    for line in report.text.splitlines():
        console.print(line, style=_line_style(line), highlight=False, markup=False, soft_wrap=True)
    counts = [f"{n} {words}" for mark, words in _MARKS.items() if (n := sum(p.mark == mark for p in report.pairs))]
    console.print(f"{', '.join(counts) or f'no patch of either changes {report.release}'}.", highlight=False)


def _line_style(line: str) -> str:
    """The colours of git's `--dual-color`, told by the outer sign."""
    if line[:4].strip():
        return "bold"
    return {"+": "green", "-": "red"}.get(line[4:5], "")


def diff_object(report: SeriesDiff) -> dict[str, Any]:
    """A range-diff for machines."""
    return {
        "series": report.series,
        "before": report.before,
        "after": report.after,
        "release": report.release,
        "unchanged": report.unchanged,
        "pairs": [
            {"before": p.before, "after": p.after, "change": _MARKS[p.mark], "subject": p.subject} for p in report.pairs
        ],
        "text": report.text,
    }
