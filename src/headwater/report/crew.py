# SPDX-License-Identifier: Apache-2.0
"""What is told of the workers of a scheduler, beside what they found."""

from __future__ import annotations

from typing import Any

from headwater.core.crew import CrewReport


def crew_lines(crew: CrewReport | None) -> list[str]:
    """Who answered how often, what was run again, who was not used and who could not run all; empty without workers."""
    if crew is None:
        return []
    shares = ", ".join(f"{name} {count}" for name, count in sorted(crew.answered.items())) or "none was asked"
    again = f"; {crew.reruns} run again because a worker was gone" if crew.reruns else ""
    lines = [f"workers at {crew.scheduler}: {shares}{again}."]
    lines += [f"worker {name} was not used: {why}" for name, why in sorted(crew.refused.items())]
    return lines + [f"worker {name} could not run all: {why}" for name, why in sorted(crew.unfit.items())]


def crew_object(crew: CrewReport | None) -> dict[str, Any] | None:
    """The same for machines."""
    if crew is None:
        return None
    return {
        "scheduler": crew.scheduler,
        "answered": dict(crew.answered),
        "reruns": crew.reruns,
        "refused": dict(crew.refused),
        "unfit": dict(crew.unfit),
    }
