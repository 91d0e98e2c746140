# SPDX-License-Identifier: Apache-2.0
"""What was measured: samples of one thing, and what they are held against. Figures, never assertions."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from headwater.effects import proc

Sampler = Callable[[], list[float]]


@dataclass(frozen=True)
class Samples:
    """Samples of `what`, in `unit`."""

    what: str
    values: tuple[float, ...]
    unit: str = "s"

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        """What the middle half of them lies between."""
        if len(self.values) == 1:
            return self.values[0], self.values[0]
        first, _second, third = quantiles(self.values, n=4, method="inclusive")
        return first, third


@dataclass(frozen=True)
class Row:
    """One comparison. The aim is an upper bound on the ratio, or, `on_ratio=False`, on the measured median itself."""

    measured: Samples
    against: Samples
    aim: float
    on_ratio: bool = True

    @property
    def ratio(self) -> float:
        """The median over that of what it is held against."""
        return self.measured.median / self.against.median

    @property
    def is_met(self) -> bool:
        """Whether the aim is reached."""
        return (self.ratio if self.on_ratio else self.measured.median) <= self.aim


def timed(action: Callable[[], object]) -> float:
    """The seconds that something takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def interleaved(
    samplers: Mapping[str, Sampler], turns: Sequence[str], rounds: int, tell: Callable[[str], None]
) -> dict[str, list[float]]:
    """Sample in short turns, `turns` once a round, so that what else the machine does falls on all alike."""
    found: dict[str, list[float]] = {name: [] for name in turns}
    for number in range(1, rounds + 1):
        seen: dict[str, list[float]] = {name: [] for name in turns}
        for name in turns:
            seen[name] += samplers[name]()
        for name, values in seen.items():
            found[name] += values
            tell(f"round {number} of {rounds}: {name} {', '.join(f'{value:.3f}' for value in values)} s")
    return found


def whole_process(
    argv: Sequence[str | Path], *, runs: int, folder: Path, environ: Mapping[str, str], status: int = 0,
) -> list[float]:  # fmt: skip
    """The seconds of each of several runs of a command, timed by hyperfine.

    Raises:
        ProcessFailed: a run ended with another status than `status`.
    """
    export = folder / "hyperfine.json"
    command = shlex.join(str(word) for word in argv)
    options = ["--shell=none", "--style=none", f"--runs={runs}", f"--export-json={export}"]
    options += ["--ignore-failure"] if status else []
    proc.run(["hyperfine", *options, command], environ=environ, cwd=folder)
    result = json.loads(export.read_text(encoding="utf-8"))["results"][0]
    for seen in result["exit_codes"]:
        if seen != status:
            raise proc.ProcessFailed(shlex.split(command), seen, f"{status} was to be expected")
    return [float(seconds) for seconds in result["times"]]
