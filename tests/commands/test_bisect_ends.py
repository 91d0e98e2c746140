# SPDX-License-Identifier: Apache-2.0
"""The ends of a hunt: named as releases, tags, commits and dates, mixed; or found by walking outward."""

from __future__ import annotations

import pytest
from hunting_ground import Ground

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "words", [["--bad", "5.7.0"], ["--good", "5.0.0"], [], ["--good", "5.3.0"], ["--bad", "5.4.0"]]
)
def test_an_end_that_was_not_named_is_found(ground: Ground, words: list[str]) -> None:
    done = ground.hunt("plain", *words)
    assert done.status == 0, done.err
    assert (done.change["last_good"], done.change["first_bad"]) == ("5.3.0", "5.4.0")
    assert {probe["verdict"] for probe in done.json["probes"]} == {"good", "bad"}


@pytest.mark.parametrize("words", [["--bad", "5.0.0"], ["--good", "5.7.0"], [], ["--bad", "5.3.0"]])
def test_so_is_one_of_a_fix(ground: Ground, words: list[str]) -> None:
    done = ground.hunt("mended", "--find", "fixed", *words)
    assert done.status == 0, done.err
    assert (done.change["last_bad"], done.change["first_good"]) == ("5.3.0", "5.4.0")


def test_a_bug_that_was_mended_since_is_found_without_ends(ground: Ground) -> None:
    done = ground.hunt("passed")
    assert (done.status, done.change["last_good"], done.change["first_bad"]) == (0, "5.1.0", "5.2.0")
    assert ground.hunt("mended").status == 3


@pytest.mark.parametrize(
    ("case", "words", "said"),
    [
        ("never", [], "no release up to 5.7.0 was seen bad"),
        ("plain", ["--find", "fixed"], "the newest release, 5.7.0, is still bad"),
        ("never", ["--good", "5.0.0"], "no bad release was found newer than 5.0.0"),
        ("always", ["--bad", "5.7.0"], "no good release was found older than 5.7.0"),
        ("always", [], "no good release was found older than 5.7.0"),
        ("always", ["--bad", "5.0.0", "--find", "fixed"], "no good release was found newer than 5.0.0"),
        ("never", ["--good", "5.7.0", "--find", "fixed"], "no bad release was found older than 5.7.0"),
    ],
)
def test_an_end_that_is_not_there(ground: Ground, case: str, words: list[str], said: str) -> None:
    done = ground.hunt(case, *words)
    assert (done.status, done.json["result"], done.json["changes"]) == (3, "bad-endpoints", [])
    assert said in done.notes
    assert said in ground.run("bisect", case, *words).out


@pytest.mark.parametrize(("good", "bad"), [("5.0.0", "5.3.0"), ("5.4.0", "5.7.0")])
def test_ends_that_do_not_differ(ground: Ground, good: str, bad: str) -> None:
    done = ground.between("plain", good, bad)
    assert (done.status, done.json["result"], done.json["probes_run"]) == (3, "bad-endpoints", 2)
    said = ground.run("bisect", "plain", "--good", good, "--bad", bad).out
    verdict = "good" if good == "5.0.0" else "bad"
    assert f"{good} is {verdict}, {bad} is {verdict}" in said


def test_an_end_that_cannot_be_judged(ground: Ground) -> None:
    done = ground.between("broken-end", "5.0.0", "5.7.0")
    assert (done.status, done.json["result"]) == (3, "inconclusive")
    assert done.verdicts() == {"5.0.0": "other-failure", "5.7.0": "bad"}


# Before the 10th the last commit is number 8; v5.5.0 is number 20.
@pytest.mark.parametrize(
    ("good", "bad"),
    [("5.2.0", "main"), ("v5.2.0", "{20}"), ("2026-03-10", "5.6.0"), ("{8}", "2026-03-22"), ("v5.3.0~4", "v5.5.0")],
)
def test_ends_of_all_kinds(ground: Ground, good: str, bad: str) -> None:
    ends = [end.replace("{8}", ground.commits[8][:9]).replace("{20}", ground.commits[20]) for end in (good, bad)]
    done = ground.between("plain", *ends, "--repo", ground.repo)
    assert done.status == 0, done.err
    assert ground.number(done.change["first_bad"]) == 14
    assert ground.number(done.change["last_good"]) == 13


