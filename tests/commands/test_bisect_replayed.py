# SPDX-License-Identifier: Apache-2.0
"""Hunts answered from a log alone: where each looks for its ends, what it names, and what it says instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hunting_ground import MAIN, RELEASES, Ground, copy_ground
from made_log import made_log

ALL_GOOD = dict.fromkeys(RELEASES, "good")
ALL_BAD = dict.fromkeys(RELEASES, "bad")
BROKE = {release: "good" if release < "5.4.0" else "bad" for release in RELEASES}
MENDED = {release: "bad" if release < "5.4.0" else "good" for release in RELEASES}
PASSED = {release: "bad" if "5.2.0" <= release < "5.5.0" else "good" for release in RELEASES}
ON_A_LINE = ALL_GOOD | {"5.2.2": "bad"}
ENDS = ("--good", "5.0.0", "--bad", "5.7.0")


@pytest.fixture(scope="module")
def ground(ground_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """One for all tests: nothing is probed, and so nothing is kept."""
    return copy_ground(ground_template, tmp_path_factory.mktemp("replayed"))


@pytest.mark.parametrize(
    ("verdicts", "words", "change"),
    [
        (BROKE, [], ("introduced", "5.3.0", "5.4.0")),
        (BROKE, ["--bad", "5.6.0"], ("introduced", "5.3.0", "5.4.0")),
        (BROKE, ["--good", "5.1.0"], ("introduced", "5.3.0", "5.4.0")),
        (PASSED, [], ("introduced", "5.1.0", "5.2.0")),
        (PASSED, ["--find", "fixed"], ("fixed", "5.4.0", "5.5.0")),
        (MENDED, ["--find", "fixed", "--bad", "5.1.0"], ("fixed", "5.3.0", "5.4.0")),
        (MENDED, ["--find", "fixed", "--good", "5.6.0"], ("fixed", "5.3.0", "5.4.0")),
        # A maintenance release leads to the end of its own line.
        (ON_A_LINE, ["--good", "5.2.1"], ("introduced", "5.2.1", "5.2.2")),
        (BROKE, [*ENDS, "--confidence", "0.9"], ("introduced", "5.3.0", "5.4.0")),
        ({**BROKE, "5.7.0": "good bad"}, [*ENDS, "--confidence", "0.9"], ("introduced", "5.3.0", "5.4.0")),
    ],
)
def test_what_it_names(
    ground: Ground, verdicts: Mapping[str, str], words: Sequence[str], change: tuple[str, str, str]
) -> None:
    done = ground.hunt("never", *words, "--replay", made_log(ground, "never", verdicts))
    assert (done.status, done.json["probes_run"]) == (0, 0), done.err
    named = done.change
    older, newer = ("last_good", "first_bad") if change[0] == "introduced" else ("last_bad", "first_good")
    assert (named["find"], named[older], named[newer]) == change


@pytest.mark.parametrize(
    ("verdicts", "words", "note"),
    [
        (ALL_GOOD, [], "no release up to 5.7.0 was seen bad"),
        (ALL_GOOD, ["--good", "5.0.0"], "no bad release was found newer than 5.0.0"),
        (ALL_BAD, ["--bad", "5.7.0"], "no good release was found older than 5.7.0"),
        (ALL_BAD, ["--find", "fixed"], "the newest release, 5.7.0, is still bad"),
        (ALL_BAD, ["--find", "fixed", "--bad", "5.0.0"], "no good release was found newer than 5.0.0"),
        (ALL_GOOD, ["--find", "fixed", "--good", "5.7.0"], "no bad release was found older than 5.7.0"),
    ],
)
def test_which_end_is_not_there(ground: Ground, verdicts: Mapping[str, str], words: Sequence[str], note: str) -> None:
    done = ground.hunt("never", *words, "--replay", made_log(ground, "never", verdicts))
    assert (done.status, done.json["result"], done.json["notes"]) == (3, "bad-endpoints", [note])


def test_what_was_asked_besides_and_cannot_be(ground: Ground) -> None:
    """Each is told in a note, and the answer stands."""
    clouded = BROKE | {"5.3.0": "other-failure"}
    told = {
        ("--reduce",): (clouded, "it was not reduced: no two neighbours were found"),
        ("--git-log", "git.log"): (BROKE, "git.log was not written: the hunt did not go over commits"),
        ("--confidence", "0.9", "--repo", str(ground.repo)): (
            BROKE, "with --confidence a hunt over releases stays there; --history commits goes over commits",
        ),
        ("--find", "all", "--repo", str(ground.repo)): (
            BROKE, "with --find all a hunt over releases stays there; --history commits goes over commits",
        ),
    }  # fmt: skip
    for words, (verdicts, note) in told.items():
        done = ground.hunt("never", *ENDS, *words, "--replay", made_log(ground, "never", verdicts))
        assert note in done.json["notes"], done.out
        assert done.change["first_bad"] == "5.4.0"
    assert not (ground.here / "git.log").exists()


def test_a_maintenance_release_is_where_a_hunt_ends(ground: Ground) -> None:
    log = made_log(ground, "never", ON_A_LINE)
    done = ground.between("never", "5.2.1", "5.2.2", "--repo", ground.repo, "--replay", log)
    assert done.notes == "5.2.2 is a maintenance release: what it took over is not on the main line"


@pytest.mark.parametrize(
    ("verdicts", "status", "result"),
    [
        (dict.fromkeys(MAIN, "harness-error"), 5, "inconclusive"),
        (dict.fromkeys(MAIN, "other-failure"), 3, "inconclusive"),
        (ALL_GOOD, 0, "found"),
    ],
)
def test_a_survey_that_sees_no_change(ground: Ground, verdicts: Mapping[str, str], status: int, result: str) -> None:
    every = dict.fromkeys(RELEASES, next(iter(verdicts.values())))
    done = ground.hunt("never", "--find", "all", "--replay", made_log(ground, "never", every))
    assert (done.status, done.json["result"], done.json["changes"]) == (status, result, [])


def test_what_excludes_one_another_is_named(ground: Ground) -> None:
    ground.write("script.py", "import transformers\n")
    repo = str(ground.repo)
    for words, said in (
        (["never", "--good", "5.4.0", "--bad", "5.4.0"], "5.4.0 and 5.4.0 are the same revision; give two"),
        (["never", "--repo", repo, "--good", "main~3"], "the other end must be named too, by --good or --bad"),
        (["never", "--device", "cpu,meta"], "a hunt goes over one device"),
        (["never", "--good", "main~3", "--bad", "5.4.0"], "--repo"),
        (["never", "--find", "all", "--history", "commits", "--repo", repo], "both ends by --good and --bad"),
        (["script.py", "--good", "5.0.0"], "script.py says not how its bug is known: --bad REV"),
        (["script.py", "--find", "all"], "script.py says not how its bug is known: --bad REV"),
    ):
        done = ground.run("bisect", *words)
        assert done.status == 2, done.out
        assert said in " ".join(done.err.split())
