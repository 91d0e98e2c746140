# SPDX-License-Identifier: Apache-2.0
"""The known bugs of a release: since when, and the nearest release without them."""

from __future__ import annotations

import pytest
from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry
from headwater.core.auditing import Audit, KnownBug, Remedy, audit_release
from headwater.core.cases import Case
from headwater.core.verdicts import Verdict

KNOWN = [Version(f"5.{minor}.0") for minor in range(8)]
LETTERS = {"g": Verdict.GOOD, "b": Verdict.BAD, "a": Verdict.ABSENT, "f": Verdict.FLAKY, "o": Verdict.OTHER_FAILURE}
REMEDY = Remedy("mend", "0001-mend.patch", None, KNOWN[2])


def case(case_id: str) -> Case:
    return Case(case_id, "A bug", "a.py", (), "crash", (), 60, False, "", "", {})


def atlas(**histories: str) -> Atlas:
    """A letter a release, `.` where nothing was measured."""
    entries = [
        AtlasEntry(name, LETTERS[letter], KNOWN[n], KNOWN[n])
        for name, letters in histories.items()
        for n, letter in enumerate(letters)
        if letter != "."
    ]
    changes = (AtlasChange("one", "introduced", KNOWN[2], "a" * 40), AtlasChange("one", "fixed", KNOWN[4], "b" * 40))
    return Atlas(tuple(entries), changes, tuple(KNOWN))


def audit(release: str, yanked: tuple[str, ...] = (), **histories: str) -> Audit:
    cases = {name: case(name) for name in histories}
    gone = [Version(text) for text in yanked]
    return audit_release(atlas(**histories), cases, Version(release), KNOWN, gone, {"one": (REMEDY,)})


def bug(release: str, history: str, yanked: tuple[str, ...] = ()) -> KnownBug:
    [found] = audit(release, yanked, one=history).bugs
    return found


@pytest.mark.parametrize(
    ("release", "history", "since", "from_first", "without", "newer", "absent"),
    [
        ("5.3.0", "aabbgggg", "5.2.0", False, "5.4.0", True, False),
        ("5.2.0", "aabbgggg", "5.2.0", False, "5.4.0", True, False),
        ("5.3.0", "aabbbbbb", "5.2.0", False, "5.1.0", False, True),
        ("5.3.0", "bbbbbbbb", "5.0.0", True, None, False, False),
        ("5.3.0", "bbbbaabb", "5.0.0", True, "5.4.0", True, True),
        # Bad, good, and bad again.
        ("5.6.0", "bbggbbbg", "5.4.0", False, "5.7.0", True, False),
        ("5.1.0", "bbggbbbg", "5.0.0", True, "5.2.0", True, False),
        # What could not be judged is no release without the bug, and ends no run that it does not lie in.
        ("5.3.0", "ggbboogg", "5.2.0", False, "5.6.0", True, False),
        ("5.3.0", "gobbgggg", "5.2.0", False, "5.4.0", True, False),
        # What was not measured says nothing either way.
        ("5.3.0", "g.bbb.gg", "5.2.0", False, "5.6.0", True, False),
        ("5.4.0", "gb..b.gg", "5.1.0", False, "5.6.0", True, False),
    ],
)
def test_since_when_and_what_is_without(
    release: str, history: str, since: str, from_first: bool, without: str | None, newer: bool, absent: bool
) -> None:
    found = bug(release, history)
    assert (found.since, found.from_first) == (Version(since), from_first)
    assert (found.without, found.newer, found.absent) == (Version(without) if without else None, newer, absent)


def test_a_yanked_release_is_not_recommended() -> None:
    assert bug("5.3.0", "aabbgggg", yanked=("5.4.0",)).without == Version("5.5.0")


def test_the_commits_of_its_own_change_overs() -> None:
    found = bug("5.3.0", "aabbgggg")
    assert (found.introduced, found.fixed) == atlas().changes
    later = bug("5.6.0", "aabbgbbg")
    assert (later.introduced, later.fixed) == (None, None)


def test_the_patch_that_mends_it() -> None:
    assert bug("5.3.0", "aabbgggg").remedies == (REMEDY,)


def test_a_release_is_clear_where_all_is_good_or_absent() -> None:
    found = audit("5.4.0", one="aabbgggg", two="aaaaaaaa")
    assert (found.bugs, found.clear, found.exit_status) == ((), 2, 0)


def test_a_bug_that_shows_only_sometimes_is_one() -> None:
    assert bug("5.3.0", "ggffgggg").verdict is Verdict.FLAKY


def test_what_was_not_judged_or_not_measured_has_not_passed() -> None:
    found = audit("5.3.0", one="gggogggg", two="ggg.gggg", three="gggggggg")
    assert found.not_judged == {"one": Verdict.OTHER_FAILURE}
    assert found.not_covered == ("two",)
    assert (found.clear, found.exit_status) == (1, 1)
    assert audit("5.3.0", one="gggogggg").exit_status == 1
    assert audit("5.3.0", two="ggg.gggg").exit_status == 1
