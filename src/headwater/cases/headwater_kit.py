# SPDX-License-Identifier: Apache-2.0
"""What the cases share that run something of a user's; it travels beside them."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).parent


def target() -> dict[str, Any]:
    """What is to be run."""
    told: dict[str, Any] = json.loads((HERE / "headwater_target.json").read_text(encoding="utf-8"))
    return told


@contextlib.contextmanager
def in_place(folder: Path, package: str) -> Iterator[None]:
    """Be in a folder, with an environment whose `python` is the probed one and imports the probed library."""
    library = Path(sys.modules[package].__file__ or "").parent.parent
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    os.environ["PYTHONPATH"] = str(library)
    # The tree is shared by every probe of it.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def end_with(status: int) -> NoReturn:
    """End the probe as a process with this exit status ends: by the exception ExitStatus1, ExitStatus125, ... What the
    numbers mean is for the caller to say, who also knows what was printed."""
    raise type(f"ExitStatus{status}", (Exception,), {})(f"it ended with status {status}")
