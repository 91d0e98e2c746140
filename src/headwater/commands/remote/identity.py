# SPDX-License-Identifier: Apache-2.0
"""Who this process is, as far as its verdicts depend on it."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import headwater
from headwater.commands.context import Context
from headwater.core.errors import HeadwaterError
from headwater.core.workers import SERIES, Identity
from headwater.effects.child_process import CHILD_VERSION
from headwater.effects.uv import python_version


def identify(context: Context, name: str) -> Identity:
    """Who this process is, in this workspace, on this machine."""
    workspace = context.workspace
    return Identity(
        name,
        {
            "Headwater": f"{headwater.__version__} ({code_of(Path(headwater.__file__).parent)})",
            "child": CHILD_VERSION,
            "pins": _of_files(workspace.upstream, [workspace.pins_file]),
            "locks": _of_files(
                workspace.upstream, [workspace.upstream / group.lock for group in workspace.pins.groups]
            ),
            SERIES: _of_files(workspace.patches, workspace.patches.rglob("*")),
            "Python": python_version(),
            "platform": sysconfig.get_platform(),
            "torch": _torch(context),
        },
    )


def code_of(package: Path) -> str:
    """Twelve digits for the code of Headwater's package. What is shipped for new workspaces lies there in a wheel
    alone, and is no code of this process."""
    files = (path for path in package.rglob("*.py") if path.relative_to(package).parts[0] != "shipped")
    return _of_files(package, files)


def _of_files(folder: Path, files: Iterable[Path]) -> str:
    """Twelve digits for the content of files, by their places in a folder."""
    parts = [(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(files) if path.is_file()]
    return sha256(
        b"".join(b"%d %d " % (len(name), len(text)) + name.encode() + text for name, text in parts)
    ).hexdigest()[:12]


def _torch(context: Context) -> str:
    """The torch of its environments, or why there is none: said to whoever looks for workers, not raised."""
    try:
        return context.environments.torch or "none"
    except HeadwaterError as error:
        return f"not to be had: {error}"
