# SPDX-License-Identifier: Apache-2.0
"""What is known is not probed again: resuming, logs, undoing, interrupts; and the answer that can be had again."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest
from bench import wait_for
from hunting_ground import RELEASES, Ground, interrupt

pytestmark = pytest.mark.slow

HUNT = ("plain", "5.0.0", "5.7.0")
# Writes down that it began; waits where it is told to.
WATCHED = """\
# /// case
# id = "watched"
# title = "The cache breaks"
# references = []
# severity = "crash"
# [[signature]]
# type = "RuntimeError"
# message = 'the cache broke'
# ///
import time
from pathlib import Path


def run(device):
    import transformers
    from transformers import plain

    folder = Path({folder!r})
    with (folder / "begun").open("a") as file:
        file.write(transformers.__version__ + "\\n")
    if transformers.__version__ == {version!r}:
        while (folder / "wait").exists():
            time.sleep(0.01)
    plain.use()
"""


def watched(ground: Ground, version: str) -> Path:
    """A case that waits on a release; the file of what began."""
    folder = ground.here / "watch"
    folder.mkdir()
    (folder / "wait").touch()
    (folder / "begun").touch()
    text = WATCHED.format(folder=str(folder), version=version)
    (ground.root / "tests" / "repro" / "watched.py").write_text(text, encoding="utf-8")
    return folder / "begun"


def begun(file: Path) -> list[str]:
    """The probes that began."""
    return file.read_text(encoding="utf-8").split()


def test_a_finished_hunt_runs_nothing_again(ground: Ground) -> None:
    first = ground.between(*HUNT, "--repo", ground.repo)
    again = ground.between(*HUNT, "--repo", ground.repo)
    assert first.json["probes_run"] > 8
    assert again.json["probes_run"] == 0
    assert again.json["changes"] == first.json["changes"]
    assert list(again.verdicts()) == list(first.verdicts())


def test_what_may_be_asked_for_next_is_laid_out_unless_all_is_known(ground: Ground) -> None:
    trees = ground.cache / "trees"
    shutil.rmtree(trees, ignore_errors=True)
    first = ground.between(*HUNT)
    assert first.status == 0
    laid_out = {path.name for path in trees.iterdir() if path.is_dir()}
    assert len(laid_out) > len(first.verdicts()), "one of the two cuts after the first was not asked for"
    shutil.rmtree(trees)
    assert ground.between(*HUNT).json["probes_run"] == 0
    assert not trees.exists()


def test_undo(ground: Ground) -> None:
    ground.between(*HUNT)
    again = ground.between(*HUNT, "--undo", "5.4.0")
    assert (again.json["probes_run"], again.change["candidates"]) == (2, ["5.4.0"])
    assert {probe["revision"] for probe in again.json["probes"] if not probe["cached"]} == {"5.4.0"}


@pytest.mark.parametrize(
    ("words", "case"),
    [(["--repo", "{repo}"], "plain"), ([], "plain"), (["--find", "all"], "again"), (["--repeat", "2"], "fogged")],
)
def test_a_log_is_replayed_without_a_probe(ground: Ground, words: list[str], case: str) -> None:
    asked = [case, "5.0.0", "5.7.0", *(word.replace("{repo}", str(ground.repo)) for word in words)]
    log = ground.here / "log"
    first = ground.between(*asked, "--log", log)
    replayed = ground.between(*asked, "--replay", log, "--fresh")
    assert replayed.json["probes_run"] == 0
    assert replayed.json["changes"] == first.json["changes"]
    assert replayed.verdicts() == first.verdicts()
    assert replayed.status == first.status


def test_a_log_of_a_script_is_replayed_too(ground: Ground) -> None:
    ground.write("script.py", "from transformers.plain import use\nuse()\n")
    log = ground.here / "log"
    first = ground.between("script.py", "5.0.0", "5.7.0", "--log", log)
    replayed = ground.between("script.py", "5.0.0", "5.7.0", "--replay", log, "--fresh")
    assert (replayed.status, replayed.json["probes_run"]) == (0, 0), replayed.notes
    assert replayed.json["changes"] == first.json["changes"]


SCRIPT = "from transformers import arrived\n\narrived.use()\n"


def test_a_part_of_a_log_of_a_script_judges_the_rest(ground: Ground) -> None:
    """What was learned is in the log, so what is probed besides is judged as the log's own revisions were."""
    ground.write("script.py", SCRIPT)
    log = ground.here / "log"
    first = ground.between("script.py", "5.0.0", "5.7.0", "--log", log)
    assert first.change["verdicts"] == ["absent", "bad"]
    head, *lines = log.read_text(encoding="utf-8").splitlines()
    learned = json.loads(head)["learned"]
    assert [one["type"] for one in (*learned["bug"], *learned["absent"])] == ["RuntimeError", "AttributeError"]
    ends = [line for line in lines if '"5.0.0"' in line or '"5.7.0"' in line]
    log.write_text("\n".join([head, *ends]), encoding="utf-8")
    again = ground.here / "again"
    rest = ground.between("script.py", "5.0.0", "5.7.0", "--replay", log, "--log", again, "--fresh")
    assert (rest.status, rest.json["changes"]) == (0, first.json["changes"])
    assert rest.json["probes_run"] == first.json["probes_run"] - len(ends)
    assert rest.verdicts() == first.verdicts()
    assert "learned before, says the log: RuntimeError: the cache broke" in rest.notes
    assert "taken for absent, says the log: AttributeError" in rest.notes
    assert again.read_text(encoding="utf-8").splitlines()[0] == head
    every = ground.hunt("script.py", "--find", "all", "--bad", "5.7.0", "--replay", log)
    assert [(change["find"], change["candidates"]) for change in every.json["changes"]] == [("introduced", ["5.4.0"])]


