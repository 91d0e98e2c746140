# SPDX-License-Identifier: Apache-2.0
"""`headwater doctor`: what this machine has of what Headwater uses."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from headwater.commands.context import Context
from headwater.core import diagnosis
from headwater.core.diagnosis import Finding, State
from headwater.core.errors import BadInput, HeadwaterError
from headwater.core.index_settings import find_links
from headwater.core.redaction import redact
from headwater.effects import git, proc
from headwater.effects.index import Index
from headwater.effects.torch_source import has_gpu_driver
from headwater.effects.upstream_sources import ask_head
from headwater.effects.uv import python_version, uv_version
from headwater.effects.workspace import Workspace

T = TypeVar("T")

# Asked in a probe's environment, which has torch: the accelerators that it can use.
_DEVICES = """
import json, torch
seen = [f"cuda:{n} ({torch.cuda.get_device_name(n)})" for n in range(torch.cuda.device_count())]
seen += ["mps"] if torch.backends.mps.is_available() else []
seen += [f"xpu:{n}" for n in range(torch.xpu.device_count())] if hasattr(torch, "xpu") else []
print(json.dumps(seen))
"""
_SECONDS = 120.0  # for torch to be imported from a cold disk
_SESSIONS = "no sessions such as `nox -s repro-5.10.1`; `headwater` and scripts/ do the same"


def doctor(context: Context, repo: str | None) -> list[Finding]:
    """Look at everything, and change nothing. `repo` is where the upstream repository should answer."""
    workspace, _why = _tried(lambda: context.workspace)
    pins, why = _tried(lambda: context.workspace.pins)
    if isinstance(workspace, Workspace) and pins is None:
        raise BadInput(why)
    version, no_git = _tried(git.version)
    uv, no_uv = _tried(uv_version)
    found = [
        diagnosis.of_python(python_version(), pins),
        diagnosis.of_git(version, no_git),
        diagnosis.of_uv(uv, no_uv),
        diagnosis.of_platform(sys.platform),
        diagnosis.of_workspace(str(workspace.root) if workspace else None, len(pins.releases) if pins else 0),
    ]
    if workspace is not None:
        found += _of_workspace(context, uv is not None, version is not None)
        found.append(_remote(context, repo))
    return [*found, diagnosis.of_encoding(sys.stdout.encoding or "none"), *_programs()]


def _of_workspace(context: Context, has_uv: bool, has_git: bool) -> list[Finding]:
    """What can only be told with the pins: caches, index, torch, devices."""
    place = context.workspace.cache.root
    exists = next(folder for folder in (place, *place.parents) if folder.is_dir())
    found = [
        diagnosis.of_caches(str(place), os.access(exists, os.W_OK), shutil.disk_usage(exists).free),
        _index(context, has_git and has_uv),
    ]
    if not has_uv:
        return found
    if context.workspace.pins.torch is None:
        return found  # A library without torch: there is nothing to come from anywhere, and cpu is the only device.
    torch, no_torch = _tried(lambda: context.environments.torch)
    links = [redact(link) for link in find_links(os.environ)]
    return [*found, diagnosis.of_torch(torch, no_torch, links), _devices(context)]


def _devices(context: Context) -> Finding:
    python = _environment(context)
    if python is None:
        return diagnosis.of_devices(None, has_gpu_driver())
    said, error = _tried(lambda: proc.run([str(python), "-I", "-B", "-c", _DEVICES], seconds=_SECONDS))
    return diagnosis.of_devices(json.loads(said) if said else None, has_gpu_driver(), error)


def _index(context: Context, able: bool) -> Finding:
    """Whether the index lists the package; asked once, without patience."""
    index = Index(context.emit, context.offline, attempts=1)
    if context.offline:
        return Finding("index", State.NOT_ASKED, f"{index.name}: --offline")
    ready = able and bool(context.mirror.imported()) and _environment(context) is not None
    _listed, error = _tried(lambda: index.releases(context.workspace.pins.package))
    return diagnosis.of_index(index.name, error or None, ready)


def _environment(context: Context) -> Path | None:
    """The interpreter of an environment that stands, of the newest releases that have one."""
    for group in reversed(context.workspace.pins.groups):
        pin = context.workspace.pins.pin(group.last)
        described, _why = _tried(lambda pin=pin: context.environments.describe(pin))  # type: ignore[misc]
        if described is not None and described.python.exists():
            return Path(described.python)
    return None


def _remote(context: Context, repo: str | None) -> Finding:
    if repo is None:
        return diagnosis.of_remote(None, None)
    if context.offline:
        return Finding("remote", State.NOT_ASKED, f"{redact(repo)}: --offline")
    _head, error = _tried(lambda: ask_head(repo))
    return diagnosis.of_remote(redact(repo), error or None)


def _programs() -> list[Finding]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    dask = find_spec("distributed")
    return [
        diagnosis.of_program("nox", shutil.which("nox"), _SESSIONS, "python -m pip install nox"),
        diagnosis.of_program(
            "dask", dask.origin if dask else None, "no --executor dask, scheduler, worker",
            "python -m pip install 'headwater[dask]'",
        ),
        diagnosis.of_program(
            "chromium", chromium, "Headwater's own tests of the report are skipped", "apt-get install chromium"
        ),
        diagnosis.of_program(
            "npm", shutil.which("npm"), "those of accessibility and of the workflows are skipped", "install Node.js"
        ),
    ]  # fmt: skip


def _tried(ask: Callable[[], T]) -> tuple[T | None, str]:
    """What `ask` gives; or None, and the words of its failure, of which the first line says enough."""
    try:
        return ask(), ""
    except HeadwaterError as error:
        return None, str(error).strip().splitlines()[0]
