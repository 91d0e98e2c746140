# SPDX-License-Identifier: Apache-2.0
"""`headwater init`: lay out a workspace."""

from __future__ import annotations

from pathlib import Path

from headwater.core.new_workspace import About, InitReport, files_of, shipped_library, steps
from headwater.core.releases import parse_version
from headwater.effects.shipping import lay_out, shipped_files, templates


def init(folder: Path, library: str | None, first: str | None, torch: str | None) -> InitReport:
    """Lay out a workspace in `folder`, about `library` or the one that Headwater ships the pins of.

    Raises:
        BadInput: the folder is not empty; the library's name or its oldest release cannot be taken.
    """
    shipped = shipped_files()
    oldest = parse_version(first) if first is not None else None
    about = About(library or shipped_library(shipped), oldest, torch)
    files = files_of(about, shipped, templates())
    lay_out(folder, files)
    return InitReport(str(folder), about.library, tuple(files), steps(about, shipped))
