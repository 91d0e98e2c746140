# SPDX-License-Identifier: Apache-2.0
"""The atlas: ranges in version order that do not overlap, and verdicts in the design's words."""

from __future__ import annotations

import pytest
from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, read_atlas
from headwater.core.errors import BadInput
from headwater.core.verdicts import Verdict

ATLAS = """\
# The atlas: `first` and `last` are both included.
# verdict = "unknown" never stands here.
schema = 1

[[entry]]
case = "early-init"
verdict = "absent"
first = "4.56.0"
last = "5.4.0"

[[entry]]
case = "early-init"
verdict = "bad"
first = "5.5.0"
last = "5.12.1"

[[entry]]
case = "early-init"
verdict = "other-failure"
first = "5.13.0"
last = "5.13.0"

[[entry]]
case = "max-cache-len"
verdict = "good"
first = "4.56.0"
last = "5.24.0"
"""


def refuse(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        read_atlas(text, "atlas.toml")
    assert str(caught.value).startswith("atlas.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("case", "version", "verdict"),
    [
        ("early-init", "4.56.0", Verdict.ABSENT),
        ("early-init", "5.4.0", Verdict.ABSENT),
        ("early-init", "5.5.0", Verdict.BAD),
        ("early-init", "5.10.4", Verdict.BAD),
        ("early-init", "5.12.1", Verdict.BAD),
        ("early-init", "5.13.0", Verdict.OTHER_FAILURE),
        ("early-init", "5.13.1", None),
        ("early-init", "4.55.0", None),
        ("max-cache-len", "5.10.1", Verdict.GOOD),
        ("unheard-of", "5.10.1", None),
        ("early-init", None, None),
    ],
)
def test_expected(case: str, version: str | None, verdict: Verdict | None) -> None:
    atlas = read_atlas(ATLAS, "atlas.toml")
    assert atlas.expected(case, Version(version) if version else None) is verdict


def test_an_atlas_without_entries() -> None:
    assert read_atlas("schema = 1\n", "atlas.toml") == Atlas(())


@pytest.mark.parametrize("word", [verdict.value for verdict in Verdict])
def test_every_verdict_has_its_word(word: str) -> None:
    text = ATLAS.replace('verdict = "good"', f'verdict = "{word}"')
    assert read_atlas(text, "atlas.toml").entries[-1].verdict is Verdict(word)


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("schema = 1", "schema = 2", 3, "'schema' is 2, and this Headwater reads 1"),
        ("schema = 1", "schema = 1\ncolour = 1", 4, "'colour' is not a key"),
        ("schema = 1", "schema = 1\n[colour]", 4, "'colour' is not a key"),
        ("schema = 1", "", 1, "'schema' is missing"),
        (
            'verdict = "good"',
            'verdict = "other failure"',
            25,
            "'verdict' in [entry] must be one of good, bad",
        ),
        ('verdict = "good"', 'verdict = "Good"', 25, "'verdict' in [entry] must be one of good, bad"),
        ('verdict = "good"', "verdict = 0", 25, "'verdict' in [entry] must be a str"),
        ('verdict = "good"', "", 23, "'verdict' in [entry] is missing"),
        ('verdict = "good"', 'verdict = "good"\ncolour = 1', 26, "'colour' in [entry] is not a key"),
        ('last = "5.24.0"', 'last = "4.55.0"', 27, "'last' in [entry] comes before first"),
        ('last = "5.24.0"', 'last = "five"', 27, "is not a version"),
        ('case = "max-cache-len"', 'case = "early-init"', 23, "overlap"),
        ('first = "5.5.0"', 'first = "5.4.0"', 11, "overlap"),
    ],
)
def test_refused_with_the_line(old: str, new: str, line: int, what: str) -> None:
    message = refuse(ATLAS.replace(old, new))
    assert what in message
    # An overlap is one of a whole entry: any line of it will do.
    lines = range(line, line + 5) if what == "overlap" else (line,)
    assert any(f"line {n}" in message for n in lines), message