@pytest.mark.parametrize("release", ["5.0.0", "5.3.0", "5.4.0", "5.7.0"])
def test_a_verdict_of_a_script_can_be_undone(ground: Ground, release: str) -> None:
    ground.write("script.py", SCRIPT)
    log = ground.here / "log"
    first = ground.between("script.py", "5.0.0", "5.7.0", "--log", log)
    text = log.read_text(encoding="utf-8")
    right = '"absent"' if release < "5.4.0" else '"bad"'
    lines = [line.replace(right, '"good"') if f'"{release}"' in line else line for line in text.splitlines()]
    assert lines != text.splitlines()
    log.write_text("\n".join(lines), encoding="utf-8")
    undone = ground.between("script.py", "5.0.0", "5.7.0", "--replay", log, "--undo", release)
    assert undone.json["probes_run"] == 2
    assert (undone.status, undone.json["changes"], undone.verdicts()) == (0, first.json["changes"], first.verdicts())


@pytest.mark.parametrize("release", ["5.0.0", "5.7.0"])
def test_a_machine_that_failed_once_teaches_nothing_wrong(ground: Ground, release: str) -> None:
    """The end is probed again, and learned from then."""
    ground.write("script.py", SCRIPT)
    head = {"schema": 1, "what": "script.py", "device": "cpu"}
    fault = {"revision": release, "repetition": 0, "verdict": "harness-error"}
    log = ground.write("log", f"{json.dumps(head)}\n{json.dumps(fault)}\n")
    done = ground.between("script.py", "5.0.0", "5.7.0", "--replay", log)
    assert (done.status, done.change["candidates"], done.change["verdicts"]) == (0, ["5.4.0"], ["absent", "bad"])
    assert "learned at 5.7.0: RuntimeError" in done.notes
    assert "learned at 5.0.0, taken for absent: AttributeError" in done.notes


def test_a_verdict_of_a_log_can_be_changed_or_undone(ground: Ground) -> None:
    log = ground.here / "log"
    ground.between(*HUNT, "--log", log)
    text = log.read_text(encoding="utf-8")
    lines = [line.replace('"good"', '"bad"') if '"5.3.0"' in line else line for line in text.splitlines()]
    log.write_text("\n".join(lines), encoding="utf-8")
    changed = ground.between(*HUNT, "--replay", log)
    assert changed.change["candidates"] == ["5.3.0"]
    undone = ground.between(*HUNT, "--replay", log, "--undo", "5.3.0")
    assert undone.change["candidates"] == ["5.4.0"]


