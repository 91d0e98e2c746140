# SPDX-License-Identifier: Apache-2.0
"""One probe at a time on an accelerator: over threads, processes and workspaces of one machine."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from headwater.core.errors import Abandoned
from headwater.core.events import Emit, Note, silent
from headwater.core.results import has_accelerator, with_index

# Which devices a process sees, by kind: its first is the first of this list.
_VISIBLE = {"cuda": ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"), "xpu": ("ZE_AFFINITY_MASK",)}
_PATIENCE = 5.0  # seconds of waiting that nobody has to be told of
_STEP = 0.2  # seconds between two looks at whether anybody still waits


def hardware_name(device: str, environ: Mapping[str, str]) -> str:
    """What a device is on this machine: `cuda:0` under CUDA_VISIBLE_DEVICES=3 is `cuda-3`."""
    kind, _colon, index = with_index(device).partition(":")
    for variable in _VISIBLE.get(kind, ()):
        visible = [part.strip() for part in environ.get(variable, "").split(",") if part.strip()]
        if int(index) < len(visible):
            return f"{kind}-{re.sub('[^A-Za-z0-9.-]', '_', visible[int(index)])}"
    return f"{kind}-{index}"


@contextmanager
def alone_on(
    device: str, environ: Mapping[str, str], abandoned: Callable[[], bool] = bool, emit: Emit = silent,
    folder: Path | None = None,
) -> Iterator[None]:  # fmt: skip
    """Hold an accelerator; whoever holds it already is waited for. cpu and meta are held by nobody. `folder` is that of
    the locks, by default the system's for temporary files, which all workspaces and users share.

    Raises:
        Abandoned: nobody waits for it any more.
    """
    if not has_accelerator(device):
        yield
        return
    name = hardware_name(device, environ)
    place = folder or Path(tempfile.gettempdir())
    lock = FileLock(place / f"headwater-{name}.lock", mode=0o666)
    waited = 0.0
    while not _held(lock):
        if abandoned():
            raise Abandoned(f"nobody waits for {device} any more")
        waited += _STEP
        if waited - _STEP <= _PATIENCE < waited:
            emit(Note(f"waiting for {device}: another probe runs on it"))
    try:
        yield
    finally:
        lock.release()


def _held(lock: FileLock) -> bool:
    """Whether a lock could be taken within a moment."""
    try:
        lock.acquire(timeout=_STEP)
    except Timeout:
        return False
    return True
