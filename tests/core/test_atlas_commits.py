# SPDX-License-Identifier: Apache-2.0
"""Between which releases of the main line the commit of a change-over is to be hunted."""

from __future__ import annotations

from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry, ChangeKind, read_atlas
from headwater.core.atlas_commits import ChangeOver, change_overs, with_change
from headwater.core.atlas_text import atlas_text
from headwater.core.verdicts import Verdict

G, B, A, O = Verdict.GOOD, Verdict.BAD, Verdict.ABSENT, Verdict.OTHER_FAILURE  # noqa: E741 - as in a history
RELEASES = tuple(map(Version, ("5.0.0", "5.1.0", "5.1.1", "5.1.2", "5.2.0", "5.3.0", "5.4.0")))


def atlas(case: str, *ranges: tuple[Verdict, str, str]) -> Atlas:
    entries = [AtlasEntry(case, verdict, Version(first), Version(last)) for verdict, first, last in ranges]
    return Atlas(tuple(entries), (), RELEASES)


def over(
    find: ChangeKind, release: str, old: str | None, new: str | None, known: AtlasChange | None = None
) -> ChangeOver:
    before, after = (Version(end) if end else None for end in (old, new))
    return ChangeOver("c", find, Version(release), before, after, known)


def test_each_lies_between_the_releases_of_the_main_line_around_it() -> None:
    known = atlas("c", (A, "5.0.0", "5.1.0"), (B, "5.1.1", "5.2.0"), (G, "5.3.0", "5.4.0"))
    assert change_overs(known, ["c"]) == [
        over("introduced", "5.1.1", "5.1.0", "5.2.0"),
        over("fixed", "5.3.0", "5.2.0", "5.3.0"),
    ]


def test_a_bug_that_comes_again_is_as_many() -> None:
    known = atlas("c", (B, "5.0.0", "5.0.0"), (G, "5.1.0", "5.1.2"), (B, "5.2.0", "5.2.0"), (G, "5.3.0", "5.4.0"))
    finds = [(one.find, str(one.release)) for one in change_overs(known, ["c"])]
    assert finds == [("fixed", "5.1.0"), ("introduced", "5.2.0"), ("fixed", "5.3.0")]


def test_maintenance_releases_alone_are_no_end() -> None:
    known = atlas("c", (G, "5.0.0", "5.1.0"), (B, "5.1.1", "5.1.2"), (G, "5.2.0", "5.4.0"))
    assert change_overs(known, ["c"]) == [
        over("introduced", "5.1.1", "5.1.0", None),
        over("fixed", "5.2.0", None, "5.2.0"),
    ]


def test_what_was_not_judged_is_no_change_over() -> None:
    assert change_overs(atlas("c", (G, "5.0.0", "5.1.0"), (O, "5.1.1", "5.2.0"), (B, "5.3.0", "5.4.0")), ["c"]) == []


def test_a_commit_stands_where_its_change_over_does() -> None:
    known = atlas("c", (B, "5.0.0", "5.0.0"), (G, "5.1.0", "5.1.2"), (B, "5.2.0", "5.4.0"))
    late = AtlasChange("c", "introduced", Version("5.2.0"), "a" * 40, 7)
    early = AtlasChange("c", "fixed", Version("5.1.0"), "b" * 40)
    both = with_change(with_change(known, late), early)
    assert both.changes == (early, late)
    assert read_atlas(atlas_text(both), "atlas.toml") == both
    assert change_overs(both, ["c"])[1] == over("introduced", "5.2.0", "5.1.0", "5.2.0", late)
    other = AtlasChange("c", "introduced", Version("5.2.0"), "c" * 40, 8)
    assert with_change(both, other).changes == (early, other)


def test_a_change_over_in_words() -> None:
    assert over("introduced", "5.1.1", "5.1.0", None).words == "c introduced in 5.1.1"
