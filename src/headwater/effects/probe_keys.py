# SPDX-License-Identifier: Apache-2.0
"""What a probe may use, and the key under which the store knows it."""

from __future__ import annotations

import platform

from headwater.core.cases import Case
from headwater.core.keys import Device, Limits, verdict_key
from headwater.core.results import has_accelerator
from headwater.effects.child_process import CHILD_VERSION, passed_on

_MEMORY = 16 << 30
_OUTPUT = 32 << 20
_PROCESSES = 256


def limits_of(device: str, seconds: int) -> Limits:
    """The limits of a probe that may take `seconds` of wall time."""
    return Limits(seconds, 0 if has_accelerator(device) else _MEMORY, _OUTPUT, _PROCESSES)


def plain_device(name: str) -> Device | None:
    """A device that needs no hardware of its own; None for others, which torch has to be asked about."""
    return None if has_accelerator(name) else Device(name, platform.machine() if name == "cpu" else "", "")


def key_of(tree: str, case: Case, environment: str, device: Device, limits: Limits, repetition: int = 0) -> str:
    """The key of one repetition of a probe; `environment` is an environment's key."""
    return verdict_key(
        tree=tree, case_file=case.file, case_files=case.files, environment=environment, device=device, limits=limits,
        child=CHILD_VERSION, variables=passed_on(), repetition=repetition,
    )  # fmt: skip
