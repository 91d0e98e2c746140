# SPDX-License-Identifier: Apache-2.0
"""Where torch comes from: a local wheel by find-links, else uv's torch backend `auto`, else the index.

A CUDA build of several GB on a machine without a GPU is never taken unasked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from headwater.core.errors import EnvironmentUnavailable
from headwater.core.index_settings import find_links
from headwater.effects.index import Index
from headwater.effects.proc import ProcessFailed
from headwater.effects.uv import run_uv

ALLOW = "HEADWATER_ALLOW_CUDA_TORCH"
LARGE = 1_000_000_000  # bytes: the CPU builds stay well below, the CUDA builds with their libraries well above


@dataclass(frozen=True)
class TorchSource:
    """The torch that environments get: its full version with the build ("2.13.0+cpu"), and uv's arguments for it."""

    version: str
    arguments: tuple[str, ...]


def find_torch(wanted: str, index: Index, offline: bool = False) -> TorchSource:
    """Find torch `wanted` for this machine and Python.

    Raises:
        EnvironmentUnavailable: it cannot be had, or only as a CUDA build on a machine without a GPU; the message has
            the size and the switch that allows it.
    """
    local = _local_wheel(wanted)
    if local is not None:
        return TorchSource(local, (f"torch=={local}",))
    failures = []
    for backend in (("--torch-backend", "auto"), ()):
        try:
            lines = _resolve(wanted, backend, offline)
        except ProcessFailed as error:
            failures.append(error.output.strip())
            continue
        version = next(line.partition("==")[2] for line in lines if line.startswith("torch=="))
        if "+" not in version:
            _refuse_large(lines, index)
        return TorchSource(version, (f"torch=={version}", *backend))
    raise EnvironmentUnavailable(
        f"torch {wanted} for this Python is neither among the wheels of UV_FIND_LINKS or PIP_FIND_LINKS nor to be had "
        f"from the index: {failures[-1]}"
    )


def _local_wheel(wanted: str) -> str | None:
    """The version of the best fitting wheel in the find-links folders."""
    supported = {tag: rank for rank, tag in enumerate(sys_tags())}
    best: tuple[int, Version] | None = None
    for link in find_links(os.environ):
        folder = Path(link.removeprefix("file://"))
        for path in folder.glob("torch-*.whl") if folder.is_dir() else ():
            try:
                _name, version, _build, tags = parse_wheel_filename(path.name)
            except InvalidWheelFilename:
                continue
            ranks = [supported[tag] for tag in tags if tag in supported]
            if version.public == wanted and ranks and (best is None or min(ranks) < best[0]):
                best = (min(ranks), version)
    return str(best[1]) if best else None


def _resolve(wanted: str, backend: tuple[str, ...], offline: bool) -> list[str]:
    """The pinned requirements that installing torch would bring."""
    text = run_uv(
        "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", *backend,
        stdin=f"torch=={wanted}\n", offline=offline,
    )  # fmt: skip
    return [line.split(" ")[0].split(";")[0] for line in text.splitlines() if "==" in line]


def _refuse_large(lines: list[str], index: Index) -> None:
    if os.environ.get(ALLOW) == "1" or has_gpu_driver():
        return
    names = [Requirement(line) for line in lines if line.startswith(("torch==", "nvidia", "triton", "cuda"))]
    sizes = [index.size_of(r.name, next(iter(r.specifier)).version) or 0 for r in names]
    if sum(sizes) > LARGE:
        raise EnvironmentUnavailable(
            f"only a CUDA build of torch is to be had here, {sum(sizes) / 1e9:.1f} GB to download, and this machine "
            f"has no GPU. Point UV_FIND_LINKS at a folder with a CPU wheel, or set {ALLOW}=1 to take the large one"
        )


def has_gpu_driver() -> bool:
    """Whether a driver for an NVIDIA GPU is loaded."""
    return Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidiactl").exists()
