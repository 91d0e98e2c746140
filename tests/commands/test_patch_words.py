# SPDX-License-Identifier: Apache-2.0
"""What users type to `headwater patch`, right and wrong: help, exit statuses, errors in words and in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from carries import SERIES, Carries, contents

Run = Callable[..., Any]
COMMANDS = ["status", "explain", "apply", "undo", "refresh", "new", "drop", "carry", "import", "export", "diff"]
# What is named wrongly, and what the message must say: the thing, its value, and what there is or what to do.
WRONG = [
    (["status", "nope"], ["'nope'", "mend, twins"]),
    (["status", ""], ["''", "mend, twins"]),
    (["status", "../mend"], ["'../mend'", "the nearest is mend"]),
    (["status", "--releases", "6.0.0"], ["6.0.0", "5.7.0"]),
    (["status", "--releases", ">=6"], [">=6", "5.7.0"]),
    (["status", "--releases", "five"], ["'five'"]),
    (["explain", "5.0.0"], ["name a series", "mend, twins"]),
    (["explain", "mend", "5.0.3"], ["5.0.3", "5.0.0", "5.1.0"]),
    (["explain", "mend", "5.0.0", "5.1.0"], ["mend 5.0.0 5.1.0"]),
    (["explain"], ["RELEASE"]),
    (["carry", "mend"], ["--to"]),
    (["carry", "nope", "--to", "5.0.0"], ["'nope'", "mend, twins"]),
    (["carry", "mend", "--to", "5.0.3"], ["5.0.3", "5.0.0"]),
    (["carry", "mend", "--to", "5.4.0", "--continue", "--abort"], ["--continue", "--abort"]),
    (["carry", "mend", "--to", "5.4.0", "--as", "x", "--abort"], ["--as"]),
    (["carry", "mend", "--to", "5.4.0", "--continue"], ["mend-onto-5.4.0", "without --continue"]),
    (["carry", "mend", "--to", "5.4.0", "--as", "5.4.0"], ["'5.4.0'", "lower-case"]),
    (["export", "--to", "out"], ["name a series", "mend, twins"]),
    (["export", "mend"], ["--to"]),
    (["export", "nope", "--to", "out"], ["'nope'", "mend, twins"]),
    (["export", "mend", "--to", "out", "--release", "5.0.3"], ["5.0.3", "5.0.0"]),
    (["export", "mend", "--to", "upstream/transformers.toml"], ["upstream/transformers.toml"]),
    (["import", "mine"], ["FILE"]),
    (["import", "mine", "none.patch"], ["'mine'", "--base"]),
    (["import", "mine", "none.patch", "--base", "5.0.0"], ["none.patch", "no such file"]),
    (["import", "mine", "none.patch", "--base", "five"], ["'five'"]),
    (["drop", "mend"], ["PATCH"]),
    (["drop", "mend", "9"], ["'9'", *SERIES]),
    (["drop", "nope", "1"], ["'nope'", "mend, twins"]),
    (["drop", "twins", "1"], ["only patch", "patches/twins"]),
    (["diff", "mend"], ["OLD"]),
    (["diff", "mend", "v1"], ["'v1'", "no git repository"]),
    (["diff", "nope", "v1"], ["'nope'", "second revision"]),
    (["apply", "mend"], ["--tree"]),
    (["apply", "mend", "--tree", "none"], ["none"]),
    (["apply", "mend", "--tree", "patches"], ["patches"]),
    (["undo", "--tree", "none"], ["none"]),
    (["refresh", "mend", "--tree", "none"], ["none"]),
    (["new", "mend", "subject", "--tree", "none"], ["none"]),
    (["new", "mend", "two\nlines", "--tree", "patches"], ["one line"]),
    (["new", "mend", "subject", "--case", "nope", "--tree", "patches"], ["'nope'", "none"]),
    (["nope"], ["nope"]),
]  # fmt: skip


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_has_an_example(headwater: Run, command: str | None) -> None:
    done = headwater("patch", *([command] if command else []), "--help")
    assert done.status == 0
    assert f"headwater patch {command or 'status'}" in done.out.partition("Example")[2]


def test_every_command_is_asked(headwater: Run) -> None:
    listed = headwater("patch", "--help").out.partition("Commands:\n")[2].splitlines()
    assert sorted(line.split()[0] for line in listed if line.strip()) == sorted(COMMANDS)
    # The list is read at a glance: no line of it is cut off.
    assert [line for line in listed if "..." in line] == []
    assert max(map(len, listed)) < 80


def test_bad_input_is_status_2_and_named_in_words_and_json(carries: Carries) -> None:
    before = contents(carries.root)
    for words, named in WRONG:
        done = carries.patch(words[0], "--json", *words[1:], status=2)
        assert (done.json["schema"], done.json["error"]["kind"]) == (1, "bad input"), words
        for word in named:
            assert word in done.json["error"]["message"], (words, done.out)
            assert word in done.err, (words, done.err)
    assert contents(carries.root) == before


def test_one_object_on_success_too(carries: Carries, tmp_path: Path) -> None:
    tree = carries.grounds.clone("5.0.0", {})
    for words, status in (
        (("status", "mend"), 1), (("status", "mend", "--releases", "5.0.0"), 0), (("explain", "mend", "5.4.0"), 0),
        (("export", "mend", "--to", tmp_path / "out"), 0), (("carry", "mend", "--to", "5.4.0"), 1),
        (("carry", "mend", "--to", "5.4.0", "--abort"), 0), (("apply", "mend", "--tree", tree), 0),
        (("refresh", "mend", "--tree", tree), 0), (("undo", "--tree", tree), 0), (("drop", "mend", "3"), 0),
    ):  # fmt: skip
        done = carries.patch(*words, "--json", "--output", tmp_path / "out.json", status=status)
        assert done.json["schema"] == 1
        assert done.json["command"] == f"patch {words[0]}"
        assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == done.json


def test_what_fails_is_status_1_and_says_what_to_do(carries: Carries, tmp_path: Path) -> None:
    tree = carries.grounds.clone("5.4.0", {})
    for words in (
        ("apply", "mend", "--tree", tree), ("export", "mend", "--to", tmp_path / "out", "--release", "5.4.0"),
    ):  # fmt: skip
        done = carries.patch(*words, "--json", status=1)
        for word in (SERIES[1], "series mend", "src/transformers/a.py", "headwater patch carry mend --to 5.4.0"):
            assert word in done.json["error"]["message"], words
    carries.a_case(1, "good", "5.4.0")
    for number in (2, 3):
        path = carries.mend / SERIES[number - 1]
        path.write_bytes(path.read_bytes().replace(b"Why it is so.\n", b"Why it is so.\n\nHeadwater-Case: one\n"))
    for more in (
        ("carry", "mend", "--to", "5.4.0"), ("export", "mend", "--to", tmp_path / "out", "--release", "5.4.0"),
        ("apply", "mend", "--tree", tree),
    ):  # fmt: skip
        told = carries.patch(*more, "--json", status=1).json["error"]["message"]
        assert "no patch of series mend is needed on 5.4.0" in told
        assert "leave the series out" in told
    assert "the series can be left out there" in carries.patch("status", "mend", "--releases", "5.4.0").out
    assert not (tmp_path / "out").exists()
