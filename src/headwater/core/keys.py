# SPDX-License-Identifier: Apache-2.0
"""Keys by value: two things with the same key behave the same, so what is known of one is known of the other."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache


def digest(parts: Mapping[str, object]) -> str:
    """The sha256 of `parts` as canonical JSON, in hexadecimal."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=64)
def environment_key(lock: str, torch: str | None, python: str, platform: str) -> str:
    """An environment's key: the lock's text without torch, torch's version and build (or None), Python x.y.z, the
    platform.

    Comments and blank lines of the lock do not count.
    """
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in lock.splitlines()]
    wanted = [line for line in lines if line]
    return digest({"lock": wanted, "torch": torch, "python": python, "platform": platform})


@dataclass(frozen=True)
class Device:
    """Where a probe runs: the name as torch takes it ("cpu", "cuda:1"), the hardware's model and its driver."""

    name: str
    model: str
    driver: str


@dataclass(frozen=True)
class Limits:
    """What a probe may use: seconds of wall time, bytes of address space, bytes of output, processes."""

    seconds: int
    memory: int
    output: int
    processes: int


def verdict_key(
    *,
    tree: str,
    case_file: str,
    case_files: Mapping[str, bytes],
    environment: str,
    device: Device,
    limits: Limits,
    child: str,
    variables: Mapping[str, str],
    repetition: int,
) -> str:
    """The key under which a verdict is stored: everything that it depends on.

    `case_file` is the one of `case_files` that is run; `child` is the child's version; `variables` are those of the
    caller's environment that reach the probe.
    """
    files = {name: hashlib.sha256(content).hexdigest() for name, content in case_files.items()}
    return digest(
        {
            "tree": tree,
            "case": case_file,
            "files": files,
            "environment": environment,
            "device": asdict(device),
            "limits": asdict(limits),
            "child": child,
            "variables": dict(variables),
            "repetition": repetition,
        }
    )
