# SPDX-License-Identifier: Apache-2.0
"""What a hunt names, what it leaves open, and how many probes it takes for that."""

from __future__ import annotations

import itertools
import json
import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hunting_ground import COMMITS, MAIN, UNMASK, Ground
from index_server import IndexServer
from made_log import made_log

from headwater.commands.context import Context
from headwater.commands.hunt.bisect import bisect
from headwater.commands.hunt.request import HuntRequest
from headwater.commands.way import Way
from headwater.core.events import silent
from headwater.effects.probe import ProbeOptions

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("case", ["plain", "early", "arrived"])
def test_a_plain_hunt_over_releases(ground: Ground, case: str) -> None:
    done = ground.between(case, "5.0.0", "5.7.0")
    assert (done.status, done.json["result"]) == (0, "found")
    first = {"plain": "5.4.0", "early": "5.1.0", "arrived": "5.4.0"}[case]
    assert done.change["candidates"] == [first]
    assert len(done.json["probes"]) <= math.ceil(math.log2(len(MAIN))) + 2
    # Two proofs of each end, and one more probe of each neighbour that is no end.
    assert done.json["probes_run"] <= math.ceil(math.log2(len(MAIN))) + 2 + 4
    again = ground.between(case, "5.0.0", "5.7.0")
    assert again.json["probes_run"] == 0
    assert again.json["changes"] == done.json["changes"]


def test_a_plain_hunt_over_commits(ground: Ground) -> None:
    done = ground.between("plain", "5.0.0", "5.7.0", "--repo", ground.repo, "--history", "commits")
    assert ground.number(done.change["first_bad"]) == 14
    assert len(done.json["probes"]) <= math.ceil(math.log2(COMMITS)) + 2


@pytest.mark.parametrize("jobs", [2, 4])
def test_several_at_a_time_find_the_same(ground: Ground, jobs: int) -> None:
    for case, words in (("plain", ()), ("fogged", ()), ("again", ("--find", "all"))):
        alone = ground.between(case, "5.0.0", "5.7.0", *words)
        several = ground.between(case, "5.0.0", "5.7.0", *words, "--jobs", str(jobs), "--fresh")
        assert several.json["changes"] == alone.json["changes"]
        assert several.status == alone.status


def test_another_failure_in_between_leaves_a_range(ground: Ground) -> None:
    done = ground.between("clouded", "5.0.0", "5.7.0")
    assert (done.status, done.json["result"]) == (4, "range")
    assert (done.change["last_good"], done.change["candidates"]) == ("5.2.0", ["5.3.0", "5.4.0"])
    assert done.verdicts()["5.3.0"] == "other-failure"
    assert "it ends at the releases; --repo" in done.notes
    said = ground.run("bisect", "clouded", "--good", "5.0.0", "--bad", "5.7.0").out
    assert "introduced in one of 5.3.0, 5.4.0" in said


def test_so_do_imports_that_fail(ground: Ground) -> None:
    done = ground.between("fogged", "5.0.0", "5.7.0", "--repo", ground.repo, "--history", "commits")
    assert done.status == 4
    assert [ground.number(one) for one in done.change["candidates"]] == list(range(10, 20))


def replayed(ground: Ground, log: Path) -> tuple[str, list[str]]:
    """The answer of a hunt that takes all its verdicts from a log; in this process, which is quick."""
    with ExitStack() as exits:
        options = ProbeOptions()
        request = HuntRequest(
            "plain", "5.0.0", "5.7.0", "introduced", "releases", None, "cpu", None, None, Way("local", None, 1),
            None, "period", None,
            False, (), log, None, None, options, "",
        )  # fmt: skip
        [change] = bisect(Context(ground.root, silent, True, exits), request).changes
    return change.before, list(change.candidates)


