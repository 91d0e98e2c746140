# SPDX-License-Identifier: Apache-2.0
"""What a reduction and a backport are asked, and who answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.hunt.oracle import Oracle
from headwater.core.errors import BadInput
from headwater.core.narrowing import StageLimits
from headwater.core.results import parse_devices
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.probe import ProbeOptions
from headwater.effects.targets import load_target
from headwater.effects.upstream_git import Upstream

# How many probes may go to single lines where nobody says: enough to see that none goes, or a few.
FEW_LINES = 3


@dataclass(frozen=True)
class ReduceOptions:
    """How to reduce: `jobs` probes at a time, at most `lines` of them for single lines; `repo` is a clone of upstream
    or its address, for commits."""

    device: str
    cases_dir: Path | None
    jobs: int
    lines: int
    repo: str | None
    series: str | None
    probes: ProbeOptions

    @property
    def limits(self) -> StageLimits:
        """The limits on the stages that cost most."""
        return StageLimits(lines=self.lines)


def make_oracle(context: Context, what: str, options: ReduceOptions) -> tuple[Oracle, Upstream | None]:
    """Who answers, and the repository that was named.

    Raises:
        BadInput: no such target, series, device or repository.
    """
    [device] = _one_device(options.device)
    upstream = context.upstream(options.repo) if options.repo else None
    allowed = options.probes.allow_network
    target = load_target(context.workspace, what, cases_dir=options.cases_dir, network=allowed)
    series = context.workspace.series(options.series) if options.series else None
    commits = _commits(context, upstream)
    oracle = Oracle(context, target, device, options.probes, options.jobs, series, commits, {}, (), by_day=False)
    return oracle, upstream


def _one_device(word: str) -> list[str]:
    devices = parse_devices([word])
    if len(devices) != 1:
        raise BadInput(f"--device {word}: one device, not {len(devices)}")
    return devices


def _commits(context: Context, upstream: Upstream | None) -> Callable[[], CommitSubjects]:
    made: list[CommitSubjects] = []

    def commits() -> CommitSubjects:
        if upstream is None:
            raise BadInput("commits need a repository: name a clone or an address by --repo")
        if not made:
            made.append(context.commits(upstream))
        return made[0]

    return commits
