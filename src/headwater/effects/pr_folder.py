# SPDX-License-Identifier: Apache-2.0
"""A bundle as it lies in a folder of a person's."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from headwater.core.errors import BadInput
from headwater.core.pr_evidence import BODY, CASES, CHECKLIST, EVIDENCE, RANGE_DIFF, PrEvidence, read_evidence
from headwater.effects.files import write_atomically

# What a person goes on writing.
_PERSONS = (BODY, CHECKLIST)


def read_bundle_evidence(folder: Path) -> PrEvidence:
    """The evidence of a bundle.

    Raises:
        BadInput: the folder holds none, or it cannot be read.
    """
    path = folder / EVIDENCE
    if not path.is_file():
        raise BadInput(f"{folder} is no bundle of `headwater pr`: there is no {EVIDENCE} in it")
    try:
        return read_evidence(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}") from error


def read_patches(folder: Path) -> dict[str, bytes]:
    """The patch files of a bundle, by name, in order."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.patch"))}


def write_bundle(
    folder: Path, contents: Mapping[str, bytes], former: PrEvidence | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write a bundle's files, by their paths in the folder, in their order; in place of `former`, the bundle that lies
    there. The files that were written, and those that were left, since a person wrote in them.

    Raises:
        BadInput: something that is not of the bundle lies there under a name that is needed, or is a patch.
    """
    if other := next((one for one in (folder, *folder.parents) if one.exists() and not one.is_dir()), None):
        raise BadInput(f"{other} is there and is no folder; name another by --output")
    ours = _files_of(former) if former is not None else set()
    for name, content in read_patches(folder).items():
        # Where a run was killed a patch may be written that the evidence does not know yet.
        if name not in ours and contents.get(name) != content:
            raise BadInput(f"{folder / name} is there, and is no patch of a bundle; name another folder by --output")
    for name in [*contents, CASES] if former is None else []:
        if (folder / name).exists():
            raise BadInput(f"{folder / name} is there already; name another folder by --output")
    kept = tuple(
        name for name in _PERSONS if former is not None and _is_written(folder / name, former.written.get(name))
    )
    written = [name for name in contents if name not in kept]
    for name in written:
        write_atomically(folder / name, contents[name])
    for name in ours - contents.keys():
        (folder / name).unlink(missing_ok=True)
    return tuple(written), kept


def _files_of(evidence: PrEvidence) -> set[str]:
    """What a bundle holds beside its evidence that no person writes."""
    cases = {f"{CASES}/{name}" for one in evidence.cases.values() for name in one.files}
    return {one.file for one in evidence.patches} | cases | {RANGE_DIFF}


def _is_written(path: Path, known: str | None) -> bool:
    """Whether a file is not as Headwater wrote it."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != known
