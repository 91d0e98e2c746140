# SPDX-License-Identifier: Apache-2.0
"""What a hunt and a reduction say to people, of reports that are made up: every kind of answer has its sentence."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.console import Console

from headwater.core.commits import Commit
from headwater.core.hunt_report import Crossing, HuntChange, HuntReport
from headwater.core.narrowing import PartOutcome
from headwater.core.reduction import Stage
from headwater.core.reduction_report import BackportReport, KeptHunk, ReductionReport, Size, Step, Whole
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict
from headwater.report.hunt import hunt_sentences, markdown, print_hunt
from headwater.report.reduction import print_backport, print_reduction, reduction_sentences

GOOD, BAD = Verdict.GOOD, Verdict.BAD
CULPRIT = Commit("a1" * 20, datetime(2026, 3, 15, tzinfo=UTC), "Change 14 (#114)", 114, "b2" * 20)


def row(revision: str, verdict: Verdict, repetitions: int = 1) -> ProbeResult:
    told = Evidence("RuntimeError", "the cache|broke", None) if verdict is BAD else Evidence()
    return ProbeResult(
        "plain", revision, None, "cpu", verdict, told, 0.5, False, "t", None, repetitions=repetitions
    )  # fmt: skip


ROWS = (row("5.3.0", GOOD, 2), row("5.4.0", BAD, 2))
CHANGE = HuntChange("introduced", "releases", "5.3.0", "5.4.0", ("5.4.0",), (GOOD, BAD))
HUNT = HuntReport("plain", "introduced", "cpu", "found", (CHANGE,), ROWS, 4, False, command="headwater bisect plain")
NOTHING = replace(HUNT, result="bad-endpoints", changes=())
REDUCTION = ReductionReport(
    "plain", "cpu", ("5.3.0", "5.4.0"), (GOOD, BAD), "found",
    (KeptHunk("a.py", "@@ -1 +1 @@", 2, ROWS[0], PartOutcome.STAYS, "c3" * 20),
     KeptHunk("b.py", "@@ -9 +9 @@", 1, None, PartOutcome.RULED_OUT),
     KeptHunk("c.py", "@@ -5 +5 @@", 1, None, None)),
    "-old\n+new\n", Whole(9, 40, 2, 7), (Stage("kept", 2, 7, 30, 1),), True, True, True,
    (Step("kept", Size(2, 7, 30), PartOutcome.FLIPS, ROWS[1], Size(2, 7, 30)),), ROWS, 5, False,
)  # fmt: skip


def shown(report: HuntReport) -> str:
    out = io.StringIO()
    print_hunt(Console(file=out, width=160), report)
    return out.getvalue()


def reduced(report: ReductionReport) -> str:
    out = io.StringIO()
    print_reduction(Console(file=out, width=160), report)
    return out.getvalue()


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (HUNT, "plain was introduced in 5.4.0; 5.3.0 is good."),
        (
            replace(HUNT, changes=(replace(CHANGE, commit=CULPRIT, after=CULPRIT.sha, level="commits"),)),
            f"plain was introduced in commit {CULPRIT.sha} (2026-03-15, Change 14 (#114), pull request #114); 5.3.0 is "
            "good.",
        ),
        (
            replace(HUNT, changes=(replace(CHANGE, candidates=("5.3.1", "5.4.0")),)),
            "plain was introduced in one of 5.3.1, 5.4.0: those between were not judged.",
        ),
        (
            replace(HUNT, changes=(replace(CHANGE, candidates=("5.3.1", "5.4.0"), probability=0.97),)),
            "plain was introduced with 97% in one of 5.3.1, 5.4.0.",
        ),
        (
            replace(HUNT, changes=(replace(CHANGE, confirmed=False),)),
            "plain was introduced in 5.4.0, it seems: it was not confirmed by a second probe.",
        ),
        (
            replace(HUNT, changes=(replace(CHANGE, verdicts=(Verdict.ABSENT, BAD)),)),
            "plain was introduced in 5.4.0: the feature arrived there, 5.3.0 is absent.",
        ),
        (
            replace(NOTHING, find="all", result="found"),
            "plain: no change of verdict was seen; every revision that was probed is bad, good.",
        ),
        (replace(NOTHING, find="all"), "plain: 5.3.0 is good, 5.4.0 is bad; nothing could be said of any change."),
        (replace(NOTHING, interrupted=True, rows=()), "plain: nothing was probed, and then it was interrupted."),
        (
            replace(NOTHING, find="fixed"),
            "plain: 5.3.0 is good, 5.4.0 is bad; a hunt for what fixed a bug needs a bad and then a good end, and one "
            "change between them.",
        ),
    ],
)
def test_every_answer_has_its_sentence(report: HuntReport, sentence: str) -> None:
    assert hunt_sentences(report) == [sentence]


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (((GOOD, GOOD), (BAD, BAD)), "The change goes with the library's code."),
        (((GOOD, BAD), (GOOD, BAD)), "The change goes with the packages, not with the library's code."),
    ],
)
def test_a_crossing_is_a_table_of_code_by_packages(
    verdicts: tuple[tuple[Verdict, Verdict], tuple[Verdict, Verdict]], words: str
) -> None:
    crossing = Crossing(("5.3.0", "5.4.0"), ("old days", "new days"), verdicts)
    lines = [" ".join(line.split()) for line in shown(replace(HUNT, crossing=crossing)).splitlines()]
    head = lines.index("code packages of old days packages of new days")
    assert lines[head + 1 : head + 4] == [
        *(f"{name} {old.words} {new.words}" for name, (old, new) in zip(crossing.revisions, verdicts, strict=True)),
        words,
    ]


def test_what_was_asked_besides_is_shown_with_the_answer() -> None:
    text = shown(replace(HUNT, series="mend", reduction=REDUCTION, posterior=(("5.4.0", 0.75),), notes=("a note",)))
    for words in (
        "With series mend wherever it applies:",
        "5.4.0           75.0% ##############################\n",
        "\na note.\n",
        "Minimal: without any hunk, or any two",
        "good ×2",  # noqa: RUF001 - a multiplication sign is meant
        "Device cpu, with series mend wherever it applies.",
    ):
        assert words in text


def test_the_block_for_an_issue_stays_short() -> None:
    text = markdown(replace(HUNT, rows=tuple(row(f"5.{n}.0", BAD) for n in range(60))))
    lines = text.splitlines()
    assert len(lines) == 40
    assert r"| 5.0.0 | bad | RuntimeError: the cache\|broke |" in lines
    shows = sum(line.startswith("| 5.") for line in lines)
    assert f"| {60 - shows} more | | |" in lines
    assert lines[-1] == "    headwater bisect plain"


def test_each_hunk_says_what_it_rests_on() -> None:
    text = reduced(REDUCTION)
    assert "plain: 5.3.0 is good, 5.4.0 is bad." in text
    assert "commit c3c3c3c3c3c3" in text
    assert "does not compile" in text
    assert "not probed" in text
    assert "-old\n+new\n" in text
    assert "3 of 40 hunks in 9 files; 7 files and 33 hunks were set aside, since nothing of them ran." in text


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({"line_minimal": False}, ["Minimal: without any hunk, or any two, the verdict does not flip.",
                                   "Not by lines: --lines N allows more probes for leaving out single lines."]),
        ({"pair_minimal": False}, ["Minimal: without any hunk the verdict does not flip. Pairs were not all tried."]),
        ({"minimal": False}, ["Not known to be minimal: not every hunk's absence could be judged."]),
        ({"minimal": False, "interrupted": True},
         ["Not minimal: this is the best so far.",
          "It was stopped: the same command goes on, and what is known is not run again."]),
    ],
)  # fmt: skip
def test_how_small_it_is_and_how_sure_that_is(changes: dict[str, bool], sentences: list[str]) -> None:
    report = replace(REDUCTION, whole=None, **changes)  # type: ignore[arg-type]
    assert reduction_sentences(report) == [*sentences, "1 probes of parts, 5 probes run in all."]


def test_ends_that_do_not_differ_are_shown_with_what_they_said() -> None:
    rows = (row("5.3.0", GOOD), row("5.4.0", BAD))
    text = reduced(replace(REDUCTION, result="bad-endpoints", rows=rows, verdicts=(GOOD, GOOD), notes=("a note",)))
    assert text.splitlines() == [
        "plain: 5.3.0 is good, 5.4.0 is good; they must differ, and both be good, bad or absent.",
        "5.4.0: RuntimeError: the cache|broke",
        "a note.",
    ]


def test_a_backport_says_what_was_written_and_how_to_test_it() -> None:
    out = io.StringIO()
    report = BackportReport(REDUCTION, "5.2.0", "mend", ("0001-a.patch",), row("5.2.0", BAD), row("5.2.0", GOOD), "x")
    print_backport(Console(file=out, width=160), report)
    assert out.getvalue().splitlines()[-3:] == [
        "Wrote patches/mend for 5.2.0: 0001-a.patch",
        "plain on 5.2.0 is bad, and good with it. Conformance suite: x.",
        "Test it with: headwater test-patched mend",
    ]
