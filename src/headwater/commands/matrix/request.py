# SPDX-License-Identifier: Apache-2.0
"""What a matrix is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.commands.way import Way
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class MatrixRequest:
    """Which cells, and how to run them.

    `releases` is a SPEC, None for all unless `commits` names revisions of the upstream repository; `cases` are ids, or
    `none`; `tests` are `conformance` and `upstream`, and `repo` the repository for these. `way` says where they
    run. `command` is the command line that goes on.
    """

    releases: str | None
    commits: Sequence[str]
    devices: Sequence[str]
    cases: Sequence[str]
    cases_dir: Path | None
    series: str | None
    tests: Sequence[str]
    repo: str | None
    way: Way
    options: ProbeOptions
    command: str
