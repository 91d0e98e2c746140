# SPDX-License-Identifier: Apache-2.0
"""JSON for machines: one object, `"schema": 1`; keys are only added, never renamed."""

from __future__ import annotations

import json
import sys
from typing import Any

from headwater.core.results import Comparison, PatchedReport, ProbeResult, Surroundings
from headwater.core.test_results import TestResults

SCHEMA = 1


def probe_object(row: ProbeResult) -> dict[str, Any]:
    """One probe."""
    return {
        "case": row.case,
        "revision": row.revision,
        "series": row.series,
        "device": row.device,
        "verdict": row.verdict.value,
        "evidence": {
            "type": row.evidence.type,
            "message": row.evidence.message,
            "frame": row.evidence.frame,
        },
        "seconds": round(row.seconds, 3),
        "cached": row.cached,
        "repetitions": row.repetitions,
        "tree": row.tree,
        "environment": row.environment,
        "expected": row.expected.value if row.expected else None,
        "as_expected": row.as_expected,
        "tests": test_objects(row.tests),
    }


def test_objects(results: TestResults) -> list[dict[str, Any]]:
    """What happened to each test of a probe that ran many."""
    return [{"name": one.name, "result": one.result, "reason": one.reason} for one in results]


def comparison_object(line: Comparison) -> dict[str, Any]:
    """One line of a series' run; where a suite was compared, also how its tests differ."""
    found: dict[str, Any] = {
        "title": line.title,
        "before": probe_object(line.before),
        "after": probe_object(line.after),
    }
    if line.changes is not None:
        changes = line.changes
        found["changes"] = {
            "new_failures": test_objects(changes.new_failures),
            "lost": test_objects(changes.lost),
            "still_failing": [one.name for one in changes.still_failing],
            "newly_passing": [one.name for one in changes.newly_passing],
        }
    return found


def surroundings_object(around: Surroundings) -> dict[str, Any]:
    """Where probes ran."""
    return {
        "package": around.package,
        "revision": around.revision,
        "torch": around.torch,
        "python": around.python,
        "platform": around.platform,
        "environment": around.environment,
        "environment_name": around.environment_name,
        "devices": list(around.devices),
    }


def patched_objects(report: PatchedReport) -> list[dict[str, Any]]:
    """The runs of a series."""
    return [
        {
            "release": run.release,
            "dropped": list(run.dropped),
            "applied": list(run.applied),
            "skipped": [{"patch": patch, "state": state.value} for patch, state in run.skipped.items()],
            "failure": run.failure,
            "surroundings": surroundings_object(run.surroundings) if run.surroundings else None,
            "lines": [comparison_object(line) for line in run.lines],
        }
        for run in report.runs
    ]


def write_json(text: str) -> None:
    """Write the object to standard output: there it is alone."""
    sys.stdout.write(text)
    sys.stdout.flush()


def document(command: str, **parts: object) -> str:
    """The text of the one object that a command writes."""
    return json.dumps({"schema": SCHEMA, "command": command, **parts}, indent=2) + "\n"
