# SPDX-License-Identifier: Apache-2.0
"""A bundle read from its folder, wherever that was moved: patches, cases and evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headwater import __version__
from headwater.commands.context import Context
from headwater.commands.pr.replay import Bundle
from headwater.core.cases import Case
from headwater.core.errors import BadInput
from headwater.core.mail import read_patch
from headwater.core.pr_evidence import CASES, EVIDENCE_TEXT, PrEvidence
from headwater.effects.pr_folder import read_bundle_evidence, read_patches
from headwater.effects.workspace import cases_in
from headwater.report.pr_files import evidence_text


@dataclass(frozen=True)
class Held:
    """What a folder holds: its evidence, its patch files, and its cases by id."""

    folder: Path
    evidence: PrEvidence
    patches: Mapping[str, bytes]
    cases: Mapping[str, Case]

    def text(self, name: str) -> str | None:
        """A text file of the bundle; None where there is none.

        Raises:
            BadInput: it is not UTF-8.
        """
        path = self.folder / name
        try:
            return path.read_text(encoding="utf-8") if path.is_file() else None
        except UnicodeDecodeError as error:
            raise BadInput(f"{path}: not UTF-8 at byte {error.start}") from error

    @property
    def shows_its_evidence(self) -> bool:
        """Whether EVIDENCE.md says what evidence.json says. Another Headwater may have laid it out otherwise: then it
        must be as that wrote it."""
        text = self.text(EVIDENCE_TEXT)
        if text is None or text == evidence_text(self.evidence):
            return text is not None
        written = hashlib.sha256(text.encode()).hexdigest() == self.evidence.written.get(EVIDENCE_TEXT)
        return written and self.evidence.headwater != __version__

    def bundle(self) -> Bundle:
        """The patches as they lie there, with what the evidence says that they are probed by.

        Raises:
            BadInput: a patch cannot be read.
        """
        known = {one.file: one for one in self.evidence.patches}
        return Bundle(
            series=self.evidence.series,
            patches=tuple(read_patch(file, content) for file, content in self.patches.items()),
            cases={file: known[file].cases if file in known else () for file in self.patches},
            sources={file: known[file].source if file in known else "" for file in self.patches},
            known=self.cases,
            devices=self.evidence.devices,
            releases=self.evidence.releases,
        )


def hold(context: Context, folder: Path) -> Held:
    """Read a bundle.

    Raises:
        BadInput: the folder is none, or a file of it cannot be read.
    """
    folder = folder.resolve()
    evidence = read_bundle_evidence(folder)
    package = context.workspace.pins.package
    if evidence.package != package:
        raise BadInput(f"{folder} is for {evidence.package}, and this workspace is for {package}")
    cases: dict[str, Case] = {}
    if evidence.cases:
        cases = {case.id: case for case in cases_in(folder / CASES, context.workspace.helpers)}
    patches = read_patches(folder)
    if not patches:
        raise BadInput(f"{folder} holds no *.patch file; make the bundle anew with `headwater pr {evidence.series}`")
    return Held(folder, evidence, patches, cases)