def test_no_import_that_fails_changes_what_is_named(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the releases between the ends cannot be imported: the right one is named or among the candidates,
    and it is named wherever it and the one before can be judged."""
    inner = MAIN[1:-1]
    monkeypatch.setenv("HEADWATER_CACHE", str(ground.cache))
    monkeypatch.chdir(ground.here)
    for number, broken in enumerate(subset for size in range(7) for subset in itertools.combinations(inner, size)):
        log = ground.here / f"{number}.log"
        answers: list[dict[str, Any]] = [{"schema": 1, "what": "plain", "device": "cpu"}]
        for release, repetition in itertools.product(MAIN, range(2)):
            told = "untestable" if release in broken else "good" if release < "5.4.0" else "bad"
            answers.append({"revision": release, "repetition": repetition, "verdict": told})
        log.write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
        change = replayed(ground, log)
        low = max(release for release in MAIN if release < "5.4.0" and release not in broken)
        high = min(release for release in MAIN if release >= "5.4.0" and release not in broken)
        assert change == (low, [release for release in MAIN if low < release <= high])


@pytest.mark.parametrize("series", [False, True])
def test_a_series_gets_past_another_bug(ground: Ground, series: bool) -> None:
    """Nothing can be judged without it; with it all, save 5.2.0, onto which it does not go."""
    ground.series("unmask", "5.1.0", UNMASK)
    done = ground.between("masked", "5.0.0", "5.7.0", *(["--series", "unmask"] if series else []))
    if not series:
        assert (done.status, set(done.verdicts().values())) == (3, {"other-failure"})
        return
    assert (done.status, done.change["candidates"]) == (0, ["5.4.0"])
    assert done.verdicts()["5.2.0"] == "untestable"
    words = ("bisect", "masked", "--good", "5.0.0", "--bad", "5.7.0", "--series", "unmask")
    said = ground.run(*words).out
    assert "unmask" in said.partition("For an issue")[0]
    assert "--series unmask" in said


def test_the_series_is_there_on_commits_too(ground: Ground) -> None:
    ground.series("unmask", "5.1.0", UNMASK)
    done = ground.between("masked", "5.0.0", "5.7.0", "--series", "unmask", "--repo", ground.repo)
    assert done.status == 0, done.err
    assert ground.number(done.change["first_bad"]) == 14


@pytest.mark.parametrize(
    ("case", "good", "bad", "culprit"),
    [("plain", "5.0.0", "5.7.0", "library"), ("packages", "5.0.0", "5.7.0", "packages"),
     ("meanwhile", "5.0.0", "5.7.0", "both")],
)  # fmt: skip
def test_old_and_new_code_with_old_and_new_packages(
    ground: Ground, index_server: IndexServer, case: str, good: str, bad: str, culprit: str
) -> None:
    ground.serve(index_server)
    done = ground.between(case, good, bad, "--deps", "both")
    assert (done.status, done.json["crossing"]["culprit"]) == (0, culprit)
    assert done.json["crossing"]["revisions"] == ["5.3.0", "5.4.0"]
    assert done.json["crossing"]["environments"] == ["2026-03-13", "2026-03-17"]
    said = ground.run("bisect", case, "--good", good, "--bad", bad, "--deps", "both").out
    assert {"library": "with the library's code", "packages": "with the packages", "both": "needs both"}[
        culprit
    ] in said


def test_packages_that_are_the_same_are_crossed_all_the_same(ground: Ground, index_server: IndexServer) -> None:
    """What is said of code and packages was probed."""
    ground.serve(index_server)
    done = ground.between("early", "5.0.0", "5.3.0", "--deps", "both")
    assert (done.status, done.json["crossing"]["culprit"]) == (0, "library")
    assert done.json["crossing"]["verdicts"] == [["good", "good"], ["bad", "bad"]]
    assert "the packages of 2026-03-01 and 2026-03-05 are the same" in done.notes


def test_nothing_is_crossed_without_the_series(ground: Ground, index_server: IndexServer) -> None:
    """The series does not go onto 5.2.0, of which a log says that it is good."""
    ground.serve(index_server)
    ground.series("unmask", "5.1.0", UNMASK)
    log = made_log(ground, "masked", {release: "good" if release < "5.3.0" else "bad" for release in MAIN})
    words = ("--series", "unmask", "--deps", "both", "--replay", log)
    done = ground.between("masked", "5.0.0", "5.7.0", *words)
    assert done.json["crossing"]["revisions"] == ["5.2.0", "5.3.0"]
    assert done.json["crossing"]["verdicts"] == [["untestable", "untestable"], ["good", "good"]]
    assert done.json["crossing"]["culprit"] == "unclear"


def test_the_packages_of_each_commits_day(ground: Ground, index_server: IndexServer) -> None:
    """The library never changed: the bug came on the day of a package."""
    ground.serve(index_server)
    words = ("--repo", ground.repo, "--history", "commits", "--deps", "period")
    done = ground.between("packages", "v5.0.0", "v5.7.0", *words)
    assert done.status == 0, done.err
    assert ground.number(done.change["first_bad"]) == 14
    # What was resolved is kept: without the index the same is found, and what is not known is said.
    ground.environ["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple/"
    again = ground.between("packages", "v5.0.0", "v5.7.0", *words)
    assert (again.status, again.json["probes_run"]) == (0, 0)


def test_a_day_without_packages_that_fit_is_untestable(ground: Ground, index_server: IndexServer) -> None:
    ground.serve(index_server)
    del index_server.files["hub-1.0-py3-none-any.whl"]
    done = ground.between("plain", "5.0.0", "5.7.0", "--deps", "period")
    assert done.status == 3
    assert done.verdicts() == {"5.0.0": "untestable", "5.7.0": "bad"}
    assert "no packages of 2026-03-01 satisfy it" in done.json["probes"][0]["evidence"]["message"]


FLAKY = """\
from pathlib import Path
import transformers
from transformers.{module} import use

count = Path({counter!r})
count.parent.mkdir(exist_ok=True)
with (count.parent / transformers.__version__).open("a") as file:
    file.write(".")
if (count.parent / transformers.__version__).stat().st_size % {every} != 1:
    use()
"""


def flaky(ground: Ground, tmp_path: Path, every: int, module: str = "plain") -> None:
    """A script that shows the bug of a release in all but the first of `every` probes."""
    counter = tmp_path / "counters" / "x"
    ground.write("flaky.py", FLAKY.format(module=module, counter=str(counter), every=every))


def test_repetitions_that_disagree_blame_nothing(ground: Ground, tmp_path: Path) -> None:
    flaky(ground, tmp_path, 2)
    done = ground.between("flaky.py", "5.0.0", "5.7.0", "--repeat", "4")
    assert done.status == 3
    assert done.verdicts()["5.7.0"] == "flaky"


def test_fixed_repetitions(ground: Ground) -> None:
    done = ground.between("plain", "5.0.0", "5.7.0", "--repeat", "3")
    assert (done.status, done.change["candidates"]) == (0, ["5.4.0"])
    seen = {probe["revision"]: probe["repetitions"] for probe in done.json["probes"]}
    assert (seen["5.7.0"], seen["5.2.0"]) == (6, 3)
    assert done.json["probes_run"] == sum(seen.values())


@pytest.mark.parametrize("every", [1, 3])
def test_a_bug_that_shows_sometimes(ground: Ground, tmp_path: Path, every: int) -> None:
    """In two of three probes, or (`every` 1) in each."""
    flaky(ground, tmp_path, every)
    # With `every` 3 the first probe of each release shows nothing: the bug is learned from the second one.
    done = ground.between("flaky.py", "5.0.0", "5.7.0", "--confidence", "0.95", "--repo", ground.repo)
    assert done.status == 0, done.out
    assert done.change["candidates"] == ["5.4.0"]
    assert "with --confidence a hunt over releases stays there" in done.notes
    assert done.change["probability"] >= 0.95
    posterior = {one["revision"]: one["probability"] for one in done.json["posterior"]}
    assert max(posterior, key=lambda name: posterior[name]) == "5.4.0"
    assert 0.99 <= sum(posterior.values()) <= 1.0001
    said = ground.run("bisect", "flaky.py", "--good", "5.0.0", "--bad", "5.7.0", "--confidence", "0.95").out
    assert "introduced in 5.4.0 (with 9" in said


def test_a_bug_that_never_shows(ground: Ground) -> None:
    done = ground.between("never", "5.0.0", "5.7.0", "--confidence", "0.9")
    assert (done.status, done.json["result"]) == (3, "bad-endpoints")
    assert "never showed at 5.7.0" in done.notes


def test_a_bug_that_is_there_at_both_ends(ground: Ground) -> None:
    done = ground.between("always", "5.0.0", "5.7.0", "--confidence", "0.9")
    assert done.status == 3
    assert "at both ends" in done.notes
