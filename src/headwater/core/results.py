# SPDX-License-Identifier: Apache-2.0
"""What commands hand to the report layer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from headwater.core.errors import BadInput
from headwater.core.naming import nearest_told
from headwater.core.states import PatchState
from headwater.core.test_results import Changes, TestResults
from headwater.core.verdicts import Evidence, Outcome, Verdict

INTERRUPTED = 130
DEVICES = ("cpu", "meta", "cuda", "mps", "xpu")
MOST_REPETITIONS = 1000
_DEVICE = re.compile(r"(cpu|meta|(cuda|mps|xpu)(:\d+)?)")


def parse_devices(words: Sequence[str]) -> list[str]:
    """Device names out of `--device` options, each of which may hold several with commas.

    Raises:
        BadInput: no device that torch could have is called so.
    """
    names = [name.strip() for word in words for name in word.split(",")]
    for name in names:
        if not _DEVICE.fullmatch(name):
            near = nearest_told(name, DEVICES, alike=0.6)
            told = f"{near}; " if near else ""
            raise BadInput(f"{name!r} is no device; {told}there are cpu, meta, cuda, mps and xpu, and e.g. cuda:1")
    return list(dict.fromkeys(names))


def has_accelerator(device: str) -> bool:
    """Whether a device is hardware of its own, which may be missing and which maps memory of its own."""
    return device not in ("cpu", "meta")


def with_index(device: str) -> str:
    """A device's whole name: `cuda` is `cuda:0`."""
    return device if ":" in device or not has_accelerator(device) else f"{device}:0"


@dataclass(frozen=True)
class ProbeResult:
    """One probe's row.

    `series` is None on an unpatched tree; `seconds` is the wall time of the probe when it ran; `cached` that it ran
    earlier; `environment` the environment's key, None where there is none; `expected` what the atlas, or the series,
    says, None where nothing is known; `tests` what happened to each test of a case that runs many; `outcomes` what
    happened in each of `repetitions`, for another judgement of it, empty where nothing ran.
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
    tests: TestResults = ()
    outcomes: tuple[Outcome, ...] = ()
    repetitions: int = 1

    @property
    def as_expected(self) -> bool:
        """Whether this is what was expected; without an expectation, only `good` and `absent` are.

        A device that is not there never is: not tested is not passed.
        """
        if self.expected is not None:
            return self.verdict == self.expected
        return self.verdict in (Verdict.GOOD, Verdict.ABSENT)


def devices_of_patches(torch: str | None) -> list[str]:
    """Where a series is tested unless devices are named: meta as well as cpu, where there is a torch to have it."""
    return ["cpu", "meta"] if torch else ["cpu"]


def torch_words(torch: str | None) -> str:
    """What an environment has of torch, in words: "torch 2.13.0+cpu", or that there is none."""
    return f"torch {torch}" if torch else "no torch"


@dataclass(frozen=True)
class Surroundings:
    """Where probes ran, for the line above a table. `environment` is a key, `environment_name` its group's name."""

    package: str
    revision: str
    torch: str | None
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


@dataclass(frozen=True)
class ReproReport:
    """The rows of `repro`, where they were probed, how many probes ran for them, and whether it was interrupted."""

    rows: list[ProbeResult]
    surroundings: Surroundings
    ran: int
    interrupted: bool

    @property
    def exit_status(self) -> int:
        """The status that the command ends with."""
        return INTERRUPTED if self.interrupted else exit_status(self.rows)


def also_mended(row: ProbeResult) -> ProbeResult:
    """The row of a case on a patched tree, where no patch names the case: that it is good instead of bad is as little a
    failure as a test that newly passes."""
    mended = (row.expected, row.verdict) == (Verdict.BAD, Verdict.GOOD)
    return replace(row, expected=Verdict.GOOD) if mended else row


@dataclass(frozen=True)
class Comparison:
    """One line: a case, a patch's tests, or the conformance suite, on one device, before and after.

    `changes` is set where a suite is compared test by test.
    """

    title: str
    before: ProbeResult
    after: ProbeResult
    changes: Changes | None = None

    @property
    def sound(self) -> bool:
        """Whether no test that held before has ceased to hold."""
        return self.changes is None or self.changes.sound


@dataclass(frozen=True)
class PatchedRun:
    """All comparisons on one release with one set of patches; `failure` says why the patches do not apply there, and
    `skipped` which of them nothing there needs: fixed upstream, or the feature is absent."""

    release: str
    dropped: tuple[str, ...]
    applied: tuple[str, ...]
    lines: list[Comparison]
    surroundings: Surroundings | None
    failure: str | None = None
    skipped: dict[str, PatchState] = field(default_factory=dict)

    @property
    def in_order(self) -> bool:
        """Whether the patches apply, every verdict is as expected, and no test of the conformance suite was lost."""
        rows = [row for line in self.lines for row in (line.before, line.after)]
        return self.failure is None and all(row.as_expected for row in rows) and all(line.sound for line in self.lines)


@dataclass(frozen=True)
class PatchedReport:
    """The runs, how many probes were run for them, and whether it was interrupted."""

    series: str
    runs: list[PatchedRun]
    ran: int
    interrupted: bool

    @property
    def rows(self) -> list[ProbeResult]:
        """Every probe."""
        return [row for run in self.runs for line in run.lines for row in (line.before, line.after)]

    @property
    def exit_status(self) -> int:
        """The status that the command ends with: a series that does not apply is not as expected."""
        if self.interrupted:
            return INTERRUPTED
        status = exit_status(self.rows) if self.rows else 1
        unsound = any(not line.sound for run in self.runs for line in run.lines)
        return status or (1 if unsound or any(run.failure for run in self.runs) else 0)


HuntResult = Literal["found", "range", "bad-endpoints", "inconclusive"]
