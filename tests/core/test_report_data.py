# SPDX-License-Identifier: Apache-2.0
"""What a report shows: one evidence a device, turns along the tree of releases, neighbours as one, whatever the order
of what it is made from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry
from headwater.core.auditing import audit_release
from headwater.core.cases import Case
from headwater.core.patch_results import PatchStatus, ReleaseStatus
from headwater.core.pins import IndexFile, Pin, Pins
from headwater.core.report_data import (
    CellData,
    PatchOf,
    ReportData,
    Seen,
    evidence_runs,
    report_data,
    state_runs,
    turns,
)
from headwater.core.states import PatchState
from headwater.core.verdicts import Evidence, Verdict

V = Verdict
LETTERS = {"g": V.GOOD, "b": V.BAD, "a": V.ABSENT, "k": V.FLAKY, "f": V.OTHER_FAILURE, "u": V.UNTESTABLE}
KNOWN = [Version(text) for text in ("5.0.0", "5.0.1", "5.0.2", "5.1.0", "5.1.1", "5.2.0", "5.3.0")]
WHEEL = IndexFile("x.whl", "0" * 64, 1)
PINS = Pins("transformers", KNOWN[0], "2", (), tuple(
    Pin(version, datetime(2026, 1, 1, tzinfo=UTC), "", None, WHEEL, None, tree=f"tree {version}") for version in KNOWN
))  # fmt: skip
TREES = {version: f"tree {version}" for version in KNOWN}
CASES = {name: Case(name, "A bug", "a.py", (), "crash", (), 60, False, "", "", {}) for name in ("one", "two")}


def seen(release: str, verdict: str = "b", device: str = "cpu", current: bool = True, **more: str) -> Seen:
    said = Evidence("E", more.get("message", "broke"), more.get("frame", "x.py:1 in f"))
    recorded = more.get("recorded", "2026-01-01T00:00:00+00:00")
    return Seen("one", f"tree {release}", device, LETTERS[verdict], said, "e", recorded, current)


def atlas(letters: str) -> Atlas:
    pairs = zip(letters, KNOWN, strict=True)
    return Atlas(tuple(AtlasEntry("one", LETTERS[letter], v, v) for letter, v in pairs if letter != "."))


def made(letters: str, rows: list[Seen]) -> ReportData:
    known = atlas(letters)
    audits = {version: audit_release(known, CASES, version, KNOWN, (), {}) for version in KNOWN}
    return report_data(PINS, known, CASES, TREES, rows, [], [], audits, [], {})


def cells(letters: str) -> list[CellData]:
    pairs = zip(letters, KNOWN, strict=True)
    return [CellData(version, LETTERS.get(letter), ()) for letter, version in pairs]


@pytest.mark.parametrize(("letters", "found"), [
    ("gggbbbb", [("introduced", "5.0.0", "5.1.0", "")]),
    ("aaabbbb", [("introduced", "5.0.0", "5.1.0", "")]),
    ("bbbbbgg", [("fixed", "5.1.0", "5.2.0", "")]),
    # Mended on a maintenance line alone, which leads nowhere.
    ("bbgbbbb", [("fixed", "5.0.1", "5.0.2", "")]),
    ("ggbgggg", [("introduced", "5.0.1", "5.0.2", "")]),
    # What was not judged lies between.
    ("bbbffgg", [("fixed", "5.0.0", "5.2.0", "5.1.0")]),
    ("ggguuuk", []),
    ("gggbagg", [
        ("introduced", "5.0.0", "5.1.0", ""), ("removed", "5.1.0", "5.1.1", ""), ("fixed", "5.1.0", "5.2.0", ""),
    ]),
    ("aaaaagg", [("arrived", "5.1.0", "5.2.0", "")]),
    ("ggggg..", []),
])  # fmt: skip
def test_turns_follow_the_tree_of_releases(letters: str, found: list[tuple[str, str, str, str]]) -> None:
    assert [
        (turn.kind, str(turn.before), str(turn.after), " ".join(map(str, turn.unjudged)))
        for turn in turns("one", cells(letters), Atlas(()))
    ] == found


def test_a_turn_has_its_commit_where_the_atlas_has_one() -> None:
    changes = (AtlasChange("one", "fixed", KNOWN[5], "a" * 40), AtlasChange("two", "introduced", KNOWN[3], "b" * 40))
    for letters in ("gggbbgg", "gggbbaa"):
        known = [turn.change for turn in turns("one", cells(letters), Atlas((), changes))]
        assert known == [None, changes[0]]


def test_one_evidence_a_device_today_s_before_the_newest() -> None:
    old = seen("5.1.0", recorded="2026-01-01T00:00:00+00:00")
    new = seen("5.1.0", "g", current=False, recorded="2026-02-01T00:00:00+00:00")
    late = seen("5.1.0", "g", "cuda", False, recorded="2026-02-01T00:00:00+00:00")
    early = seen("5.1.0", "b", "cuda", False, recorded="2026-01-01T00:00:00+00:00")
    data = made("gggbbgg", [new, old, late, early])
    assert data.devices == ("cpu", "cuda")
    assert data.cases[0].cells[3].seen == (old, late)
    assert data.cases[1].cells[3].seen == ()


def test_only_what_a_probe_would_say_today_is_compared_with_the_atlas() -> None:
    def disputed(*rows: Seen) -> bool:
        return made("gggbbgg", list(rows)).cases[0].cells[3].disputed

    assert disputed(seen("5.1.0", "g"))
    assert not disputed(seen("5.1.0", "b"))
    assert not disputed(seen("5.1.0", "g", current=False))
    assert not disputed(seen("5.1.0", "g", device="meta"))


def test_where_the_atlas_says_nothing_the_store_says_it() -> None:
    first, second, third = made("...bbgg", [seen("5.0.0"), seen("5.0.1", current=False)]).cases[0].cells[:3]
    assert (first.verdict, second.verdict, third.verdict) == (V.BAD, None, None)


def test_neighbours_that_showed_the_same_are_one_run() -> None:
    rows = [
        seen("5.0.0", frame="x.py:1 in f"), seen("5.0.1", frame="x.py:7 in f", recorded="2026-03-01T00:00:00+00:00"),
        seen("5.0.2", message="otherwise"), seen("5.1.1", message="otherwise"), seen("5.2.0", current=False),
    ]  # fmt: skip
    runs = evidence_runs(made("bbbbbbb", rows).cases[0].cells, ["cpu"])
    assert [(str(run.first), str(run.last), run.count, run.message, run.frame, run.current) for run in runs] == [
        ("5.0.0", "5.0.1", 2, "broke", "x.py in f", True),
        ("5.0.2", "5.0.2", 1, "otherwise", "x.py:1 in f", True),
        ("5.1.1", "5.1.1", 1, "otherwise", "x.py:1 in f", True),
        ("5.2.0", "5.2.0", 1, "broke", "x.py:1 in f", False),
    ]
    assert runs[0].recorded == "2026-03-01T00:00:00+00:00"


def test_neighbours_with_one_state_are_one_run() -> None:
    states = [PatchState.ABSENT, PatchState.CLEAN, PatchState.CLEAN, PatchState.CONFLICT]
    releases = [
        ReleaseStatus(str(version), None, (PatchStatus("a", PatchState.CLEAN, ""), PatchStatus("b", state, "")))
        for version, state in zip(KNOWN, states, strict=False)
    ]
    assert [(str(run.first), str(run.last), run.state) for run in state_runs("b", releases)] == [
        ("5.0.0", "5.0.0", states[0]), ("5.0.1", "5.0.2", states[1]), ("5.1.0", "5.1.0", states[3]),
    ]  # fmt: skip


def test_a_release_has_its_neighbours_on_its_line_and_on_the_main_line() -> None:
    by_name = {str(one.pin.version): one for one in made("ggggggg", []).releases}
    assert by_name["5.0.0"].children == (KNOWN[1], KNOWN[3])
    assert by_name["5.0.2"].children == ()
    assert (by_name["5.1.0"].parent, by_name["5.1.0"].children) == (KNOWN[0], (KNOWN[4], KNOWN[5]))
    assert by_name["5.0.0"].parent is None
    beside = {name: str(one.beside) for name, one in by_name.items() if one.beside is not None}
    assert beside == {"5.0.1": "5.1.0", "5.0.2": "5.1.0", "5.1.1": "5.2.0"}


def test_what_was_seen_with_a_series_stands_beside_its_patches_and_in_no_cell() -> None:
    patch = PatchOf("mend", "0001-a.patch", "a", "5.0.0", ("one",))
    rows = [
        seen("5.0.0 patched", "g"), seen("5.0.1 patched", "g"), seen("5.1.0 patched", "b"),
        seen("5.0.0 patched", "g", "meta"), seen("5.2.0 patched otherwise", "g"),
    ]  # fmt: skip
    patched = {"mend": {version: f"tree {version} patched" for version in KNOWN[:4]}}
    audits = {version: audit_release(Atlas(()), CASES, version, KNOWN, (), {}) for version in KNOWN}
    data = report_data(PINS, Atlas(()), CASES, TREES, rows, [patch], [], audits, [], patched)
    [mending] = data.cases[0].mendings
    assert [(str(run.first), str(run.last), run.device, run.verdict) for run in mending.seen] == [
        ("5.0.0", "5.0.1", "cpu", V.GOOD), ("5.1.0", "5.1.0", "cpu", V.BAD), ("5.0.0", "5.0.0", "meta", V.GOOD),
    ]  # fmt: skip
    assert data.devices == ()
    assert not any(cell.seen for cell in data.cases[0].cells)


def test_releases_with_the_bug() -> None:
    assert made("gbkafub", []).cases[0].bad() == [KNOWN[1], KNOWN[2], KNOWN[6]]
    assert made("ggggggg", []).cases[0].bad() == []


def test_what_was_seen_of_a_case_that_is_not_asked_for_is_nowhere() -> None:
    other = replace(seen("5.0.0", device="meta"), case="three")
    assert made("ggggggg", [other]) == made("ggggggg", [])


ROWS = st.builds(
    seen, st.sampled_from(["5.0.0", "5.1.0", "5.3.0", "9.0.0"]), st.sampled_from("gba"),
    st.sampled_from(["cpu", "meta"]), st.booleans(), message=st.sampled_from(["broke", "otherwise"]),
    recorded=st.sampled_from(["2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"]),
)  # fmt: skip


@given(st.lists(ROWS), st.randoms(use_true_random=False), st.text("gbaku.", min_size=7, max_size=7))
def test_the_order_in_which_things_were_recorded_changes_nothing(
    rows: list[Seen], chance: object, letters: str
) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert made(letters, rows) == made(letters, shuffled)
    for cell in made(letters, rows).cases[0].cells:
        here = [row for row in rows if row.tree == f"tree {cell.release}"]
        assert {one.device for one in cell.seen} == {row.device for row in here}
        assert all(one in here for one in cell.seen)
