# SPDX-License-Identifier: Apache-2.0
"""What ruff says of files, by upstream's settings."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from headwater.core.errors import HarnessError
from headwater.effects import proc

SETTINGS = "pyproject.toml"
# For where no checkout says how it is: upstream's line length, and the rules that ruff long had by default; by name,
# since its defaults change with its versions.
PLAIN_RULES = ("E4", "E7", "E9", "F")
PLAIN_SETTINGS = f"[tool.ruff]\nline-length = 119\nlint.select = {list(PLAIN_RULES)}\n".encode()
_BROKEN = "invalid-syntax"


@dataclass(frozen=True)
class Complaint:
    """What ruff says of a file: the rule's code ("format" where it would be laid out otherwise), and words."""

    path: str
    code: str
    text: str


def ruff_version() -> str:
    """The version of the ruff that runs.

    Raises:
        HarnessError: it is not installed.
    """
    return _ruff(Path.cwd(), "--version").split()[-1]


def complaints(folder: Path, settings: bytes, files: Mapping[str, bytes]) -> Counter[Complaint]:
    """What ruff says of files, by their paths in a checkout; laid out in the empty `folder` with its settings.

    Raises:
        HarnessError: it is not installed, or cannot read the settings.
    """
    (folder / SETTINGS).write_bytes(settings)
    python = [path for path in files if PurePosixPath(path).suffix == ".py"]
    for path in python:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(files[path])
    if not python:
        return Counter()
    root = folder.resolve()
    found: Counter[Complaint] = Counter()
    broken = set()
    for one in json.loads(_ruff(folder, "check", "--exit-zero", "--output-format=json", *python)):
        place = Path(one["filename"]).relative_to(root).as_posix()
        if one["code"] in (None, _BROKEN):
            broken.add(place)
        found[Complaint(place, one["code"] or _BROKEN, one["message"])] += 1
    sound = [path for path in python if path not in broken]
    if sound:
        _ruff(folder, "format", "--quiet", *sound)
    for path in sound:
        if (folder / path).read_bytes() != files[path]:
            found[Complaint(path, "format", "`ruff format` lays it out otherwise")] += 1
    return found


def _ruff(folder: Path, *words: str) -> str:
    try:
        return proc.run([sys.executable, "-m", "ruff", *words], cwd=folder, environ={"RUFF_NO_CACHE": "true"})
    except proc.ProcessFailed as error:
        if "No module named ruff" in error.output:
            raise HarnessError("ruff is not installed beside Headwater; `uv pip install ruff` adds it") from error
        raise
