# SPDX-License-Identifier: Apache-2.0
"""What is told of the workers of a scheduler, beside what they found."""

from __future__ import annotations

from typing import Any

from headwater.core.workers import WorkersReport


def workers_lines(workers: WorkersReport | None) -> list[str]:
    """Who answered how often, what was run again, who was not used and who could not run all; empty without workers."""
    if workers is None:
        return []
    shares = ", ".join(f"{name} {count}" for name, count in sorted(workers.answered.items())) or "none was asked"
    again = f"; {workers.reruns} run again because a worker was gone" if workers.reruns else ""
    lines = [f"workers at {workers.scheduler}: {shares}{again}."]
    lines += [f"worker {name} was not used: {why}" for name, why in sorted(workers.refused.items())]
    return lines + [f"worker {name} could not run all: {why}" for name, why in sorted(workers.unfit.items())]


def workers_object(workers: WorkersReport | None) -> dict[str, Any] | None:
    """The same for machines."""
    if workers is None:
        return None
    return {
        "scheduler": workers.scheduler,
        "answered": dict(workers.answered),
        "reruns": workers.reruns,
        "refused": dict(workers.refused),
        "unfit": dict(workers.unfit),
    }
