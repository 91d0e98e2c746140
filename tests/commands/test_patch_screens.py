# SPDX-License-Identifier: Apache-2.0
"""What `headwater patch`, `pr` and `atlas` say to people, of reports that are made up."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.version import Version
from rich.console import Console

from headwater.core.atlas import Atlas, AtlasChange
from headwater.core.atlas_commits import ChangeOver, CommitOf
from headwater.core.atlas_update import AtlasCheck, AtlasUpdate, Difference, Gap, Unwritten
from headwater.core.patch_results import (
    CarryReport,
    Exported,
    PatchPair,
    PatchStatus,
    ReleaseStatus,
    SeriesDiff,
    SeriesStatus,
)
from headwater.core.pr_evidence import (
    LeftOut,
    LibraryLine,
    Line,
    PatchEvidence,
    PrEvidence,
    Sight,
    TargetEvidence,
    Times,
)
from headwater.core.pr_gate import Difference as Figure
from headwater.core.pr_gate import Reason
from headwater.core.pr_results import GateReport, PrReport, Refusal, VerifyReport
from headwater.core.states import PatchState
from headwater.core.test_results import OneTest
from headwater.core.tree_results import ApplyReport, NewReport, PatchInTree, RefreshReport
from headwater.core.verdicts import Evidence, Verdict
from headwater.report.atlas import print_check, print_commits, print_update
from headwater.report.patches import carried_sentences, print_carried, print_diff, print_exported, status_sentences
from headwater.report.pr import print_gate, print_made, print_verified
from headwater.report.trees import print_applied, print_new, print_refreshed

TREE = Path("tree")
ONE, TWO = "0001-one.patch", "0002-two.patch"
SAID = Evidence("KeyError", "of another kind", None)
V = Version


def shown(show: Callable[..., None], *given: Any) -> str:
    """What is printed, each line without the room between its columns."""
    out = io.StringIO()
    show(Console(file=out, width=160), *given)
    return "\n".join(" ".join(line.split()) for line in out.getvalue().splitlines())


def test_applied_and_how_to_take_it_off() -> None:
    report = ApplyReport("mend", TREE, "5.1.0", "5.1", "a" * 40, "b" * 40, (
        PatchInTree(ONE, PatchState.CLEAN, "b" * 40), PatchInTree(TWO, PatchState.FIXED_UPSTREAM, None)))  # fmt: skip
    assert shown(print_applied, report).splitlines() == [
        "patch state commit",
        f"{ONE} clean bbbbbbbbbbbb",
        f"{TWO} fixed upstream",
        "applied to tree (as 5.1.0, variant 5.1); HEAD is bbbbbbbbbbbb",
        "Take it off again with: headwater patch undo mend --tree tree",
    ]
    same = replace(report, after=report.before)
    assert shown(print_applied, same) == "series mend is applied in tree already: nothing to do"


def test_refreshed_and_begun() -> None:
    report = RefreshReport("mend", TREE, ONE, ("patches/mend/" + ONE,), (), ("a.py",), (), "a", "b")
    assert shown(print_refreshed, report) == f"wrote patches/mend/{ONE}"
    nothing = replace(report, written=(), left_out=("x.py", "y.py"))
    left = "left out, since git does not know them: x.py, y.py; --add FILE takes them"
    assert shown(print_refreshed, nothing).splitlines() == [
        "no patch changes: the tree has what the patches make of it", left,
    ]  # fmt: skip
    new = NewReport("mend", TREE, "patches/mend/" + TWO, "A <a@invalid.example>", "c" * 40, False, ("a.py",), ())
    assert shown(print_new, new).splitlines() == [
        f"extended series mend with patches/mend/{TWO}",
        "author A <a@invalid.example>; it is commit cccccccccccc in tree",
    ]
    assert shown(print_new, replace(new, began=True)).startswith("began series mend with")


def status(*states: PatchState) -> SeriesStatus:
    releases = [
        ReleaseStatus(f"5.{n}.0", None, (PatchStatus(ONE, state, "a.py: line 3"),)) for n, state in enumerate(states)
    ]
    return SeriesStatus("mend", "5.0.0", (ONE,), tuple(releases))


def test_what_is_to_be_done_about_a_series() -> None:
    assert status_sentences(status(PatchState.CLEAN)) == ["In order on 1 release."]
    assert status_sentences(status(PatchState.CLEAN, PatchState.CONFLICT, PatchState.FIXED_UPSTREAM)) == [
        f"{ONE} on 5.1.0: conflict, a.py: line 3.",
        "`headwater patch carry mend --to 5.1.0` makes a variant for that release.",
        "On 5.2.0 upstream has its own fix for every patch: the series can be left out there. Nothing is deleted.",
        "Not in order on 1 of 3 releases.",
    ]


def test_the_next_step_of_a_carry() -> None:
    cells = (PatchStatus(ONE, PatchState.CLEAN, "done"), PatchStatus(TWO, PatchState.CONFLICT, "a.py: line 3"))
    stopped = CarryReport("mend", "5.1.0", cells, TWO, TREE)
    assert shown(print_carried, stopped).splitlines() == [
        "patch state",
        f"{ONE} done",
        f"{TWO} conflict",
        f"{TWO} (conflict): a.py: line 3.",
        "Edit the files in tree (`git diff` there shows the merge), then `headwater patch carry mend --to 5.1.0 "
        "--continue`; `--abort` gives it up.",
    ]
    assert carried_sentences(CarryReport("mend", "5.1.0", cells[:1])) == [
        "Every patch applies to 5.1.0 as it is: no variant is needed."
    ]
    done = CarryReport("mend", "5.1.0", cells[:1], variant="5.1", serves=">=5.1", files=(ONE,))
    assert carried_sentences(done) == [
        f"Wrote patches/mend/5.1 with {ONE}; it serves >=5.1.",
        "Test it with: headwater test-patched mend --releases >=5.1",
    ]


def test_exported_and_compared() -> None:
    exported = Exported(Path("out"), "5.1.0", (ONE,), {TWO: PatchState.FIXED_UPSTREAM})
    assert shown(print_exported, exported).splitlines() == [
        f"left out, fixed upstream: {TWO}", f"out/{ONE}", "1 patch as on 5.1.0: git am --keep-cr out/*.patch",
    ]  # fmt: skip
    text = "1: abc = 1: abc one\n2: abd ! 2: abe two\n    -old\n    +new\n     same\n"
    pairs = (PatchPair(1, 1, "=", "one"), PatchPair(2, 2, "!", "two"))
    compared = shown(print_diff, SeriesDiff("mend", "HEAD", "now", "5.1.0", pairs, text)).splitlines()
    assert compared[0] == "mend: HEAD against now, on 5.1.0"
    assert compared[1:-1] == [" ".join(line.split()) for line in text.splitlines()]
    assert compared[-1] == "1 unchanged, 1 changed."
    none = shown(print_diff, SeriesDiff("mend", "HEAD", "now", "5.1.0", (), ""))
    assert none.splitlines()[-1] == "no patch of either changes 5.1.0."


GREEN = Sight(Verdict.GOOD, None, None, None, (OneTest("t.py::new", "passed"),))
RED = Sight(Verdict.BAD, "KeyError", "of another kind", None, (OneTest("t.py::new", "failed"),))
EVIDENCE = PrEvidence(
    1, "transformers", "mend", "0", TargetEvidence("release", "5.1.0", "5.1.0", "5.1.0", "t", "a", None), ("cpu",), 1,
    ("5.1.0",),
    (PatchEvidence(ONE, "s", "i", "f", "one", {}, ("plain",), (), (
        Line("plain", "5.1.0", "cpu", RED, GREEN, GREEN), Line("tests", "5.1.0", "cpu", RED, GREEN, GREEN))),),
    (LeftOut(TWO, PatchState.FIXED_UPSTREAM, "cpu", {}),), {},
    (LibraryLine("test_a.py", "cpu", Verdict.GOOD, Verdict.BAD, 5, 4, 0, 1, (), (), ("t",), ()),), (), (), {},
    Times("2026-05-01T10:00:00+00:00"),
)  # fmt: skip


def test_a_pull_request_with_what_was_seen() -> None:
    report = PrReport("mend", "5.1.0", Path("out"), (ONE,), ("BODY.md",), ("a note",), EVIDENCE, None, 6)
    assert shown(print_made, report).splitlines() == [
        "patch what revision device before after with all",
        "0001 plain 5.1.0 cpu bad good good",
        "0001 tests 5.1.0 cpu bad (1/1 red) good (0/1 red) good (0/1 red)",
        "test_a.py (cpu): 5 passed before, 4 after; 1 fail anew, 0 run no more",
        f"left out, fixed upstream: {TWO}",
        f"out/{ONE}",
        "left as you wrote it: out/BODY.md",
        "note: a note",
        "Fill in out/BODY.md, then: headwater pr check out",
    ]
    refusal = Refusal("5.2.0", ("headwater backport plain --onto 5.1.0",))
    refused = replace(report, evidence=None, refusal=refusal)
    assert shown(print_made, refused).splitlines() == [
        "fixed upstream in 5.2.0: on 5.1.0 no patch of mend is needed, and there is nothing to send.",
        "For a maintenance line, or as a backport of upstream's own fix:",
        "headwater backport plain --onto 5.1.0",
    ]


def test_a_bundle_that_is_refused_and_one_that_is_not() -> None:
    reasons = (Reason("evidence-older", "the evidence is old"),)
    said = shown(print_gate, GateReport(Path("out"), "mend", reasons, ())).splitlines()
    assert said == ["evidence-older: the evidence is old", "Not to be sent: 1 reason."]
    passed = shown(print_gate, GateReport(Path("out"), "mend", (), ("a note",))).splitlines()
    assert passed == ["note: a note", "Nothing speaks against out; `git am --keep-cr out/*.patch` takes it."]


def test_a_replay_says_what_it_repeats() -> None:
    same = VerifyReport(Path("out"), "mend", 9, (), (), 4)
    assert shown(print_verified, same).splitlines() == ["4 probes run.", "All 9 figures are repeated."]
    other = replace(same, differences=(Figure("patches.0.sha256", "a", "b"),))
    assert shown(print_verified, other).splitlines() == [
        "patches.0.sha256: recorded 'a', seen 'b'", "4 probes run.", "1 of 9 figures are not repeated.",
    ]  # fmt: skip
    failed = shown(print_verified, replace(other, failed=True)).splitlines()
    assert failed[-1] == "Headwater or the machine failed in some of them: that says nothing of the figures."


CHANGE = AtlasChange("plain", "introduced", V("5.4.0"), "a1" * 20, 114)
OVER = ChangeOver("plain", "introduced", V("5.4.0"), V("5.3.0"), V("5.4.0"), None)
BROKEN = Difference("plain", V("5.4.0"), Verdict.GOOD, Verdict.BAD, SAID, "cpu")
NEW = Difference("plain", V("5.5.0"), None, Verdict.OTHER_FAILURE, SAID, "cpu")
MISSED = Unwritten("plain", V("5.6.0"), "no space", harness=True)
GAP = Gap("plain", V("5.6.0"), V("5.7.0"))


def test_what_measuring_anew_changes() -> None:
    update = AtlasUpdate(Atlas(()), (BROKEN, NEW), (NEW,), (MISSED,), (GAP,), (CHANGE,))
    assert shown(print_update, update, (7, 9), "That is all.").splitlines() == [
        "case release recorded seen evidence",
        "plain 5.4.0 good bad KeyError: of another kind",
        "plain 5.5.0 nothing other failure KeyError: of another kind",
        "not judged: plain on 5.5.0 is other failure (KeyError: of another kind)",
        "not measured: plain on 5.6.0: no space",
        "gap: plain: 5.6.0 to 5.7.0 has no verdict",
        "dropped: plain no longer is introduced in 5.4.0, and so its commit a1a1a1a1a1a1 (#114) goes",
        "comments below the header are not kept: lines 7, 9",
        "That is all.",
    ]


def test_what_no_longer_holds() -> None:
    check = AtlasCheck(3, (BROKEN,), (MISSED,), (GAP,), interrupted=True)
    assert shown(print_check, check).splitlines() == [
        "case release recorded seen evidence",
        "plain 5.4.0 good bad KeyError: of another kind",
        "not measured: plain on 5.6.0: no space",
        "gap: plain: 5.6.0 to 5.7.0 has no verdict; `headwater atlas update --new` measures it",
        "3 of 5 recorded cells hold. Interrupted: the rest was not looked at.",
    ]


def test_commits_of_change_overs_and_why_there_is_none() -> None:
    rows = [
        CommitOf(OVER, "found", CHANGE),
        CommitOf(OVER, "open", why="not judged", command="headwater bisect plain"),
        CommitOf(OVER, "open", why="maintenance releases alone"),
    ]
    assert shown(print_commits, rows, (), "That is all.").splitlines() == [
        "case what release commit",
        "plain introduced 5.4.0 a1a1a1a1a1a1 (#114) found",
        "open: plain introduced in 5.4.0: not judged",
        "headwater bisect plain",
        "open: plain introduced in 5.4.0: maintenance releases alone",
        "That is all.",
    ]