def test_both_ends_are_proved_twice(ground: Ground) -> None:
    done = ground.between("plain", "5.0.0", "5.7.0")
    seen = {probe["revision"]: probe["repetitions"] for probe in done.json["probes"]}
    assert (seen["5.0.0"], seen["5.7.0"], seen["5.3.0"], seen["5.4.0"], seen["5.2.0"]) == (2, 2, 2, 2, 1)
    assert done.change["confirmed"] is True


BAD = [
    (["nope"], "no case and no file 'nope'"),
    (["plain", "--good", "5.4.0", "--bad", "5.4.0"], "5.4.0"),
    (["plain", "--good", "5.7.0", "--bad", "5.0.0"], "--find fixed"),
    (["plain", "--find", "fixed", "--good", "5.0.0", "--bad", "5.7.0"], "--find introduced"),
    (["plain", "--good", "5.0.3", "--bad", "5.4.0"], "5.0.0"),
    (["plain", "--good", "v5.0.0", "--bad", "5.4.0"], "--repo"),
    (["plain", "--good", "2026-03-04", "--bad", "5.4.0"], "--repo"),
    (["plain", "--history", "commits", "--good", "5.0.0", "--bad", "5.4.0"], "--repo"),
    (["plain", "--repo", "{repo}", "--good", "main~3"], "other end"),
    (["plain", "--repo", "{repo}", "--good", "no-such-branch", "--bad", "5.4.0"], "no-such-branch"),
    (["plain", "--repo", "{repo}", "--good", "main", "--bad", "main~3"], "older"),
    (["plain", "--repo", "{repo}", "--good", "--upload-pack=touch x", "--bad", "5.4.0"], "--upload-pack"),
    (["plain", "--repo", "ext::sh -c touch% x", "--good", "main~3", "--bad", "main"], "ext::"),
    (["plain", "--repo", "--upload-pack=touch x", "--good", "main~3", "--bad", "main"], "--upload-pack"),
    (["plain", "--repo", "no/such/folder", "--good", "main~3", "--bad", "main"], "no/such/folder"),
    (["plain", "--grid", "3"], "--find all"),
    (["plain", "--exhaustive"], "--find all"),
    (["plain", "--find", "all", "--confidence", "0.9"], "--find all"),
    (["plain", "--find", "all", "--history", "commits"], "--repo"),
    (["plain", "--confidence", "0.9", "--repeat", "2"], "--repeat"),
    (["plain", "--confidence", "1"], "--confidence"),
    (["plain", "--jobs", "0"], "--jobs"),
    (["plain", "--device", "tpu"], "'tpu'"),
    (["plain", "--device", "cpu,meta"], "one device"),
    (["plain", "--series", "nope"], "'nope'"),
    (["plain", "--undo", "5.9.9"], "5.9.9"),
    (["plain", "--replay", "no-such-file"], "no-such-file"),
    (["plain", "--replay", "notes.txt"], "notes.txt"),
    (["plain", "--log", "no/such/folder/log"], "no/such/folder"),
    (["plain", "--git-log", "no/such/folder/log"], "no/such/folder"),
    (["plain", "--cases-dir", "no-such-folder"], "no-such-folder"),
    (["script.py", "--good", "5.0.0"], "--bad"),
    (["script.py", "--find", "all"], "--bad"),
    (["script.py::test_x::"], "script.py"),
    (["tests/test_plain.py::test_use", "--good", "5.0.0", "--bad", "5.4.0"], "--repo"),
    (["notes.txt", "--good", "5.0.0", "--bad", "5.4.0"], "#!"),
    (["", "--good", "5.0.0", "--bad", "5.4.0"], "''"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "named"), BAD, ids=[" ".join(words) or "nothing" for words, _named in BAD])
def test_bad_input_is_status_2_and_named(ground: Ground, words: list[str], named: str) -> None:
    ground.write("notes.txt", "nothing of the kind\n")
    ground.write("script.py", "import transformers\n")
    done = ground.run("bisect", *(word.replace("{repo}", str(ground.repo)) for word in words))
    assert done.status == 2, done.out + done.err
    assert named in done.err
    assert "Traceback" not in done.err
    assert not (ground.here / "x").exists()
