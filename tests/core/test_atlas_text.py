# SPDX-License-Identifier: Apache-2.0
"""The form in which an atlas is written: it reads as the same, comes out the same again, and loses nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.atlas import Atlas, AtlasChange, AtlasEntry, read_atlas
from headwater.core.atlas_text import (
    HEADER,
    atlas_text,
    axis_of,
    cases_of,
    comments_below,
    gathered,
    header_of,
    ranges,
    spread,
)
from headwater.core.atlas_update import take_in
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict

_TEXTS = ("5.0.0", "5.1.0", "5.9.0", "5.10.0", "5.10.1", "5.10.2", "5.10.4", "5.11.0", "5.12.1", "5.13.0")
KNOWN = tuple(map(Version, _TEXTS))
CASES = ("zebra", "early-init", "batch-size")
Cells = dict[tuple[str, Version], Verdict]

cells_of_atlases = st.dictionaries(
    st.tuples(st.sampled_from(CASES), st.sampled_from(KNOWN)), st.sampled_from(list(Verdict)), max_size=80
)


def row(case: str, release: str, verdict: Verdict, device: str = "cpu") -> ProbeResult:
    return ProbeResult(case, release, None, device, verdict, Evidence("E", "why"), 0.1, False, "t", "e")


@given(cells_of_atlases)
def test_what_is_written_reads_as_the_same(cells: Cells) -> None:
    atlas = gathered(cells, KNOWN, CASES)
    assert read_atlas(atlas_text(atlas), "atlas.toml") == atlas
    assert spread(atlas, KNOWN) == cells


@given(cells_of_atlases)
def test_an_atlas_that_is_taken_apart_comes_out_byte_for_byte_the_same(cells: Cells) -> None:
    text = atlas_text(gathered(cells, KNOWN, CASES))
    again = take_in(read_atlas(text, "atlas.toml"), [], KNOWN, ()).atlas
    assert atlas_text(again, header_of(text)) == text


@given(cells_of_atlases)
def test_neighbours_with_one_verdict_are_one_range(cells: Cells) -> None:
    for case in CASES:
        entries = ranges(case, cells, KNOWN)
        for before, after in pairwise(entries):
            between = [v for v in KNOWN if before.last < v < after.first]
            assert before.verdict is not after.verdict or between


@given(
    cells_of_atlases, st.dictionaries(st.sampled_from(KNOWN), st.sampled_from(list(Verdict)), max_size=9),
    st.sampled_from((*CASES, "new-case")),
)  # fmt: skip
def test_an_update_changes_what_was_seen_and_loses_nothing(
    cells: Cells, seen: dict[Version, Verdict], case: str
) -> None:
    atlas = gathered(cells, KNOWN, CASES)
    update = take_in(atlas, [row(case, str(v), verdict) for v, verdict in seen.items()], KNOWN, (*CASES, "new-case"))
    written = {
        (case, v): verdict for v, verdict in seen.items() if verdict not in (Verdict.HARNESS_ERROR, Verdict.UNAVAILABLE)
    }
    assert spread(update.atlas, KNOWN) == {**cells, **written}
    assert {(one.case, one.release) for one in update.unwritten} == {(case, v) for v in seen} - written.keys()
    assert {(one.case, one.release): one.seen for one in update.differences} == {
        cell: verdict for cell, verdict in written.items() if cells.get(cell) is not verdict
    }
    covered = {**cells, **written}
    missing = {(gap.case, v) for gap in update.gaps for v in KNOWN if gap.first <= v <= gap.last}
    assert missing == {(c, v) for c in (*CASES, "new-case") for v in KNOWN} - covered.keys()


def test_ranges_that_end_beyond_the_pins_stay() -> None:
    """A workspace may pin fewer releases than its atlas knows."""
    atlas = Atlas((AtlasEntry("zebra", Verdict.BAD, Version("4.0.0"), Version("6.0.0")),))
    axis = axis_of(atlas, KNOWN)
    assert (axis[0], axis[-1]) == (Version("4.0.0"), Version("6.0.0"))
    assert gathered(spread(atlas, axis), axis, cases_of(atlas)).entries == atlas.entries


def test_a_release_that_is_pinned_later_parts_a_range() -> None:
    known = [Version("5.0.0"), Version("5.2.0")]
    atlas = gathered({("zebra", v): Verdict.BAD for v in known}, known, ["zebra"])
    assert [(e.first, e.last) for e in atlas.entries] == [(known[0], known[1])]
    later = [known[0], Version("5.0.1"), known[1]]
    update = take_in(atlas, [], later, ["zebra"])
    assert [str(gap) for gap in update.gaps] == ["zebra: 5.0.1"]
    assert [(e.first, e.last) for e in update.atlas.entries] == [(known[0], known[0]), (known[1], known[1])]
    assert update.atlas.releases == tuple(later)


def test_the_text() -> None:
    one, two = Version("5.4.0"), Version("5.5.0")
    entries = (AtlasEntry("zebra", Verdict.GOOD, one, one), AtlasEntry("zebra", Verdict.BAD, two, two))
    atlas = Atlas(entries, (AtlasChange("zebra", "introduced", two, "a" * 40, 7),), (one, two))
    assert atlas_text(atlas, "# Mine.\n") == (
        '# Mine.\nschema = 1\nreleases = [\n  "5.4.0", "5.5.0",\n]\n\n'
        '[[entry]]\ncase = "zebra"\nverdict = "good"\nfirst = "5.4.0"\nlast = "5.4.0"\n\n'
        '[[entry]]\ncase = "zebra"\nverdict = "bad"\nfirst = "5.5.0"\nlast = "5.5.0"\n\n'
        f'[[change]]\ncase = "zebra"\nfind = "introduced"\nrelease = "5.5.0"\ncommit = "{"a" * 40}"\npull = 7\n'
    )


def test_an_atlas_without_releases_names_none() -> None:
    atlas = Atlas((AtlasEntry("zebra", Verdict.GOOD, KNOWN[0], KNOWN[0]),))
    text = atlas_text(atlas, "# Mine.\n")
    assert text.startswith("# Mine.\nschema = 1\n\n[[entry]]\n")
    assert read_atlas(text, "atlas.toml") == atlas


def test_new_cases_stand_behind_the_others_by_id() -> None:
    known = KNOWN[:1]
    atlas = gathered({("zebra", known[0]): Verdict.GOOD}, known, ["zebra"])
    rows = [row(case, str(known[0]), Verdict.GOOD) for case in ("early-init", "batch-size")]
    made = take_in(atlas, rows, known, ["early-init", "zebra", "batch-size"]).atlas
    assert cases_of(made) == ["zebra", "batch-size", "early-init"]


@pytest.mark.parametrize(
    ("text", "header", "below"),
    [
        ("# One.\n# Two.\nschema = 1\n", "# One.\n# Two.\n", []),
        ("schema = 1\n# Lost.\n", HEADER, [2]),
        ("# One.\n\nschema = 1\n\n  # Lost.\n[[entry]]\n", "# One.\n\n", [5]),
        ("", HEADER, []),
    ],
)
def test_comments_above_are_kept_and_others_are_told(text: str, header: str, below: list[int]) -> None:
    assert header_of(text) == header
    assert comments_below(text) == below
