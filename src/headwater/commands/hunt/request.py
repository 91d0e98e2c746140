# SPDX-License-Identifier: Apache-2.0
"""What a hunt is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from headwater.commands.way import Way
from headwater.core.errors import BadInput
from headwater.effects.probe import ProbeOptions

History = Literal["auto", "releases", "commits"]


@dataclass(frozen=True)
class HuntRequest:
    """What to hunt for, and where.

    `what` is a case id, a script, an executable or a pytest node id. `good` and `bad` name revisions, None for those to
    be found by walking outward; `series` a series to be applied wherever it applies. `way` says where it probes.
    `confidence` asks for a Bayesian search of a flaky bug. `grid` and `exhaustive` are for `find` all; `undo` are
    revisions whose verdicts are not to be believed; `replay` a log to answer from, `log` where to write one. `command`
    is the command line that asks the same again. `reduce` goes on from two neighbours to the hunks between them.
    """

    what: str
    good: str | None
    bad: str | None
    find: Literal["introduced", "fixed", "all"]
    history: History
    repo: str | None
    device: str
    series: str | None
    cases_dir: Path | None
    way: Way
    confidence: float | None
    deps: Literal["latest", "period", "both"]
    grid: int | None
    exhaustive: bool
    undo: Sequence[str]
    replay: Path | None
    log: Path | None
    git_log: Path | None
    options: ProbeOptions
    command: str
    reduce: bool = False

    def check(self) -> None:
        """Refuse what excludes one another.

        Raises:
            BadInput: naming the options.
        """
        for option, file in (("--log", self.log), ("--git-log", self.git_log)):
            # Found out after the hunt, it would be found out late.
            if file is not None and not file.parent.is_dir():
                raise BadInput(f"{option} {file}: the folder {file.parent} is not there")
        if self.find != "all" and (self.grid is not None or self.exhaustive):
            raise BadInput("--grid and --exhaustive belong to --find all")
        if self.reduce and (self.find == "all" or self.confidence is not None):
            raise BadInput("--reduce belongs to a hunt for one change, without --find all and --confidence")
        if self.history == "commits" and self.repo is None:
            raise BadInput("--history commits needs a repository: name a clone or an address by --repo")
        if self.find == "all" and self.deps == "both":
            raise BadInput("--deps both belongs to a hunt for one change, not to --find all")
        if self.find == "all" and self.confidence is not None:
            raise BadInput("--confidence belongs to a hunt for one change, not to --find all")
        if self.confidence is not None and self.options.repeat > 1:
            raise BadInput("--repeat and --confidence exclude one another: a Bayesian search repeats as it needs")
