# SPDX-License-Identifier: Apache-2.0
"""Results by test: what is read is what was written, and no failure is lost between two runs."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.errors import HarnessError
from headwater.core.test_results import OneTest, Result, TestResults, compare, counts, new_failures, parse, plain

WORDS: tuple[Result, ...] = ("passed", "failed", "skipped", "needs-hub")
# Few names, so that two runs have most of them in common.
names = st.sampled_from([f"test_{letter}.py::test[{letter}]" for letter in "abcdefg"]) | st.text(min_size=1, max_size=9)
runs = st.dictionaries(names, st.tuples(st.sampled_from(WORDS), st.none() | st.text(max_size=20)), max_size=9)
Run = Mapping[str, tuple[Result, str | None]]


def results(run: Run) -> TestResults:
    """In the order in which they ran, which is not that of their names."""
    return tuple(OneTest(name, result, reason) for name, (result, reason) in run.items())


def named(run: Run, word: str) -> set[str]:
    return {name for name, (result, _reason) in run.items() if result == word}


def names_of(tests: TestResults) -> list[str]:
    return [one.name for one in tests]


@given(runs)
def test_what_is_written_is_read(run: Run) -> None:
    written = json.dumps(plain(results(run)))
    read = parse(json.loads(written))
    assert set(read) == set(results(run))
    assert names_of(read) == sorted(run)
    assert json.dumps(plain(read)) == written


@given(runs, runs)
def test_every_test_that_ceased_to_hold_is_told(before: Run, after: Run) -> None:
    changes = compare(results(before), results(after))
    assert names_of(changes.new_failures) == sorted(named(after, "failed") - named(before, "failed"))
    still_run = named(after, "passed") | named(after, "failed")
    assert names_of(changes.lost) == sorted(named(before, "passed") - still_run)
    assert changes.sound == (not changes.new_failures and not changes.lost)
    assert changes.new_failures == new_failures(results(before), results(after))


@given(runs, runs)
def test_every_failure_is_counted_once(before: Run, after: Run) -> None:
    changes = compare(results(before), results(after))
    assert names_of(changes.still_failing) == sorted(named(after, "failed") & named(before, "failed"))
    assert names_of(changes.newly_passing) == sorted(named(after, "passed") & named(before, "failed"))
    assert len(changes.new_failures) + len(changes.still_failing) == len(named(after, "failed"))


@given(runs, runs)
def test_the_order_of_a_run_does_not_matter(before: Run, after: Run) -> None:
    turned = compare(results(before)[::-1], results(after)[::-1])
    assert turned == compare(results(before), results(after))


@given(runs)
def test_a_run_beside_itself_is_sound(run: Run) -> None:
    changes = compare(results(run), results(run))
    assert (changes.new_failures, changes.newly_passing) == ((), ())
    assert changes.sound


@given(runs)
def test_every_test_is_counted_once(run: Run) -> None:
    assert counts(results(run)) == {word: len(named(run, word)) for word in WORDS}


def test_a_test_that_needs_the_hub_has_not_failed_and_holds_no_more() -> None:
    needs = OneTest("a", "needs-hub", "OSError: no connection")
    assert compare((OneTest("a", "passed"),), (needs,)).lost == (needs,)
    assert compare((OneTest("a", "failed"),), (needs,)).sound
    assert compare((needs,), (OneTest("a", "failed"),)).new_failures == (OneTest("a", "failed"),)


def test_what_is_told_is_the_second_run() -> None:
    before = (OneTest("a", "failed", "E: one"), OneTest("b", "passed"), OneTest("c", "passed"))
    after = (OneTest("a", "failed", "E: two"), OneTest("b", "skipped", "Skipped: why"))
    changes = compare(before, after)
    assert changes.still_failing == (OneTest("a", "failed", "E: two"),)
    assert changes.lost == (OneTest("b", "skipped", "Skipped: why"), OneTest("c", "skipped", "it is no longer there"))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "are no list but dict"),
        ("passed", "are no list but str"),
        ([["a", "passed"]], "hold"),
        ([["a", "xfailed", None]], "hold"),
        ([[1, "passed", None]], "hold"),
        ([["a", "failed", 3]], "hold"),
        ([["a", "passed", None], ["a", "failed", "E"]], "name 'a' twice"),
    ],
)
def test_what_cannot_be_read(entries: object, message: str) -> None:
    with pytest.raises(HarnessError, match=message):
        parse(entries)
