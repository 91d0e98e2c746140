# SPDX-License-Identifier: Apache-2.0
"""Logs for `headwater bisect --replay`, of hunts that never were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hunting_ground import Ground


def made_log(ground: Ground, what: str, verdicts: Mapping[str, str]) -> Path:
    """A log with a dozen probes of each revision, whose verdicts take turns where several are given."""
    lines: list[dict[str, object]] = [{"schema": 1, "what": what, "device": "cpu"}]
    for revision, said in verdicts.items():
        turns = said.split()
        lines += [{"revision": revision, "repetition": n, "verdict": turns[n % len(turns)]} for n in range(12)]
    return ground.write("made.log", "".join(f"{json.dumps(line)}\n" for line in lines))
