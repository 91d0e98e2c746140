# SPDX-License-Identifier: Apache-2.0
"""Logs that `headwater bisect --replay` takes, and those that it refuses by their name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.commands.hunt.logs import Log, read_log
from headwater.core.errors import BadInput
from headwater.core.learning import LearnedSignature
from headwater.core.verdicts import Verdict

HEAD = {"schema": 1, "what": "plain", "device": "cpu"}
KEY = {"type": "KeyError", "message": "of another kind", "frame": None}


def log_of(folder: Path, *lines: Any) -> Path:
    path = folder / "a.log"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_verdicts_and_what_was_learned(tmp_path: Path) -> None:
    said = [{"revision": "5.0.0", "repetition": n, "verdict": word} for n, word in enumerate(("good", "bad"))]
    learned = {"bug": [KEY], "absent": [{**KEY, "frame": "a.py"}]}
    answers = {("5.0.0", 0): Verdict.GOOD, ("5.0.0", 1): Verdict.BAD}
    assert read_log(log_of(tmp_path, HEAD, *said), "plain", "cpu") == Log(answers)
    assert read_log(log_of(tmp_path, {**HEAD, "learned": learned}, *said), "plain", "cpu") == Log(
        answers,
        (LearnedSignature("KeyError", "of another kind", None),),
        (LearnedSignature("KeyError", "of another kind", "a.py"),),
    )


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ({**HEAD, "what": "other"}, "a log of other on cpu (schema 1), not of plain on cpu"),
        ({**HEAD, "device": "meta"}, "a log of plain on meta (schema 1), not of plain on cpu"),
        ({**HEAD, "schema": 2}, "a log of plain on cpu (schema 2), not of plain on cpu"),
        ({"schema": 1}, "not a log that `headwater bisect --log` wrote ('what')"),
        ("plain", "not a log that `headwater bisect --log` wrote"),
        ({**HEAD, "learned": {"bug": [{**KEY, "message": 1}], "absent": []}}, "is no signature"),
        ({**HEAD, "learned": {"bug": [KEY]}}, "not a log that `headwater bisect --log` wrote ('absent')"),
    ],
)
def test_a_log_of_something_else(tmp_path: Path, head: Any, said: str) -> None:
    path = log_of(tmp_path, head)
    with pytest.raises(BadInput) as refused:
        read_log(path, "plain", "cpu")
    assert str(refused.value).startswith(f"--replay {path}: ")
    assert said in str(refused.value)
    path.unlink()
    with pytest.raises(BadInput, match="no such file"):
        read_log(path, "plain", "cpu")
