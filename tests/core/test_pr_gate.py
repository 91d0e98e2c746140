# SPDX-License-Identifier: Apache-2.0
"""The gate's rules on evidence alone, and how two pieces of evidence differ."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasEntry
from headwater.core.errors import BadInput
from headwater.core.plain_data import to_plain
from headwater.core.pr_copies import HandEdit
from headwater.core.pr_evidence import (
    CaseEvidence,
    EnvironmentEvidence,
    LeftOut,
    LibraryLine,
    Line,
    PatchEvidence,
    PrEvidence,
    Sight,
    TargetEvidence,
    Times,
    library_line,
    read_evidence,
    sight_of,
    write_evidence,
)
from headwater.core.pr_gate import by_hand, count_of_figures, differences, not_red_and_green, older_than
from headwater.core.pr_library import library_tests
from headwater.core.pr_results import fixed_in, still_bad
from headwater.core.results import ProbeResult
from headwater.core.states import PatchState
from headwater.core.test_results import OneTest, Result, compare
from headwater.core.verdicts import Evidence, Verdict

PLACE = "tests/utils/test_a.py"
NO_FIGURES = ("times", "headings", "written", "headwater", "environments", "schema")


def sight(verdict: Verdict, *tests: tuple[str, str]) -> Sight:
    return Sight(verdict, None, None, None, tuple(OneTest(f"test_a.py::{name}", result) for name, result in tests))  # type: ignore[arg-type]


RED, GREEN = sight(Verdict.BAD, ("one", "failed"), ("two", "passed")), sight(Verdict.GOOD, ("one", "passed"))
BAD, GOOD = sight(Verdict.BAD), sight(Verdict.GOOD)
CASE = Line("a-case", "5.0.0", "cpu", BAD, GOOD, GOOD)
TESTS = Line("tests", "5.0.0", "cpu", RED, GREEN, GREEN)
PATCH = PatchEvidence(
    "0001-a.patch", "aa", "id", "source", "Mend a", {"5.0.0": "tree"}, ("a-case",), (PLACE,), (CASE, TESTS)
)
EVIDENCE = PrEvidence(
    1, "library", "mend", "0.1.0", TargetEvidence("release", "5.0.0", "5.0.0", "5.0.0", "before", "am", None),
    ("cpu",), 1, (), (PATCH,), (), {"a-case": CaseEvidence("a.py", {"a.py": "cc"})}, (),
    (EnvironmentEvidence("5.0.0", "group", "key", "2.13.0", "3.11.7", "linux"),), ("What?",), {},
    Times("2026-01-01T00:00:00Z"),
)  # fmt: skip


def with_lines(*lines: Line) -> PrEvidence:
    return replace(EVIDENCE, patches=(replace(PATCH, lines=lines),))


def test_red_before_and_green_after() -> None:
    assert not_red_and_green(EVIDENCE) == []
    elsewhere = replace(CASE, revision="5.9.0", before=GOOD)
    assert not_red_and_green(with_lines(CASE, TESTS, elsewhere)) == []


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ((replace(CASE, before=GOOD), TESTS), "the case a-case on cpu must be bad below the patch and is good"),
        ((replace(CASE, after=BAD), TESTS), "must be good with it and is bad"),
        ((replace(CASE, whole=BAD), TESTS), "must be good with the whole series and is bad"),
        ((replace(CASE, before=sight(Verdict.OTHER_FAILURE)), TESTS), "and is other failure"),
        ((replace(CASE, after=sight(Verdict.UNTESTABLE)), TESTS), "and is untestable"),
        ((CASE, replace(TESTS, before=GREEN)), "its tests on cpu must be bad below the patch"),
        ((CASE, replace(TESTS, after=RED, whole=RED)), "its tests on cpu must be good with it"),
        ((CASE, replace(TESTS, after=sight(Verdict.GOOD, ("two", "passed")))), "no test of tests/utils/test_a.py on"),
        ((CASE, replace(TESTS, after=sight(Verdict.GOOD, ("one", "skipped"), ("two", "passed")))), "no test of"),
        ((CASE,), "its tests ran on no device that has real numbers"),
    ],
)  # fmt: skip
def test_what_is_not(lines: tuple[Line, ...], named: str) -> None:
    found = not_red_and_green(with_lines(*lines))
    assert found
    assert {one.kind for one in found} == {"not-red-and-green"}
    assert named in found[0].text
    assert found[0].text.startswith("0001-a.patch: ")


def test_every_test_file_has_a_red_test() -> None:
    two = replace(PATCH, tests=(PLACE, "tests/utils/test_b.py"))
    [found] = not_red_and_green(replace(EVIDENCE, patches=(two,)))
    assert "no test of tests/utils/test_b.py" in found.text
    none = replace(PATCH, tests=(), lines=(CASE,))
    [found] = not_red_and_green(replace(EVIDENCE, patches=(none,)))
    assert "it brings no test" in found.text


def test_evidence_of_other_contents() -> None:
    sums, cases = {"0001-a.patch": "aa"}, {"a-case": CaseEvidence("a.py", {"a.py": "cc"})}
    assert older_than(EVIDENCE, sums, cases, {"Mend a": "source", "Another": "x"}) == []
    assert older_than(EVIDENCE, sums, cases, {}) == []
    told = [
        one.text
        for one in older_than(
            EVIDENCE, {"0002-b.patch": "bb"}, {"a-case": CaseEvidence("a.py", {"a.py": "dd"})}, {"Mend a": "new"}
        )
    ]
    assert [text.partition(": ")[2].partition(";")[0] for text in told] == [
        "0001-a.patch is gone since", "0002-b.patch was added since", "the case a-case in the bundle was changed since",
        "its patch 'Mend a' in patches/mend was changed or dropped since",
    ]  # fmt: skip
    [changed] = older_than(EVIDENCE, {"0001-a.patch": "ab"}, cases, {})
    assert "0001-a.patch was changed since; `headwater pr mend --onto 5.0.0` makes it anew" in changed.text


def test_edits_by_hand() -> None:
    edits = [HandEdit("a.py", None, "modular_a.py", kept) for kept in (True, False)]
    edits += [HandEdit("b.py", "B.c", "lib.x.c", kept) for kept in (True, False)]
    assert [one.kind for one in by_hand(edits)] == ["generated-file", "copied-code"]


@given(st.sampled_from(range(count_of_figures(EVIDENCE))))
def test_every_figure_that_is_changed_is_named(number: int) -> None:
    data = to_plain(EVIDENCE)
    figures = [place for place in _places(data) if place[0] not in NO_FIGURES]
    place = figures[number % len(figures)]
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    if inner[place[-1]] in ("bad", "good", "passed", "failed", "release"):
        swaps = {"bad": "good", "good": "bad", "passed": "failed", "failed": "passed", "release": "commit"}
        inner[place[-1]] = swaps[inner[place[-1]]]
    else:
        inner[place[-1]] = 7 if isinstance(inner[place[-1]], int) else "forged"
    forged = read_evidence(json.dumps(data), "evidence.json")
    assert differences(EVIDENCE, EVIDENCE) == []
    assert differences(forged, EVIDENCE)


def _places(data: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(data, (dict, list)):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        return [found for key, one in items for found in _places(one, (*place, key))]
    return [place]


@pytest.mark.parametrize("name", ["../mine.txt", "/etc/hostname", "..", ".", "", "a\\b", "a/b"])
def test_evidence_names_no_file_outside_its_folder(name: str) -> None:
    for forged in (
        replace(EVIDENCE, patches=(replace(PATCH, file=name),)),
        replace(EVIDENCE, cases={"a-case": CaseEvidence("a.py", {name: "cc"})}),
    ):
        with pytest.raises(BadInput, match="is no name of a file in a bundle"):
            read_evidence(json.dumps(to_plain(forged)), "evidence.json")


def test_what_is_no_figure() -> None:
    other = replace(
        EVIDENCE, headwater="9", times=Times("later"), written={"BODY.md": "x"}, environments=(), headings=(),
    )  # fmt: skip
    assert differences(EVIDENCE, other) == []


def test_there_and_back() -> None:
    text = write_evidence(EVIDENCE)
    assert read_evidence(text, "x") == EVIDENCE
    assert text.rstrip().splitlines()[-4:] == [' "times": {', '  "made": "2026-01-01T00:00:00Z"', " }", "}"]
    with pytest.raises(BadInput, match="schema 2"):
        read_evidence(text.replace('"schema": 1', '"schema": 2'), "x")
    with pytest.raises(BadInput, match="no JSON"):
        read_evidence(text[:-3], "x")


def test_parts_of_it() -> None:
    second = replace(PATCH, file="0002-b.patch", lines=(replace(CASE, device="meta"), TESTS))
    both = replace(EVIDENCE, patches=(PATCH, second), devices=("cpu", "meta"))
    assert [one.file for one in both.only("0002-b.patch").patches] == ["0002-b.patch"]
    assert [len(one.lines) for one in both.on(("meta",)).patches] == [0, 1]
    left_out = (LeftOut("0003-c.patch", PatchState.FIXED_UPSTREAM, "cpu", {"a-case": Verdict.GOOD}),)
    whole = replace(both, left_out=left_out)
    assert (whole.only("0002-b.patch").left_out, whole.on(("meta",)).left_out) == ((), ())
    assert whole.on(("cpu",)).left_out == left_out


def test_a_probe_that_failed_on_our_side_is_seen_wherever_it_stands() -> None:
    failed = sight(Verdict.HARNESS_ERROR)
    out = LeftOut("0003-c.patch", PatchState.FIXED_UPSTREAM, "cpu", {"a-case": Verdict.HARNESS_ERROR})
    assert not EVIDENCE.failed
    for line in (replace(TESTS, before=failed), replace(TESTS, after=failed), replace(TESTS, whole=failed)):
        assert with_lines(CASE, line).failed
    assert replace(EVIDENCE, left_out=(out,)).failed


def test_what_changes_from_run_to_run_is_left_out() -> None:
    def row(address: str, seconds: float) -> ProbeResult:
        shown = Evidence("TypeError", f"<object at {address}> of 0x12", None)
        return ProbeResult(
            "a", "5.0.0", None, "cpu", Verdict.BAD, shown, seconds, False, "tree", None,
            tests=(OneTest("t", "failed", f"E: {address}"),),
        )  # fmt: skip

    assert sight_of(row("0x7f00aa11bb22", 1.0)) == sight_of(row("0x7f00aa11cc33", 2.0))
    assert sight_of(row("0x7f00aa11bb22", 1.0)).message == "<object at 0x...> of 0x12"


def entry(verdict: Verdict, first: str, last: str) -> AtlasEntry:
    return AtlasEntry("a", verdict, Version(first), Version(last))


def test_since_when_it_is_fixed() -> None:
    atlas = Atlas(
        (
            entry(Verdict.GOOD, "5.0.0", "5.0.0"), entry(Verdict.BAD, "5.1.0", "5.1.1"),
            entry(Verdict.GOOD, "5.2.0", "5.2.0"), entry(Verdict.BAD, "5.3.0", "5.3.0"),
            entry(Verdict.GOOD, "5.4.0", "5.5.0"),
        )
    )  # fmt: skip
    assert fixed_in(atlas, ["a"], Version("5.5.0")) == Version("5.4.0")
    assert fixed_in(atlas, ["b", "a"], Version("5.2.0")) == Version("5.2.0")
    assert fixed_in(atlas, ["a"], Version("5.0.0")) is None
    assert fixed_in(atlas, ["b"], Version("5.5.0")) is None
    assert (still_bad(atlas, ["b", "a"]), still_bad(atlas, ["b"])) == (Version("5.3.0"), None)


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("src/lib/cache_utils.py", "tests/utils/test_cache_utils.py"),
        ("src/lib/generation/utils.py", "tests/generation/test_utils.py"),
        ("src/lib/models/bert/modeling_bert.py", "tests/models/bert/test_modeling_bert.py"),
        ("src/lib/models/bert/modular_bert.py", "tests/models/bert/test_modeling_bert.py"),
        ("src/lib/models/bert/tokenization_bert.py", "tests/models/bert/test_tokenization_bert.py"),
        ("src/lib/integrations/deep/speed.py", "tests/integrations/test_speed.py"),
        ("src/lib/data.json", None),
        ("tests/utils/test_x.py", None),
        ("src/other/x.py", None),
    ],
)
def test_where_the_librarys_tests_lie(path: str, first: str | None) -> None:
    found = library_tests([path, path], "lib")
    assert [names[0] for names in found] == ([first] if first else [])


def test_the_counts_of_a_sight() -> None:
    assert [RED.count(result) for result in ("failed", "passed", "skipped")] == [1, 1, 0]
    assert (GREEN.count("passed"), BAD.count("failed")) == (1, 0)


def test_a_file_of_the_librarys_tests_is_counted_before_and_after() -> None:
    def row(verdict: Verdict, **results: Result) -> ProbeResult:
        tests = tuple(OneTest(name, result) for name, result in results.items())
        return ProbeResult(PLACE, "5.0.0", None, "meta", verdict, Evidence(), 1.0, False, "t", None, tests=tests)

    before = row(Verdict.BAD, a="passed", b="failed", c="failed", d="passed", e="passed")
    after = row(Verdict.OTHER_FAILURE, a="passed", b="passed", c="failed", d="failed", e="skipped")
    assert library_line(PLACE, before, after, compare(before.tests, after.tests)) == LibraryLine(
        PLACE, "meta", Verdict.BAD, Verdict.OTHER_FAILURE, passed_before=3, passed_after=2, failed_before=2,
        failed_after=2, still_failing=("c",), newly_passing=("b",), new_failures=("d",), lost=("e",),
    )  # fmt: skip
