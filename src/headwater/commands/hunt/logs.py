# SPDX-License-Identifier: Apache-2.0
"""Logs of a hunt: one that Headwater replays, and one that `git bisect replay` takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from headwater.commands.hunt.oracle import Oracle
from headwater.core.errors import BadInput
from headwater.core.hunting import HuntChange
from headwater.core.marks import Find, side
from headwater.core.verdicts import Verdict
from headwater.effects.files import write_atomically

SCHEMA = 1


def write_log(path: Path, oracle: Oracle, what: str) -> None:
    """Write every verdict, repetition by repetition, as JSON lines under a line that says what they are about."""
    head = {"schema": SCHEMA, "what": what, "device": oracle.device}
    lines = [head] + [
        {"revision": row.revision, "repetition": number, "verdict": verdict.value}
        for row in oracle.rows()
        for number, verdict in enumerate(oracle.verdicts(row.revision))
    ]
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))


def read_log(path: Path, what: str, device: str) -> Mapping[tuple[str, int], Verdict]:
    """The verdicts of a log.

    Raises:
        BadInput: no such file, another schema, or a log of another question.
    """
    if not path.is_file():
        raise BadInput(f"--replay {path}: no such file")
    try:
        head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        asked = head["schema"], head["what"], head["device"]
        answers = {(line["revision"], line["repetition"]): Verdict(line["verdict"]) for line in lines}
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"--replay {path}: not a log that `headwater bisect --log` wrote ({error})") from error
    if asked != (SCHEMA, what, device):
        raise BadInput(
            f"--replay {path}: a log of {asked[1]} on {asked[2]} (schema {asked[0]}), not of {what} on {device}"
        )
    return answers


def git_bisect_log(oracle: Oracle, change: HuntChange) -> str:
    """The part of a hunt that went over commits, as `git bisect log` writes it."""
    find: Find = "fixed" if change.find == "fixed" else "introduced"
    old, new = ("good", "bad") if find == "introduced" else ("broken", "fixed")
    # Quoted, as git writes it: `git bisect replay` reads no others.
    terms = [] if find == "introduced" else [f"'--term-old={old}'", f"'--term-new={new}'"]
    lines = [" ".join(["git bisect start", *terms, "'--first-parent'"])]
    for row in _commit_rows(oracle):
        where = side(row[1], find)
        word = "skip" if where is None else new if where else old
        lines += [f"# {word}: [{row[0]}] {row[1].words}", f"git bisect {word} {row[0]}"]
    return "\n".join(lines) + "\n"


def _commit_rows(oracle: Oracle) -> Sequence[tuple[str, Verdict]]:
    return [(row.revision, row.verdict) for row in oracle.rows() if len(row.revision) == 40]
