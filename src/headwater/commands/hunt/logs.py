# SPDX-License-Identifier: Apache-2.0
"""Logs of a hunt: one that Headwater replays, and one that `git bisect replay` takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headwater.commands.hunt.oracle import Oracle
from headwater.core.errors import BadInput
from headwater.core.hunt_report import HuntChange
from headwater.core.learning import LearnedSignature
from headwater.core.marks import JUDGED, Find, side
from headwater.core.verdicts import Verdict
from headwater.effects.files import write_atomically

SCHEMA = 1


def write_log(path: Path, oracle: Oracle, what: str) -> None:
    """Write every verdict, repetition by repetition, as JSON lines under a line that says what they are about, and what
    was learned of how the bug is known: without it, what is probed besides could not be judged."""
    case = oracle.case
    bug, absent = ([asdict(one) for one in every if isinstance(one, LearnedSignature)]
                   for every in (case.signatures, case.absent))  # fmt: skip
    learned = {"learned": {"bug": bug, "absent": absent}} if bug else {}
    head: dict[str, Any] = {"schema": SCHEMA, "what": what, "device": oracle.device, **learned}
    lines = [head] + [
        {"revision": row.revision, "repetition": number, "verdict": verdict.value}
        for row in oracle.rows()
        for number, verdict in enumerate(oracle.verdicts(row.revision))
    ]
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))


@dataclass(frozen=True)
class Log:
    """What a log says: verdicts by revision and repetition, and the signatures that were learned, none for a case."""

    answers: Mapping[tuple[str, int], Verdict]
    bug: tuple[LearnedSignature, ...] = ()
    absent: tuple[LearnedSignature, ...] = ()


def read_log(path: Path, what: str, device: str) -> Log:
    """Read a log.

    Raises:
        BadInput: no such file, another schema, or a log of another question.
    """
    if not path.is_file():
        raise BadInput(f"--replay {path}: no such file")
    try:
        head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        asked = head["schema"], head["what"], head["device"]
        answers = {(line["revision"], line["repetition"]): Verdict(line["verdict"]) for line in lines}
        learned = head.get("learned", {"bug": [], "absent": []})
        log = Log(answers, *(tuple(map(_signature, learned[kind])) for kind in ("bug", "absent")))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"--replay {path}: not a log that `headwater bisect --log` wrote ({error})") from error
    if asked != (SCHEMA, what, device):
        raise BadInput(
            f"--replay {path}: a log of {asked[1]} on {asked[2]} (schema {asked[0]}), not of {what} on {device}"
        )
    return log


def _signature(told: Mapping[str, Any]) -> LearnedSignature:
    words = told["type"], told["message"], "" if told["frame"] is None else told["frame"]
    if not all(isinstance(word, str) for word in words):
        raise TypeError(f"{told} is no signature")
    return LearnedSignature(**told)


def git_bisect_log(oracle: Oracle, change: HuntChange) -> str:
    """The part of a hunt that went over commits, as `git bisect log` writes it.

    The change's own two neighbours come last, as what they were found to be: the last bad commit is the one that git
    goes by, and of a bug that shows only sometimes no single verdict says where they stand.
    """
    find: Find = "fixed" if change.find == "fixed" else "introduced"
    old, new = ("good", "bad") if find == "introduced" else ("broken", "fixed")
    # Quoted, as git writes it: `git bisect replay` reads no others.
    terms = [] if find == "introduced" else [f"'--term-old={old}'", f"'--term-new={new}'"]
    lines = [" ".join(["git bisect start", *terms, "'--first-parent'"])]
    seen = {row.revision: row.verdict for row in oracle.rows() if len(row.revision) == 40}
    for name, verdict in seen.items():
        if name in (change.before, change.after):
            continue
        proved = verdict if change.probability is None else _proved(oracle.verdicts(name))
        if proved is None:
            lines.append(f"# [{name}] {verdict.words}")
            continue
        where = side(proved, find)
        lines += _line("skip" if where is None else new if where else old, name, verdict)
    for word, name in ((old, change.before), (new, change.after)):
        lines += _line(word, name, seen.get(name))
    return "\n".join(lines) + "\n"


def _proved(verdicts: Sequence[Verdict]) -> Verdict | None:
    """What the probes of one revision prove where a bug shows only sometimes: that it was bad once. That it never was
    may be luck, which proves nothing: None."""
    if Verdict.BAD in verdicts:
        return Verdict.BAD
    return verdicts[0] if {*verdicts}.isdisjoint(JUDGED) else None


def _line(word: str, name: str, verdict: Verdict | None) -> list[str]:
    return [f"# {word}: [{name}] {verdict.words if verdict else 'not probed'}", f"git bisect {word} {name}"]
