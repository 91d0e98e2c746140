# SPDX-License-Identifier: Apache-2.0
"""Ranges and variants of a series: exact before range before default, and whatever would be in doubt is refused; the
text of a `series` file is changed line by line."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.series import Range, SeriesFile, check_variants, read_series, spread
from headwater.core.series_text import (
    file_name,
    new_series,
    with_patch,
    with_range,
    without_patch,
    without_range,
)

TREE = "2f3082fbd383a3fea53c4c2e0348d9e80917cc62"
RELEASES = [Version(f"5.{minor}.{micro}") for minor in range(6) for micro in range(3)]
HEAD = f"# why\nbase: 5.5.2 {TREE}\n"
PATCHES = ("0001-one.patch", "0002-two.patch", "0003-three.patch")


@st.composite
def ranges(draw: st.DrawFn) -> list[Range]:
    """Ranges that do not overlap, and single releases, in any order; each with a folder of its own."""
    ends = sorted(draw(st.sets(st.integers(0, len(RELEASES) - 1), max_size=8)))
    pairs = list(zip(ends[::2], ends[1::2], strict=False))
    single = draw(st.sets(st.integers(0, len(RELEASES) - 1), max_size=4))
    found = [(RELEASES[a], RELEASES[b]) for a, b in pairs] + [(RELEASES[n], RELEASES[n]) for n in sorted(single)]
    entries = [Range(first, last, f"variant-{n}") for n, (first, last) in enumerate(found)]
    return draw(st.permutations(entries))


@st.composite
def series_texts(draw: st.DrawFn) -> tuple[str, list[Range]]:
    """A `series` file with comments and blank lines anywhere, and its ranges."""
    entries = draw(ranges())
    comment = st.sampled_from(["", "# range 1.0 no-range", "  # 0001-one.patch", "#"])
    lines = ["# head", f"base: 5.5.2 {TREE}", *(f"range {entry} {entry.folder}" for entry in entries), *PATCHES]
    filled = [line for one in lines for line in (*draw(st.lists(comment, max_size=1)), one)]
    return "\n".join(filled) + "\n", entries


@given(ranges())
def test_exact_before_range_before_default(entries: list[Range]) -> None:
    text = HEAD + "".join(f"range {entry} {entry.folder}\n" for entry in entries) + PATCHES[0] + "\n"
    series = read_series(text, "series")
    assert list(series.ranges) == entries
    for release in RELEASES:
        exact = [entry for entry in entries if entry.first == entry.last == release]
        around = [entry for entry in entries if entry.first < entry.last and entry.first <= release <= entry.last]
        assert series.serving(release) == ([*exact, *around, None])[0]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("range 5.2.0..5.1.0 older", r"line 3: the range 5\.2\.0\.\.5\.1\.0 is empty"),
        ("range 5.0.0..5.2.0 a\nrange 5.2.0..5.3.0 b", r"line 4: 5\.2\.0\.\.5\.3\.0 overlaps 5\.0\.0\.\.5\.2\.0"),
        ("range 5.1.0..5.1.1 a\nrange 5.0.0..5.3.0 b", r"line 4: .* overlaps 5\.1\.0\.\.5\.1\.1, which a serves"),
        ("range 5.1.0 a\nrange 5.1.0 b", r"line 4: 5\.1\.0 overlaps 5\.1\.0, which a serves"),
        ("range 5.1.0 a\nrange 5.1 a", r"line 4: 5\.1 overlaps 5\.1\.0"),
        ("range 5.1.0 5.0.0..5.1.0", r"line 3: the variant's folder must be .*not '5\.0\.0\.\.5\.1\.0'"),
        ("range 5.1.0 5.1.0", r"line 3: the variant's folder must be"),
        ("range 5.1.0 ../other", r"line 3: the variant's folder must be"),
        ("range 5.1.0 Older", r"line 3: the variant's folder must be"),
        ("range 5.1.0 a b", r"line 3: not `range FIRST\.\.LAST FOLDER`"),
        ("range 5.1.0", r"line 3: not `range"),
        ("range", r"line 3: not `range"),
        ("range ..5.1.0 a", r"line 3: not `range"),
        ("range 5.1.0.. a", r"line 3: not `range"),
        ("range five..5.1.0 a", r"line 3: 'five' is not a version"),
        ("range 5.0.0..six a", r"line 3: 'six' is not a version"),
        ("range 5.0.0...5.1.0 a", r"line 3: '\.5\.1\.0' is not a version"),
        ("range 5.0.0-5.1.0 a", r"line 3: '5\.0\.0-5\.1\.0' is not a version"),
        (f"range {TREE} a", "line 3: .* is not a version"),
    ],
)  # fmt: skip
def test_a_range_refused_with_the_line(lines: str, message: str) -> None:
    with pytest.raises(BadInput, match=rf"^patches/x/series, {message}"):
        read_series(f"{HEAD}{lines}\n{PATCHES[0]}\n", "patches/x/series")


def test_a_variant_has_no_ranges() -> None:
    with pytest.raises(BadInput, match=r"^s, line 3: a variant has no ranges of its own"):
        read_series(f"{HEAD}range 5.1.0 a\n{PATCHES[0]}\n", "s", variant=True)


SERIES = read_series(f"{HEAD}range 5.0.0..5.1.2 older\nrange 5.1.0 one\n" + "\n".join(PATCHES), "s")
OLDER = SeriesFile(Version("5.0.1"), TREE, PATCHES[1:])
ONE = SeriesFile(Version("5.1.0"), TREE, PATCHES[:1])


@pytest.mark.parametrize(
    ("series", "variants", "message"),
    [
        (SERIES, {"older": OLDER, "one": ONE, "gone": ONE}, "variant gone is named by no range; declare one, or"),
        (replace(SERIES, ranges=SERIES.ranges[:1]), {"older": OLDER, "one": ONE}, "variant one is named by no range"),
        (SERIES, {"older": replace(OLDER, base=Version("5.1.0")), "one": ONE}, r"older .*5\.1\.0, which one serves"),
        (SERIES, {"older": replace(OLDER, base=Version("5.5.0")), "one": ONE}, r"5\.5\.0, which"),
        (SERIES, {"older": replace(OLDER, patches=PATCHES[:0:-1]), "one": ONE}, "older must hold patches of the s"),
        (SERIES, {"older": replace(OLDER, patches=("0009-x.patch",)), "one": ONE}, "older must hold patches of the s"),
        (replace(SERIES, ranges=(*SERIES.ranges, Range(Version("5.0.3"), Version("5.0.9"), "older"))),
         {"older": OLDER, "one": ONE}, r"range 5\.0\.3\.\.5\.0\.9 serves no pinned release; remove it, and older"),
        (replace(SERIES, ranges=(*SERIES.ranges, Range(Version("6.0"), Version("6.0"), "later"))),
         {"older": OLDER, "one": ONE}, r"range 6\.0 serves no pinned release"),
        (replace(SERIES, base=Version("5.0.2")), {"older": OLDER, "one": ONE},
         r"the series is written against 5\.0\.2, which range 5\.0\.0\.\.5\.1\.2 gives to older"),
        # Each of its releases is named alone.
        (replace(SERIES, ranges=(Range(Version("5.0.9"), Version("5.1.0"), "older"), SERIES.ranges[1])),
         {"older": OLDER, "one": ONE}, r"range 5\.0\.9\.\.5\.1\.0 serves no pinned release"),
    ],
)  # fmt: skip
def test_variants_that_do_not_fit(series: SeriesFile, variants: dict[str, SeriesFile], message: str) -> None:
    check_variants(SERIES, {"older": OLDER, "one": ONE}, RELEASES, "s")
    with pytest.raises(BadInput, match=f"^s: .*{message}"):
        check_variants(series, variants, RELEASES, "s")


@given(st.sets(st.sampled_from(RELEASES)), st.permutations(RELEASES))
def test_spread(releases: set[Version], known: list[Version]) -> None:
    runs = spread(list(releases), known)
    held = [[release for release in RELEASES if first <= release <= last] for first, last in runs]
    assert [release for run in held for release in run] == sorted(releases)
    for before, after in pairwise(held):
        assert RELEASES.index(after[0]) > RELEASES.index(before[-1]) + 1


@given(series_texts(), st.booleans())
def test_a_patch_more_and_one_less(given_text: tuple[str, list[Range]], ended: bool) -> None:
    text = given_text[0] if ended else given_text[0].removesuffix("\n")
    more = with_patch(text, "0004-four.patch")
    assert more.splitlines() == [*text.splitlines(), "0004-four.patch"]
    assert read_series(more, "s").patches == (*PATCHES, "0004-four.patch")
    assert without_patch(more, "0004-four.patch") == given_text[0]
    for patch in PATCHES:
        less = without_patch(text, patch)
        assert less.splitlines() == [line for line in text.splitlines() if line != patch]
        assert read_series(less, "s") == replace(
            read_series(text, "s"), patches=tuple(other for other in PATCHES if other != patch)
        )


@given(series_texts())
def test_a_range_more_and_one_less(given_text: tuple[str, list[Range]]) -> None:
    text, entries = given_text
    new = Range(Version("6.0"), Version("6.1"), "later")
    more = with_range(text, new)
    assert list(read_series(more, "s").ranges) == [*entries, new]
    assert without_range(more, new) == text
    for entry in entries:
        less = without_range(text, entry)
        assert less.splitlines() == [line for line in text.splitlines() if line != f"range {entry} {entry.folder}"]
        assert list(read_series(less, "s").ranges) == [other for other in entries if other != entry]


@pytest.mark.parametrize(
    "line", ["range 5.0.0..5.0.0 one", "range 5.0 one", "  range  5.0.0   one  ", "range v5.0 one"]
)
def test_a_range_is_taken_away_however_it_is_written(line: str) -> None:
    text = f"{HEAD}{line}\n# range 5.0.0 one\nrange 5.1.0 one\n{PATCHES[0]}\n"
    [first, _second] = read_series(text, "s").ranges
    assert without_range(text, first) == text.replace(f"{line}\n", "")


@given(st.lists(st.sampled_from(["", "why", "  indented", "two words"]), max_size=3))
def test_a_new_series(comment: list[str]) -> None:
    text = new_series("5.5.2", TREE, PATCHES, "\n".join(comment))
    assert read_series(text, "s") == SeriesFile(Version("5.5.2"), TREE, PATCHES)
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
    assert [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")] == [
        line.strip() for line in "\n".join(comment).splitlines()
    ]


@given(st.integers(0, 99999), st.text(max_size=90))
def test_a_file_name_is_one_that_a_series_takes(number: int, subject: str) -> None:
    name = file_name(number, subject)
    assert read_series(f"{HEAD}{name}\n", "s").patches == (name,)
    assert len(name) <= 5 + 1 + 52 + len(".patch")


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("Fix it: now", "0007-Fix-it-now.patch"),
        ("[cache] a/b_c.py", "0007-cache-a-b_c.py.patch"),
        ("..", "0007-patch.patch"),
        ("Größe", "0007-Gr-e.patch"),
        ("a.. b", "0007-a.-b.patch"),
        ("x" * 90, f"0007-{'x' * 52}.patch"),
    ],
)
def test_file_names(subject: str, name: str) -> None:
    assert file_name(7, subject) == name
