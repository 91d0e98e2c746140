# SPDX-License-Identifier: Apache-2.0
"""Workers on other machines: what each says of itself, whether its verdicts would be ours, what a run tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Of these a whole value tells a reader something; of the others only that they differ.
_TELLING = ("Headwater", "Python", "platform", "torch")
SERIES = "patches"


@dataclass(frozen=True)
class Identity:
    """What verdicts depend on besides the question, by name: Headwater's code, the child, pins, locks, patches, Python,
    platform, torch. `name` is what the worker is called."""

    name: str
    parts: Mapping[str, str]

    def differences(self, mine: Identity, with_series: bool) -> list[str]:
        """In words, where a worker differs from `mine`; its patches count only `with_series`. Empty where its verdicts
        are ours."""
        return [
            _difference(part, self.parts.get(part, "unknown"), value)
            for part, value in mine.parts.items()
            if self.parts.get(part) != value and (with_series or part != SERIES)
        ]


def _difference(part: str, theirs: str, ours: str) -> str:
    return f"its {part} is {theirs}, and here {ours}" if part in _TELLING else f"its {part} differ"


@dataclass(frozen=True)
class WorkersReport:
    """What a run tells of the workers of a scheduler.

    `answered` counts by worker what it answered; `reruns` is how often a probe was given to another worker because the
    one that had it was gone; `refused` says of every worker that was not used why; `unfit` of every one that could not
    run something why.
    """

    scheduler: str
    answered: Mapping[str, int]
    reruns: int
    refused: Mapping[str, str]
    unfit: Mapping[str, str]