def test_an_overlap_is_found_in_any_order() -> None:
    entries = ATLAS.split("\n[[entry]]\n")
    for inner in ("5.6.0", "5.12.1"):
        extra = f'case = "early-init"\nverdict = "good"\nfirst = "{inner}"\nlast = "{inner}"\n'
        for place in (1, 4):
            text = "\n[[entry]]\n".join([*entries[:place], extra, *entries[place:]])
            assert "two entries of early-init overlap" in refuse(text)


CHANGE = """
[[change]]
case = "early-init"
find = "introduced"
release = "5.5.0"
commit = "2dba8e0495974930af02274d75bd182d22cc1686"
pull = 44950
"""
SHA = "2dba8e0495974930af02274d75bd182d22cc1686"


def test_the_commit_of_a_change_over() -> None:
    atlas = read_atlas(ATLAS + CHANGE, "atlas.toml")
    change = AtlasChange("early-init", "introduced", Version("5.5.0"), SHA, 44950)
    assert atlas.changes == (change,)
    assert atlas.change("early-init", "introduced", Version("5.5.0")) == change
    assert atlas.change("early-init", "fixed", Version("5.5.0")) is None
    assert read_atlas(ATLAS + CHANGE.replace("pull = 44950\n", ""), "atlas.toml").changes[0].pull is None


def test_change_overs_lie_between_bad_and_without_the_bug_alone() -> None:
    atlas = read_atlas(ATLAS, "atlas.toml")
    assert atlas.turns("early-init", "introduced") == [Version("5.5.0")]
    # After the bad ones comes another failure, which says nothing of the bug.
    assert atlas.turns("early-init", "fixed") == []
    mended = ATLAS.replace('"other-failure"', '"good"')
    assert read_atlas(mended, "atlas.toml").turns("early-init", "fixed") == [Version("5.13.0")]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"introduced"', '"found"', "'find' in [change] must be introduced or fixed, not 'found'"),
        ('"introduced"', '"fixed"', "'release' in [change] is 5.5.0, where early-init does not become without the bug"),
        ('"5.5.0"', '"5.6.0"', "'release' in [change] is 5.6.0, where early-init does not become bad"),
        ('"early-init"', '"unheard-of"', "'release' in [change] is 5.5.0, where unheard-of does not become bad"),
        (SHA, SHA[:12], "'commit' in [change] must be 40 hexadecimal digits"),
        ("44950", "0", "'pull' in [change] must be the number of a pull request"),
        ("pull = 44950", "colour = 1", "'colour' in [change] is not a key"),
    ],
)
def test_changes_that_are_refused(old: str, new: str, what: str) -> None:
    assert what in refuse(ATLAS + CHANGE.replace(old, new))


def test_two_commits_for_one_change_over_are_refused() -> None:
    assert "has two commits for early-init: 5.5.0" in refuse(ATLAS + CHANGE + CHANGE)


def test_a_release_that_was_not_measured_is_not_covered_by_a_range() -> None:
    listed = '["4.56.0", "5.4.0", "5.5.0", "5.10.4", "5.12.1", "5.13.0", "5.24.0"]'
    atlas = read_atlas(ATLAS.replace("schema = 1", f"schema = 1\nreleases = {listed}"), "atlas.toml")
    assert atlas.expected("early-init", Version("5.10.4")) is Verdict.BAD
    # Published later, between two that were measured.
    assert atlas.expected("early-init", Version("5.10.5")) is None


@pytest.mark.parametrize(
    ("listed", "what"),
    [
        ('["five"]', "'releases' must be versions"),
        ('["5.0.0", "4.56.0"]', "'releases' must be in version order, each once, and 4.56.0 follows 5.0.0"),
        ('["5.0.0", "5.0.0"]', "'releases' must be in version order, each once"),
        ('["4.56.0"]', "'last' in [entry] is 5.4.0, which `releases` does not list as measured"),
    ],
)
def test_releases_that_are_refused(listed: str, what: str) -> None:
    assert what in refuse(ATLAS.replace("schema = 1", f"schema = 1\nreleases = {listed}"))


@pytest.mark.parametrize("value", ["1", "[1]", "['early-init']"])
def test_entries_that_are_no_tables(value: str) -> None:
    assert "line 2: 'entry' must be" in refuse(f"schema = 1\nentry = {value}\n")
