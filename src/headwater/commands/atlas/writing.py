# SPDX-License-Identifier: Apache-2.0
"""The file of the atlas, read and written."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.core.atlas import Atlas, read_atlas
from headwater.core.atlas_text import atlas_text, comments_below, header_of
from headwater.effects.files import write_atomically
from headwater.effects.workspace import Workspace


@dataclass(frozen=True)
class Draft:
    """An atlas as it would be written: `text` in the place of `before`, which is empty where there is no file."""

    before: str
    text: str

    @property
    def changed(self) -> bool:
        """Whether it differs from what is there."""
        return self.text != self.before

    @property
    def lost_comments(self) -> tuple[int, ...]:
        """The lines of the file whose comments it does not have."""
        return tuple(comments_below(self.before))


def draft(workspace: Workspace, atlas: Atlas) -> Draft:
    """The text of an atlas, with the header that the file has."""
    file = workspace.atlas_file
    before = file.read_text(encoding="utf-8") if file.is_file() else ""
    text = atlas_text(atlas, header_of(before))
    # What is written must be readable, and say the same.
    if read_atlas(text, file.name) != atlas:
        raise AssertionError("the atlas as it would be written reads otherwise")
    return Draft(before, text)


def present(workspace: Workspace) -> Atlas:
    """The atlas as its file says it now, whatever was read before."""
    return read_atlas(workspace.read_text(workspace.atlas_file), workspace.atlas_file.name)


def write(workspace: Workspace, made: Draft) -> None:
    """Write it, by one step."""
    write_atomically(workspace.atlas_file, made.text)
