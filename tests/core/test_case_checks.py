# SPDX-License-Identifier: Apache-2.0
"""Self-tests of cases: which releases they are run on, what fails them, and failures that are taken for another bug."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.atlas import Atlas
from headwater.core.atlas_text import gathered
from headwater.core.case_checks import CaseCheck, MutantCheck, Plan, judge_cases, plan, with_mutants
from headwater.core.case_mutants import Mutant
from headwater.core.cases import Case
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Signature, Verdict

KNOWN = [Version(f"5.{minor}.0") for minor in range(8)]
LETTERS = {"g": Verdict.GOOD, "b": Verdict.BAD, "a": Verdict.ABSENT, "o": Verdict.OTHER_FAILURE}


def case(case_id: str, type_: str = "RuntimeError", message: str = "", **more: object) -> Case:
    made = Case(case_id, "A bug", "a.py", (), "crash", (Signature(type_, message or case_id),), 60, False, "", "", {})
    return replace(made, **more)  # type: ignore[arg-type]


def atlas(histories: dict[str, str]) -> Atlas:
    cells = {
        (name, KNOWN[n]): LETTERS[letter] for name, letters in histories.items() for n, letter in enumerate(letters)
    }
    return gathered(cells, KNOWN, list(histories))


def make(*cases: Case, **histories: str) -> Plan:
    """A plan; of the releases up to 5.3.0 each runs in one environment, and those behind in another."""
    return plan(cases, [one.id for one in cases], atlas(histories), KNOWN, lambda v: v < Version("5.4.0"))


def test_as_few_releases_as_serve_all() -> None:
    made = make(case("one"), case("two"), one="ggbbbbgg", two="bbbbggbb")
    assert [(test.case, str(test.release), test.wanted) for test in made.tests] == [
        ("one", "5.5.0", Verdict.BAD),
        ("one", "5.7.0", Verdict.GOOD),
        ("two", "5.7.0", Verdict.BAD),
        ("two", "5.5.0", Verdict.GOOD),
    ]
    assert made.faults == {"one": (), "two": ()}


def test_releases_of_an_environment_that_runs_already_are_preferred() -> None:
    made = make(case("one"), one="bbbgbbbb")
    assert {str(test.release) for test in made.tests} == {"5.7.0", "5.3.0"}
    both = make(case("one"), one="gbbbbbgb")
    assert {str(test.release) for test in both.tests} == {"5.7.0", "5.6.0"}


@given(st.lists(st.text(alphabet="gbao", min_size=8, max_size=8), min_size=1, max_size=6))
def test_every_case_is_seen_bad_and_otherwise_where_the_atlas_has_that(letters: list[str]) -> None:
    histories = {f"case-{n}": text for n, text in enumerate(letters)}
    made = make(*map(case, histories), **histories)
    recorded = atlas(histories)
    assert all(recorded.expected(test.case, test.release) is test.wanted for test in made.tests)
    for name, text in histories.items():
        wanted = [test.wanted for test in made.tests if test.case == name]
        assert len(wanted) == len(set(wanted))
        assert (Verdict.BAD in wanted) == ("b" in text)
        assert (Verdict.GOOD in wanted) == ("g" in text)
        assert (Verdict.ABSENT in wanted) == ("a" in text and "g" not in text)


def test_what_the_atlas_says_against_a_case_before_any_probe() -> None:
    def faults(one: Case, history: str) -> tuple[str, ...]:
        return make(one, one=history).faults["one"]

    assert faults(case("one"), "ggggbbbb") == ()
    assert "no release where it is bad" in faults(case("one"), "gggggggg")[0]
    assert "mark it `open = true`" in faults(case("one"), "aaaabbbb")[0]
    assert faults(case("one", open=True), "aaaabbbb") == ()
    assert faults(case("one", open=True), "bbbbbbbb") == ()
    assert "is marked open, and the atlas has a release where it is good" in faults(case("one", open=True), "gbbb")[0]
    assert faults(case("one", same_as=("nobody",)), "gb")[0] == "same_as names nobody, and there is no such case"


def row(case_id: str, release: str, verdict: Verdict, type_: str | None = None, message: str = "") -> ProbeResult:
    evidence = Evidence(type_, message or None)
    return ProbeResult(case_id, release, None, "cpu", verdict, evidence, 0.1, False, "tree", "environment")


def judged(cases: list[Case], *rows: ProbeResult) -> dict[str, CaseCheck]:
    made = make(*cases, **{one.id: "gggggggb" for one in cases})
    return {check.case.id: check for check in judge_cases(cases, cases, made, rows)}


def test_a_case_that_sees_its_bug_and_only_there_passes() -> None:
    check = judged(
        [case("one")], row("one", "5.7.0", Verdict.BAD, "RuntimeError", "one"), row("one", "5.6.0", Verdict.GOOD)
    )
    assert check["one"].faults == ()
    assert len(check["one"].rows) == 2


def test_a_case_that_passes_idly_or_fails_always_is_found() -> None:
    idle = judged([case("one")], row("one", "5.7.0", Verdict.GOOD), row("one", "5.6.0", Verdict.GOOD))
    assert idle["one"].faults == ("it is good on 5.7.0, not bad: it returned",)
    inverted = judged(
        [case("one")],
        row("one", "5.7.0", Verdict.GOOD), row("one", "5.6.0", Verdict.BAD, "RuntimeError", "one"),
    )  # fmt: skip
    assert inverted["one"].faults == (
        "it is good on 5.7.0, not bad: it returned",
        "it is bad on 5.6.0, not good: RuntimeError: one",
    )


def test_what_was_not_probed_has_not_passed() -> None:
    check = judged([case("one")], row("one", "5.7.0", Verdict.BAD, "RuntimeError", "one"))
    assert check["one"].faults == ("not probed on 5.6.0",)


def test_a_failure_that_another_case_s_signature_matches() -> None:
    rows = [
        row("one", "5.7.0", Verdict.BAD, "RuntimeError", "one broke"), row("one", "5.6.0", Verdict.GOOD),
        row("two", "5.7.0", Verdict.BAD, "KeyError", "two"), row("two", "5.6.0", Verdict.GOOD),
    ]  # fmt: skip
    apart = judged([case("one"), case("two", "KeyError")], *rows)
    assert (apart["one"].faults, apart["two"].faults) == ((), ())
    greedy = case("two", "RuntimeError", "broke|two")
    [fault] = judged([case("one"), greedy], *rows)["one"].faults
    assert fault.startswith("its failure on 5.7.0 (RuntimeError: one broke) is matched by a signature of two;")
    # Two cases that show one bug may say so, either of them.
    assert judged([case("one", same_as=("two",)), greedy], *rows)["one"].faults == ()
    assert judged([case("one"), replace(greedy, same_as=("one",))], *rows)["one"].faults == ()


def test_a_mutant_that_passes_is_a_fault_of_its_case() -> None:
    [check] = judge_cases([case("one")], [case("one")], make(case("one"), one="ggbg"), ())
    caught = MutantCheck("one", Mutant(7, "`use()` left out", ""), (), True)
    idle = MutantCheck("one", Mutant(9, "`x` inverted", ""), (), False)
    tested = with_mutants(check, [caught, idle])
    assert tested.faults == (*check.faults, "line 9: it passes all the same with `x` inverted")
    assert tested.mutants == (caught, idle)
