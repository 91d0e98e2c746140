# SPDX-License-Identifier: Apache-2.0
"""`headwater reduce`, and `headwater bisect --reduce`, on the small library, of whose hunks it is known which count."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
from bench import wait_for
from hunting_ground import UNMASK, Ground, interrupt
from reduced import CAUSE, MEND, NEAR, counting_case, hunks, laid_out, reduced, runs

from headwater.commands.context import Context
from headwater.commands.hunt.bisect import bisect
from headwater.commands.hunt.request import HuntRequest
from headwater.commands.way import Way
from headwater.core.errors import HarnessError
from headwater.core.events import silent
from headwater.effects.probe import ProbeOptions

slow = pytest.mark.slow
BROKE = ("5.3.0", "5.4.0")
MENDED = ("5.5.0", "5.6.0")


@pytest.mark.parametrize(
    ("ends", "verdicts", "wanted"), [(BROKE, ["good", "bad"], CAUSE), (MENDED, ["bad", "good"], MEND)]
)
def test_the_hunks_that_count_in_both_directions(
    ground: Ground, ends: tuple[str, str], verdicts: list[str], wanted: list[tuple[str, str]]
) -> None:
    done = reduced(ground, "parted", ends)
    assert done.status == 0, done.err
    answer = done.json
    assert hunks(answer) == wanted
    assert (answer["result"], answer["verdicts"], answer["from"], answer["to"]) == ("found", verdicts, *ends)
    assert (answer["minimal"], answer["pair_minimal"], answer["interrupted"]) == (True, True, False)
    # Each rests on a probe, which does not show what the newer side shows.
    for hunk in answer["hunks"]:
        assert hunk["needed_by"]["verdict"] != verdicts[1]
        assert hunk["needed_by"]["revision"].startswith(f"{ends[0]} with ")
        assert hunk["commit"] is None
    # Every file differs in a line, and nothing but what the case imports was ever tried.
    kept = answer["stages"][1]
    assert answer["files"] > kept["files"]
    assert answer["of_hunks"] > kept["hunks"] >= len(wanted)
    # How it narrowed is kept, with what each probe showed.
    assert [event["probe"] for event in answer["events"]] == list(range(2, 2 + answer["asked"]))
    assert len(answer["probes"]) == 2 + answer["asked"]
    left = {"files": answer["files"], "hunks": answer["of_hunks"], "lines": answer["stages"][0]["lines"]}
    for event in answer["events"]:
        flips = answer["probes"][event["probe"]]["verdict"] == verdicts[1]
        assert (event["outcome"] == "flips") == flips
        left = {name: event[name] for name in left} if flips else left
        assert event["left"] == left
    assert left["hunks"] == len(wanted)
    probes = [stage["probes"] for stage in answer["stages"]]
    assert probes == sorted(probes)
    assert probes[-1] == answer["asked"] <= 16
    assert laid_out(ground) == set()


def test_the_diff_makes_the_newer_verdict(ground: Ground) -> None:
    done = reduced(ground, "parted", NEAR)
    ground.series("cause", NEAR[0], _as_patch(done.json["diff"]))
    patched = ground.run("repro", NEAR[0], "--case", "parted", "--series", "cause", "--json")
    assert [row["verdict"] for row in patched.json["probes"]] == ["bad"]


def _as_patch(diff: str) -> str:
    head = "From: A <a@invalid.example>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: [PATCH] break\n\n---\n\n"
    return head + diff + "\n" * (not diff.endswith("\n"))


@slow
def test_workers_change_nothing(ground: Ground) -> None:
    answers = [reduced(ground, "parted", BROKE, "--fresh", "--jobs", jobs) for jobs in ("1", "4")]
    for answer in answers:
        assert (answer.status, hunks(answer.json)) == (0, CAUSE)
        assert answer.json["pair_minimal"]
    assert answers[0].json["diff"] == answers[1].json["diff"]
    assert laid_out(ground) == set()


@slow
def test_a_person_sees_the_stages_the_hunks_and_what_rests_on_them(ground: Ground) -> None:
    done = ground.run("reduce", "parted", "--from", MENDED[0], "--to", MENDED[1])
    assert "parted: 5.5.0 is bad, 5.6.0 is good." in done.out
    assert "NameError: name 'clip' is not defined" in done.out
    assert "+    found = clip(measure(LIMIT))" in done.out
    # A patch that can be copied, however narrow the terminal is.
    assert all(len(line) == 95 for line in done.out.splitlines() if line.startswith("index "))
    assert "Minimal: without any hunk, or any two, the verdict does not flip." in done.out


def test_sides_that_do_not_differ(ground: Ground) -> None:
    done = reduced(ground, "parted", ("5.0.0", "5.3.0"))
    assert (done.status, done.json["result"], done.json["verdicts"]) == (3, "bad-endpoints", ["good", "good"])
    assert (done.json["hunks"], done.json["asked"]) == ([], 0)
    told = ground.run("reduce", "parted", "--from", "5.0.0", "--to", "5.3.0")
    assert told.status == 3
    assert "parted: 5.0.0 is good, 5.3.0 is good; they must differ" in told.out
    assert "`headwater bisect ... --find all` shows between which releases the verdict changes" in told.out


@slow
def test_an_end_that_cannot_be_judged(ground: Ground) -> None:
    done = reduced(ground, "clouded", ("5.3.0", "5.4.0"))
    assert (done.status, done.json["verdicts"]) == (3, ["other-failure", "bad"])
    # Why, a person sees as well.
    told = ground.run("reduce", "clouded", "--from", "5.3.0", "--to", "5.4.0")
    why = done.json["probes"][0]["evidence"]
    assert f"5.3.0: {why['type']}: {why['message']}" in told.out


def test_the_same_tree(ground: Ground) -> None:
    done = ground.run("reduce", "parted", "--from", "5.3.0", "--to", "5.3.0")
    assert done.status == 2
    assert "5.3.0 and 5.3.0 are the same tree" in done.err


@slow
@pytest.mark.parametrize(("ends", "wanted"), [(NEAR, CAUSE), (MENDED, MEND)])
def test_a_script_whose_failure_is_learned(
    ground: Ground, ends: tuple[str, str], wanted: list[tuple[str, str]]
) -> None:
    ground.write("script.py", "from transformers.parted import use\n\nuse()\n")
    done = reduced(ground, "script.py", ends)
    assert (done.status, hunks(done.json)) == (0, wanted), done.err
    assert "learned at" in done.notes


@slow
def test_a_script_may_use_the_network_where_that_is_allowed(ground: Ground) -> None:
    told = "import os\n\nassert os.environ['HF_HUB_OFFLINE'] == '0', 'there is no network'\n"
    ground.write("script.py", f"{told}from transformers.parted import use\n\nuse()\n")
    assert reduced(ground, "script.py", NEAR).status == 3
    assert reduced(ground, "script.py", NEAR, "--allow-network").status == 0


@slow
def test_a_script_that_fails_nowhere(ground: Ground) -> None:
    ground.write("script.py", "from transformers.parted import measure\n\nmeasure(1)\n")
    done = reduced(ground, "script.py", NEAR)
    assert (done.status, done.json["verdicts"]) == (3, ["good", "good"])


@slow
def test_a_flaky_case_is_refused(ground: Ground) -> None:
    counting_case(ground, lies="count % 4 == 0")
    done = reduced(ground, "counted", NEAR)
    assert (done.status, done.json["verdicts"]) == (3, ["good", "flaky"])
    assert "counted is flaky on 5.2.2" in done.notes
    assert "let it try in `run` as often as it takes" in done.notes
    assert "`headwater bisect ... --confidence 0.95`" in done.notes


@slow
def test_repetition_finds_a_probe_out_that_lied(ground: Ground) -> None:
    """Four probes of three runs are of the ends, one run each is recorded; then everything that was kept is probed."""
    counting_case(ground, lies="count == 15")
    done = reduced(ground, "counted", NEAR, "--repeat", "3")
    assert (done.status, hunks(done.json)) == (0, CAUSE), done.err
    assert " · flaky · " in done.err


@slow
def test_a_hunk_whose_absence_is_flaky_is_kept_and_not_called_needed(ground: Ground) -> None:
    """The lie is in the first part without a hunk: after eight runs of the ends, two recordings and two parts."""
    counting_case(ground, lies="count == 16")
    done = reduced(ground, "counted", MENDED, "--repeat", "2")
    assert (done.status, hunks(done.json)) == (4, MEND), done.err
    assert (done.json["result"], done.json["minimal"], done.json["pair_minimal"]) == ("not-minimal", False, False)
    assert done.json["hunks"][1]["needed_by"]["verdict"] == "flaky"
    assert "whether transformers/parted.py @@ -33 +37 @@ is needed is not known" in done.notes
    told = ground.run("reduce", "counted", "--from", MENDED[0], "--to", MENDED[1], "--repeat", "2")
    assert told.status == 4
    assert "Not known to be minimal" in told.out


@slow
def test_two_at_once_take_no_tree_from_each_other(ground: Ground) -> None:
    folder = counting_case(ground, at=9)
    words = ("--from", NEAR[0], "--to", NEAR[1], "--json")
    slower = ground.start("reduce", "counted", *words)
    wait_for(lambda: runs(folder) >= 9)
    [tree] = laid_out(ground)
    # It makes the same parts, and ends while the other one still probes on one of them.
    other = reduced(ground, "parted", NEAR)
    assert (other.status, hunks(other.json)) == (0, CAUSE), other.err
    assert other.json["asked"] > 9 - 7
    assert laid_out(ground) == {tree}
    (folder / "wait").unlink()
    out, err = slower.communicate()
    assert slower.returncode == 0, err
    assert hunks(json.loads(out)) == CAUSE
    assert laid_out(ground) == set()


@slow
@pytest.mark.parametrize("jobs", ["1", "4"])
def test_an_interrupt_gives_the_best_so_far(ground: Ground, jobs: str) -> None:
    folder = counting_case(ground, at=9)
    words = ("counted", "--from", NEAR[0], "--to", NEAR[1], "--jobs", jobs)
    process = ground.start("reduce", *words, "--json")
    wait_for(lambda: runs(folder) >= 9)
    stopped = interrupt(process)
    assert stopped.status == 130, stopped.err
    assert (stopped.json["result"], stopped.json["minimal"], stopped.json["interrupted"]) == (
        "not-minimal",
        False,
        True,
    )
    assert {*CAUSE} <= {*hunks(stopped.json)}
    assert laid_out(ground) == set()
    (folder / "wait").unlink()
    known = runs(folder)
    done = ground.run("reduce", *words, "--json")
    assert (done.status, hunks(done.json)) == (0, CAUSE)
    assert done.json["probes_run"] == runs(folder) - known
    if jobs == "1":
        # The ends, and what was done before the interrupt, are known.
        assert done.json["probes_run"] == done.json["asked"] - (9 - 7)


@slow
def test_an_interrupt_says_that_it_is_not_minimal(ground: Ground) -> None:
    folder = counting_case(ground, at=9)
    process = ground.start("reduce", "counted", "--from", NEAR[0], "--to", NEAR[1])
    wait_for(lambda: runs(folder) >= 9)
    stopped = interrupt(process)
    assert stopped.status == 130
    assert "Not minimal: this is the best so far.\nIt was stopped: the same command goes on" in stopped.out


@slow
def test_the_same_command_again_runs_nothing(ground: Ground) -> None:
    folder = counting_case(ground)
    first = reduced(ground, "counted", NEAR)
    known = runs(folder)
    again = reduced(ground, "counted", NEAR)
    assert (again.json["probes_run"], runs(folder)) == (0, known)
    assert first.json["probes_run"] > 8
    assert (again.json["hunks"][0]["header"], again.json["diff"]) == (CAUSE[0][1], first.json["diff"])


@slow
def test_lines(ground: Ground) -> None:
    """Blank lines go, and the old call, which may stay before the new one."""
    few = reduced(ground, "parted", MENDED, "--lines", "0")
    assert (few.json["line_minimal"], few.json["hunks"][0]["lines"]) == (False, 4)
    many = reduced(ground, "parted", MENDED, "--lines", "60")
    assert (many.status, hunks(many.json)) == (0, MEND)
    assert (many.json["line_minimal"], many.json["minimal"]) == (True, True)
    assert [hunk["lines"] for hunk in many.json["hunks"]] == [2, 1]


@slow
@pytest.mark.parametrize(("ends", "number"), [(BROKE, 14), (MENDED, 22), (("v5.3.0", "v5.4.0"), 14)])
def test_the_commit_of_each_hunk(ground: Ground, ends: tuple[str, str], number: int) -> None:
    done = reduced(ground, "parted", ends, "--repo", ground.repo)
    assert done.status == 0, done.err
    assert {ground.number(hunk["commit"]) for hunk in done.json["hunks"]} == {number}


@slow
def test_the_commit_of_each_hunk_of_a_remote(ground: Ground) -> None:
    """Of which there is nothing here but what was asked for: what the file was on the way is fetched."""
    done = reduced(ground, "parted", BROKE, "--repo", f"file://{ground.repo}")
    assert done.status == 0, done.err
    assert {ground.number(hunk["commit"]) for hunk in done.json["hunks"]} == {14}


@slow
def test_between_two_commits(ground: Ground) -> None:
    done = reduced(ground, "parted", (ground.commits[13], ground.commits[14]), "--repo", ground.repo)
    assert (done.status, hunks(done.json)) == (0, CAUSE), done.err


@slow
def test_packages_that_changed_the_verdict_are_no_hunk(ground: Ground) -> None:
    done = ground.run("reduce", "packages", "--from", "5.3.0", "--to", "5.4.0")
    assert done.status == 2
    assert "the packages changed the verdict" in done.err


@slow
def test_a_hunk_that_needs_newer_packages_beside_it(ground: Ground) -> None:
    done = reduced(ground, "meanwhile", ("5.3.0", "5.4.0"))
    assert (done.status, [hunk["file"] for hunk in done.json["hunks"]]) == (0, ["transformers/meanwhile.py"])
    assert done.json["hunks"][0]["needed_by"]["verdict"] == "good"
    assert "with the packages of 5.4.0" in done.notes


@slow
def test_a_hunt_goes_on_to_the_hunks(ground: Ground) -> None:
    done = ground.between("parted", "5.0.0", "5.5.0", "--reduce")
    assert (done.status, done.change["first_bad"]) == (0, "5.4.0"), done.err
    assert hunks(done.json["reduction"]) == CAUSE
    assert done.json["reproduce"].endswith("--reduce")
    told = ground.run("bisect", "parted", "--find", "fixed", "--bad", "5.4.0", "--good", "5.7.0", "--reduce")
    assert "parted was fixed in 5.6.0" in told.out
    assert "\n2 of 13 hunks in " in told.out


@slow
def test_a_hunt_goes_on_to_the_hunks_of_the_commit(ground: Ground) -> None:
    done = ground.between("parted", "5.0.0", "5.5.0", "--reduce", "--repo", ground.repo)
    assert (done.status, done.change["level"]) == (0, "commits"), done.err
    assert hunks(done.json["reduction"]) == CAUSE
    assert {ground.number(hunk["commit"]) for hunk in done.json["reduction"]["hunks"]} == {14}


@slow
def test_a_hunt_that_finds_nothing_to_reduce_stands(ground: Ground) -> None:
    none = ground.between("packages", "5.0.0", "5.7.0", "--reduce")
    assert (none.status, none.json["reduction"]) == (0, None)
    assert "it was not reduced: between 5.3.0 and 5.4.0 the packages changed the verdict" in none.notes
    wide = ground.between("clouded", "5.0.0", "5.7.0", "--reduce")
    assert (wide.status, wide.json["reduction"]) == (4, None)
    assert "it was not reduced" in wide.notes


@slow
def test_a_hunt_without_it_has_no_reduction(ground: Ground) -> None:
    done = ground.between("parted", "5.3.0", "5.4.0")
    assert done.json["reduction"] is None


@slow
@pytest.mark.parametrize("words", [["--find", "all"], ["--good", "5.3.0", "--bad", "5.4.0", "--confidence", "0.9"]])
def test_kinds_of_hunt_that_are_not_reduced(ground: Ground, words: list[str]) -> None:
    done = ground.run("bisect", "parted", *words, "--reduce")
    assert done.status == 2
    assert "--reduce" in done.err


@slow
def test_an_interrupt_while_a_hunt_is_reduced_keeps_what_was_found(ground: Ground) -> None:
    folder = counting_case(ground, at=9)
    words = ("counted", "--good", NEAR[0], "--bad", NEAR[1], "--reduce")
    process = ground.start("bisect", *words, "--json")
    wait_for(lambda: runs(folder) >= 9)
    stopped = interrupt(process)
    assert (stopped.status, stopped.json["interrupted"]) == (130, True), stopped.err
    assert (stopped.change["first_bad"], stopped.json["reduction"]["result"]) == (NEAR[1], "not-minimal")
    (folder / "wait").unlink()
    done = ground.hunt(*words)
    assert (done.status, hunks(done.json["reduction"])) == (0, CAUSE)


@slow
def test_a_series_gets_past_another_bug(ground: Ground) -> None:
    ground.series("unmask", "5.0.0", UNMASK)
    assert reduced(ground, "masked", BROKE).status == 3
    done = reduced(ground, "masked", BROKE, "--series", "unmask")
    assert (done.status, [hunk["file"] for hunk in done.json["hunks"]]) == (0, ["transformers/masked.py"])
    assert "of another kind" not in done.json["diff"]
    # Blamed on the commit's own file, another line would answer for it.
    untold = reduced(ground, "masked", BROKE, "--series", "unmask", "--repo", ground.repo)
    assert untold.json["hunks"][0]["commit"] is None
    assert "the file is another one in commit" in untold.notes


def test_a_reduction_that_the_machine_fails_leaves_what_the_hunt_found(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise HarnessError("the disk is full")

    for name, value in ground.surroundings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(ground.here)
    monkeypatch.setattr("headwater.commands.hunt.bisect.reduce", fails)
    options = ProbeOptions(False, 1, False)
    with ExitStack() as exits:
        request = HuntRequest(
            "parted", *BROKE, "introduced", "releases", None, "cpu", None, None, Way("local", None, 1), None, "latest",
            None, False, (), None, None, None, options, "", reduce=True,
        )  # fmt: skip
        report = bisect(Context(ground.root, silent, True, exits), request)
    assert [change.after for change in report.changes] == [BROKE[1]]
    assert "it was not reduced: the disk is full" in report.notes
