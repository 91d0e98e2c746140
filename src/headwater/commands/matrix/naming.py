# SPDX-License-Identifier: Apache-2.0
"""Which cases the failures of the conformance suite belong to, by the workspace's table and the atlas."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.known_failures import Naming, name_failures
from headwater.core.matrix import Cell
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Verdict


def name_cells(
    context: Context, results: Mapping[Cell, ProbeResult], mended: Callable[[Cell], Collection[str]]
) -> dict[Cell, Naming]:
    """The cases of every run of the conformance suite in which something failed; empty without a table.

    A failure can belong to a case that the atlas has as bad on the release, or says nothing of, unless the cell's
    series `mended` it.

    Raises:
        BadInput: the table cannot be read.
    """
    runs = {
        cell: result
        for cell, result in results.items()
        if cell.row.kind == "conformance" and any(one.result == "failed" for one in result.tests)
    }
    known = context.workspace.known_failures() if runs else None
    if known is None:
        return {}
    return {cell: name_failures(known, row.tests, _can_be(context, cell, mended(cell))) for cell, row in runs.items()}


def _can_be(context: Context, cell: Cell, mended: Collection[str]) -> Callable[[str], bool]:
    release = Version(cell.revision) if len(cell.revision) < 40 else None
    atlas = context.workspace.atlas
    return lambda case: case not in mended and atlas.expected(case, release) in (Verdict.BAD, None)


def unless_named(results: Mapping[Cell, ProbeResult], namings: Mapping[Cell, Naming]) -> dict[Cell, ProbeResult]:
    """The results, of which a run with a failure that belongs to no case is not as expected."""
    unnamed = {cell for cell, naming in namings.items() if naming.unnamed}
    return {cell: replace(row, expected=Verdict.GOOD) if cell in unnamed else row for cell, row in results.items()}
