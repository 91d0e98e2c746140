# SPDX-License-Identifier: Apache-2.0
"""`headwater atlas show` and `headwater atlas page`: the atlas for readers."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.commands.context import Context
from headwater.commands.repro import choose_cases
from headwater.core.atlas import Atlas
from headwater.core.atlas_page import atlas_page, readme_table, with_table
from headwater.core.cases import Case
from headwater.effects.files import write_atomically
from headwater.effects.series_folder import series_names


@dataclass(frozen=True)
class PageReport:
    """The pages that differ from what the atlas says, by path in the workspace, and whether they were written."""

    outdated: tuple[str, ...]
    written: bool


def shown(context: Context, case: str | None) -> tuple[Atlas, list[Case], dict[str, list[str]]]:
    """The atlas, the cases to show, and the series that mend each.

    Raises:
        BadInput: there is no such case.
    """
    cases = choose_cases(context.workspace.atlas_cases(), [case] if case is not None else [])
    return context.workspace.atlas, cases, series_by_case(context)


def series_by_case(context: Context) -> dict[str, list[str]]:
    """The series that mend each case, by their patches' trailers."""
    found: dict[str, list[str]] = {}
    for name in series_names(context.workspace.patches):
        for patch in context.workspace.series(name).patches:
            for case in (*patch.cases, *patch.also):
                if name not in found.setdefault(case, []):
                    found[case].append(name)
    return found


def page(context: Context, write: bool) -> PageReport:
    """Compare docs/atlas.md and the README's table with the atlas, and write them with `write`.

    Raises:
        BadInput: the README has no place for the table.
    """
    workspace = context.workspace
    cases, series = workspace.atlas_cases(), series_by_case(context)
    readme = workspace.root / "README.md"
    wanted = {workspace.root / "docs" / "atlas.md": atlas_page(workspace.atlas, cases, series)}
    if readme.is_file():
        wanted[readme] = with_table(workspace.read_text(readme), readme_table(workspace.atlas, cases, series))
    outdated = {path: text for path, text in wanted.items() if not path.is_file() or workspace.read_text(path) != text}
    for path, text in outdated.items() if write else ():
        write_atomically(path, text)
    return PageReport(tuple(str(path.relative_to(workspace.root)) for path in outdated), write)
