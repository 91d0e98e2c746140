# SPDX-License-Identifier: Apache-2.0
"""Which version of the library the user's own environment has, found without importing it.

Headwater runs in an environment of its own, so it asks the user's interpreter for the metadata of what is installed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headwater.core.errors import BadInput
from headwater.core.redaction import redact
from headwater.effects import proc

# Set by headwater.bootstrap: the interpreter that a script was started with, before it went on in Headwater's own.
STARTED_BY = "HEADWATER_STARTED_BY"
_OURS = (".headwater", ".nox")
_SECONDS = 60
_ASK = """
import json, sys
del sys.path[0]
from importlib.metadata import PackageNotFoundError, distribution
try:
    found = distribution(sys.argv[1])
    said = {"version": found.version, "place": str(found.locate_file("")), "origin": found.read_text("direct_url.json")}
except PackageNotFoundError:
    said = None
print(json.dumps(said))
"""


@dataclass(frozen=True)
class Installed:
    """A package as an environment has it: its version, the folder that it lies in or below, the interpreter that was
    asked, and how that was found. `origin` tells in words where it came from, if not from an index: a commit, or a
    folder that may have been edited."""

    version: str
    place: Path
    python: Path
    found_by: str
    origin: str | None = None


def find_installed(package: str, python: Path | None, environ: Mapping[str, str], own: Path) -> Installed:
    """Find a package: in the environment that `python` (an interpreter, or an environment's folder) names; else in the
    active one (VIRTUAL_ENV, CONDA_PREFIX); else in that of the interpreter that Headwater was started with, `own` if
    nobody says another, or of the first `python` on PATH that has it.

    Raises:
        BadInput: it is not there; every interpreter that was asked is named.
    """
    places = _places(python, environ, own)
    asked = []
    for interpreter, found_by in places:
        said = _ask(interpreter, package)
        if said is not None:
            told = json.loads(said["origin"] or "{}")
            place = _checkout(told) or Path(said["place"])
            return Installed(said["version"], place, interpreter, found_by, _origin(told))
        asked.append(f"{interpreter} ({found_by})")
    looked = f"looked at {', '.join(asked)}" if asked else "there is no active environment, and no python on PATH"
    raise BadInput(
        f"{package} is not installed: {looked}. Activate the environment, name its interpreter with --python, or name "
        "a release: headwater audit 5.10.1"
    )


def _places(python: Path | None, environ: Mapping[str, str], own: Path) -> list[tuple[Path, str]]:
    """The interpreters to ask, in order, and what names each."""
    if python is not None:
        return [(_interpreter(python, "--python"), "--python")]
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = environ.get(name)
        # An activated environment is the one that the user is in, whatever others have.
        if folder and not _is_ours(Path(folder)):
            return [(_interpreter(Path(folder), name), name)]
    found = {Path(environ.get(STARTED_BY, own)): "Headwater was started with it"}
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        for name in ("python", "python3"):
            path = shutil.which(name, path=folder) if folder else None
            if path is not None:
                found.setdefault(Path(path), "on PATH")
    return [(path, why) for path, why in found.items() if not _is_ours(path)]


def _is_ours(path: Path) -> bool:
    """Whether a path lies in an environment that Headwater or nox made for itself."""
    return any(part in _OURS for part in path.absolute().parts)


def _interpreter(path: Path, named_by: str) -> Path:
    candidates = [path / "bin" / "python", path / "bin" / "python3"] if path.is_dir() else [path]
    for candidate in candidates:
        if candidate.is_file():
            return candidate.absolute()
    raise BadInput(f"{named_by} is {path}, and there is no Python interpreter; name one, or an environment's folder")


def _ask(python: Path, package: str) -> dict[str, str] | None:
    try:
        said: dict[str, str] | None = json.loads(proc.run([str(python), "-c", _ASK, package], seconds=_SECONDS))
    except (proc.ProcessFailed, ValueError) as error:
        raise BadInput(
            f"{python} cannot be asked what is installed (it must be Python 3.8 or later): {error}"
        ) from error
    return said


def _checkout(told: Mapping[str, Any]) -> Path | None:
    """The folder that an editable package is imported from."""
    url = urlsplit(told.get("url", ""))
    return Path(unquote(url.path)) if told.get("dir_info", {}).get("editable") and url.scheme == "file" else None


def _origin(told: Mapping[str, Any]) -> str | None:
    """Where a package came from that was not installed from an index (PEP 610), unless it was a release's file."""
    if "vcs_info" in told:
        return f"commit {told['vcs_info'].get('commit_id', 'unknown')} of {redact(told['url'])}"
    if "dir_info" in told:
        return f"the folder {redact(told['url'])}" + (", editable" if told["dir_info"].get("editable") else "")
    return None
