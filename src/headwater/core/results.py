# SPDX-License-Identifier: Apache-2.0
"""What commands hand to the report layer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headwater.core.errors import BadInput
from headwater.core.verdicts import Evidence, Verdict

_DEVICE = re.compile(r"(cpu|meta|(cuda|mps|xpu)(:\d+)?)")


def parse_devices(words: Sequence[str]) -> list[str]:
    """Device names out of `--device` options, each of which may hold several with commas.

    Raises:
        BadInput: no device that torch could have is called so.
    """
    names = [name.strip() for word in words for name in word.split(",")]
    for name in names:
        if not _DEVICE.fullmatch(name):
            raise BadInput(f"{name!r} is no device; there are cpu, meta, cuda, mps and xpu, and e.g. cuda:1")
    return list(dict.fromkeys(names))


def has_accelerator(device: str) -> bool:
    """Whether a device is hardware of its own, which may be missing and which maps memory of its own."""
    return device not in ("cpu", "meta")


@dataclass(frozen=True)
class ProbeResult:
    """One probe's row.

    `series` is None on an unpatched tree; `seconds` is the wall time of the probe when it ran; `cached` that it ran
    earlier; `environment` the environment's key, None where there is none; `expected` what the atlas, or the series,
    says, None where nothing is known.
    """

    case: str
    revision: str
    series: str | None
    device: str
    verdict: Verdict
    evidence: Evidence
    seconds: float
    cached: bool
    tree: str
    environment: str | None
    expected: Verdict | None = None

    @property
    def as_expected(self) -> bool:
        """Whether this is what was expected; without an expectation, only `good` and `absent` are.

        A device that is not there never is: not tested is not passed.
        """
        if self.expected is not None:
            return self.verdict == self.expected
        return self.verdict in (Verdict.GOOD, Verdict.ABSENT)


@dataclass(frozen=True)
class Surroundings:
    """Where probes ran, for the line above a table. `environment` is a key, `environment_name` its group's name."""

    package: str
    revision: str
    torch: str
    python: str
    platform: str
    environment: str | None
    environment_name: str | None
    devices: tuple[str, ...]


def exit_status(rows: Sequence[ProbeResult]) -> int:
    """The status of a set of probes: 0 as expected, 5 where Headwater or the machine failed, else 1."""
    if any(row.verdict is Verdict.HARNESS_ERROR for row in rows):
        return 5
    return 0 if rows and all(row.as_expected for row in rows) else 1