HEAD = '{"schema": 1, "what": "plain", "device": "cpu", "learned": {"bug": [LEARNED], "absent": []}}'


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "{}",
        '{"schema": 2, "what": "plain", "device": "cpu"}',
        '"plain"',
        HEAD.replace("LEARNED", '{"type": "E", "message": 1, "frame": null}'),
        HEAD.replace("LEARNED", '{"type": "E", "message": "m"}'),
        HEAD.replace(', "absent": []', ""),
    ],
)
def test_a_log_that_is_none(ground: Ground, line: str) -> None:
    log = ground.write("log", line + "\n")
    done = ground.between(*HUNT, "--replay", log)
    assert done.status == 2
    assert str(log) in done.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_gives_the_best_so_far_and_the_command_that_goes_on(ground: Ground, jobs: str) -> None:
    file = watched(ground, "5.3.0")
    words = ("watched", "--good", "5.0.0", "--bad", "5.7.0")
    process = ground.start("bisect", *words, "--jobs", jobs, "--json")
    wait_for(lambda: "5.3.0" in begun(file))
    if jobs == "1":
        stopped = interrupt(process)
        assert stopped.status == 130
        assert stopped.json["interrupted"] is True
        assert (stopped.change["last_good"], stopped.change["first_bad"]) == ("5.2.0", "5.4.0")
        assert stopped.json["result"] == "range"
    else:
        stopped = interrupt(process)
        assert stopped.status == 130
    assert "headwater bisect watched --good 5.0.0 --bad 5.7.0" in stopped.err
    (file.parent / "wait").unlink()
    known = len(begun(file))
    done = ground.hunt(*words)
    assert (done.status, done.change["candidates"]) == (0, ["5.4.0"])
    assert done.json["probes_run"] == len(begun(file)) - known < 8


@pytest.mark.parametrize(
    "words", [["--find", "all"], ["--confidence", "0.9", "--good", "5.0.0", "--bad", "5.7.0"], ["--bad", "5.7.0"], []]
)
def test_every_kind_of_hunt_can_be_interrupted(ground: Ground, words: list[str]) -> None:
    file = watched(ground, "5.3.0" if "--confidence" not in words else "5.4.0")
    process = ground.start("bisect", "watched", *words, "--json")
    wait_for(lambda: begun(file)[-1:] == ["5.3.0" if "--confidence" not in words else "5.4.0"])
    stopped = interrupt(process)
    assert stopped.status == 130, stopped.err
    assert stopped.json["interrupted"] is True
    assert stopped.json["probes"]
    assert "the same command goes on" in stopped.err


def test_the_block_for_an_issue(ground: Ground) -> None:
    """At most 40 lines, and its command gives the same answer, of as long a hunt as there is here."""
    for words in ((*HUNT, "--repo", ground.repo), ("again", "5.0.0", "5.7.0", "--find", "all", "--exhaustive")):
        first = ground.between(*words)
        block = first.json["markdown"].splitlines()
        assert len(block) <= 40
        assert [line for line in block if "|" in line]
        command = shlex.split(block[-1])
        assert command[:2] == ["headwater", "bisect"]
        again = ground.run(*command[1:], "--json")
        assert again.json["changes"] == first.json["changes"]
        assert again.json["markdown"] == first.json["markdown"]


def test_a_long_hunt_is_cut_to_forty_lines(ground: Ground) -> None:
    words = ("--find", "all", "--history", "commits", "--repo", ground.repo, "--exhaustive")
    done = ground.between("again", "v5.0.0", "v5.7.0", *words)
    assert len(done.json["probes"]) == 29
    block = done.json["markdown"].splitlines()
    assert len(block) <= 40
    assert sum(line.startswith("**") for line in block) == 3
    assert "Reproduce with:" in block


def test_progress_has_a_line_a_probe(ground: Ground) -> None:
    done = ground.between(*HUNT)
    lines = [line for line in done.err.splitlines() if " of about " in line]
    assert len(lines) == done.json["probes_run"]
    assert all(any(release in line for release in RELEASES) for line in lines)
    assert json.loads(done.out)["schema"] == 1
