# SPDX-License-Identifier: Apache-2.0
"""A series on its base and on other releases: carried by a three-way merge, or refused by name; nothing else moves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version
from series import apply_series

from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import read_patch
from headwater.core.series import SeriesFile
from headwater.effects.git import GitDir, GitFailed
from headwater.effects.merging import read_file
from headwater.effects.mirror import Mirror
from headwater.effects.series_folder import Series
from headwater.effects.workspace import Cache

Files = Mapping[str, bytes]
Git = Callable[..., str]
MirrorOf = Callable[..., tuple[Mirror, list[str]]]

LINES = [b"line_%d\n" % number for number in range(1, 41)]
NAMES = ("0001-second.patch", "0002-thirtieth.patch", "0003-new-test.patch")


def text(**changes: bytes) -> bytes:
    """Forty lines, some of them replaced: `text(l2=b"two")`."""
    return b"".join(changes.get(f"l{n}", line.rstrip()) + b"\n" for n, line in enumerate(LINES, 1))


BASE = {"transformers/__init__.py": b"", "transformers/a.py": text(), "transformers/b.py": b"untouched\n"}
STEPS = (
    {**BASE, "transformers/a.py": text(l2=b"second")},
    {**BASE, "transformers/a.py": text(l2=b"second", l30=b"thirtieth")},
    {**BASE, "transformers/a.py": text(l2=b"second", l30=b"thirtieth"), "tests/test_a.py": b"def test(): pass\n"},
)


@pytest.fixture
def write_patches(tmp_path: Path, git: Git) -> Callable[..., list[bytes]]:
    """The patches that lead from one state of the files to the next, as `git format-patch` writes them."""

    def write(*states: Files, author: str = "Zoë Ångström", message: str = "Change {}\n\nWhy it is so.") -> list[bytes]:
        work = tmp_path / "author"
        work.mkdir()
        git(work, "init", "--quiet")
        for number, files in enumerate(states):
            for name, content in files.items():
                path = work / ("src" if name.startswith("transformers/") else "") / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            git(work, "add", "--all")
            who = {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_DATE": f"2026-0{number + 1}-02T03:04:05+0530"}
            git(work, "commit", "--quiet", "--allow-empty", "-m", message.format(number), **who)
        git(work, "format-patch", "--quiet", "-o", str(tmp_path / "out"), "--root", f"-{len(states) - 1}")
        return [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())]

    return write


@pytest.fixture
def series(write_patches: Callable[..., list[bytes]]) -> Series:
    """Three patches against 5.0.0; its tree is not known yet."""
    patches = tuple(map(read_patch, NAMES, write_patches(BASE, *STEPS)))
    return Series("example", Path("example"), SeriesFile(Version("5.0.0"), "0" * 40, NAMES), patches)


def against(series: Series, mirror: Mirror, base: str) -> Series:
    """The series with the base's tree id as it is."""
    return replace(series, file=replace(series.file, base_tree=mirror.library_tree(base)))


def file_of(mirror: Mirror, commit: str, name: str = "src/transformers/a.py") -> bytes:
    return read_file(mirror.git, commit, name)


def test_on_its_base(
    cache: Cache, mirror_of: MirrorOf, series: Series, refs: Callable[[GitDir], dict[str, str]]
) -> None:
    mirror, [base] = mirror_of({"5.0.0": BASE})
    before = refs(mirror.git)
    applied = apply_series(cache, mirror.git, against(series, mirror, base), base, base)
    assert applied.patches == series.patches
    assert file_of(mirror, applied.commit) == STEPS[-1]["transformers/a.py"]
    assert file_of(mirror, applied.commit, "tests/test_a.py") == b"def test(): pass\n"
    assert file_of(mirror, applied.commit, "src/transformers/b.py") == b"untouched\n"
    history = mirror.git("log", "--format=%s|%an <%ae>|%aI|%b", f"{base}..{applied.commit}").split("\n")
    assert [line for line in history if line] == [
        f"Change {n}|Zoë Ångström <somebody@invalid.example>|2026-0{n + 1}-02T03:04:05+05:30|Why it is so."
        for n in (3, 2, 1)
    ]
    assert mirror.git("rev-parse", f"{applied.commit}~3") == base
    assert refs(mirror.git) == before
    assert list(cache.incoming.iterdir()) == []


def test_twice_gives_the_same_ids(cache: Cache, mirror_of: MirrorOf, series: Series) -> None:
    target = {**BASE, "transformers/a.py": text(l16=b"elsewhere")}
    mirror, [base, other] = mirror_of({"5.0.0": BASE, "5.1.0": target})
    ready = against(series, mirror, base)
    for onto in (base, other):
        first, second = (apply_series(cache, mirror.git, ready, base, onto) for _ in range(2))
        assert first == second


def test_on_another_release_by_a_three_way_merge(
    cache: Cache, mirror_of: MirrorOf, series: Series, refs: Callable[[GitDir], dict[str, str]]
) -> None:
    # The second patch's place has moved by ten lines.
    other = {**BASE, "transformers/a.py": b"above\n" * 10 + text(l16=b"elsewhere"), "transformers/c.py": b"new\n"}
    mirror, [base, target] = mirror_of({"5.0.0": BASE, "5.1.0": other})
    before = refs(mirror.git)
    applied = apply_series(cache, mirror.git, against(series, mirror, base), base, target)
    wanted = b"above\n" * 10 + text(l2=b"second", l16=b"elsewhere", l30=b"thirtieth")
    assert file_of(mirror, applied.commit) == wanted
    assert file_of(mirror, applied.commit, "src/transformers/c.py") == b"new\n"
    history = mirror.git("log", "--format=%s|%an|%aI|%b", f"{target}..{applied.commit}").split("\n")
    assert [line for line in history if line] == [
        f"Change {n}|Zoë Ångström|2026-0{n + 1}-02T03:04:05+05:30|Why it is so." for n in (3, 2, 1)
    ]
    assert mirror.git("rev-parse", f"{applied.commit}~3") == target
    assert refs(mirror.git) == before


def test_a_conflict_names_the_patch_and_the_file(
    cache: Cache, mirror_of: MirrorOf, series: Series, refs: Callable[[GitDir], dict[str, str]]
) -> None:
    mirror, [base, target] = mirror_of({"5.0.0": BASE, "5.1.0": {**BASE, "transformers/a.py": text(l30=b"other")}})
    before = refs(mirror.git)
    with pytest.raises(PatchFailed) as caught:
        apply_series(cache, mirror.git, against(series, mirror, base), base, target)
    for word in (NAMES[1], "example", "conflicts", "src/transformers/a.py"):
        assert word in str(caught.value)
    assert NAMES[0] not in str(caught.value)
    assert refs(mirror.git) == before
    applied = apply_series(cache, mirror.git, against(series, mirror, base), base, target, drop={NAMES[1]})
    assert file_of(mirror, applied.commit) == text(l2=b"second", l30=b"other")


@pytest.mark.parametrize("name", ["transformers/a.py", "transformers/with space.py", "transformers/\u00fc.py"])
@pytest.mark.parametrize("gone", [False, True])
def test_a_conflict_names_the_file_and_no_ids(
    cache: Cache, mirror_of: MirrorOf, write_patches: Callable[..., list[bytes]], name: str, gone: bool
) -> None:
    before = {"transformers/__init__.py": b"", name: text()}
    other = {"transformers/__init__.py": b""} if gone else {**before, name: text(l2=b"other")}
    mirror, [base, target] = mirror_of({"5.0.0": before, "5.1.0": other})
    [content] = write_patches(before, {**before, name: text(l2=b"second")})
    file = SeriesFile(Version("5.0.0"), mirror.library_tree(base), NAMES[:1])
    series = Series("example", Path("example"), file, (read_patch(NAMES[0], content),))
    with pytest.raises(PatchFailed) as caught:
        apply_series(cache, mirror.git, series, base, target)
    assert f"src/{name}" in str(caught.value)
    assert re.findall("[0-9a-f]{40}", str(caught.value)) == []


def test_where_the_release_has_the_change_already(cache: Cache, mirror_of: MirrorOf, series: Series) -> None:
    mended = {**BASE, "transformers/a.py": text(l2=b"second", l30=b"thirtieth")}
    mirror, [base, target] = mirror_of({"5.0.0": BASE, "5.1.0": mended})
    applied = apply_series(cache, mirror.git, against(series, mirror, base), base, target)
    assert mirror.library_tree(applied.commit) == mirror.library_tree(target)


@pytest.mark.parametrize(
    ("dropped", "wanted"),
    [
        (NAMES[:1], text(l30=b"thirtieth")),
        (NAMES[1:2], text(l2=b"second")),
        (NAMES[2:], text(l2=b"second", l30=b"thirtieth")),
        (NAMES[:2], text()),
        (NAMES, text()),
    ],
)
def test_patches_left_out(
    cache: Cache, mirror_of: MirrorOf, series: Series, dropped: tuple[str, ...], wanted: bytes
) -> None:
    mirror, [base] = mirror_of({"5.0.0": BASE})
    applied = apply_series(cache, mirror.git, against(series, mirror, base), base, base, drop=dropped)
    assert [patch.file for patch in applied.patches] == [name for name in NAMES if name not in dropped]
    assert file_of(mirror, applied.commit) == wanted
    assert ("tests" in mirror.git("ls-tree", "--name-only", applied.commit).split()) == (NAMES[2] not in dropped)


def test_a_patch_that_needs_a_dropped_one_conflicts(
    cache: Cache, mirror_of: MirrorOf, write_patches: Callable[..., list[bytes]]
) -> None:
    states = [{**BASE, "transformers/a.py": text(l2=word)} for word in (b"line_2", b"second", b"deuxieme", b"zweite")]
    mirror, [base] = mirror_of({"5.0.0": BASE})
    series = Series(
        "example", Path("example"), SeriesFile(Version("5.0.0"), mirror.library_tree(base), NAMES),
        tuple(map(read_patch, NAMES, write_patches(*states))),
    )  # fmt: skip
    with pytest.raises(PatchFailed, match=NAMES[1]):
        apply_series(cache, mirror.git, series, base, base, drop=NAMES[:1])


def test_another_base_than_the_series_says(cache: Cache, mirror_of: MirrorOf, series: Series) -> None:
    mirror, [base] = mirror_of({"5.0.0": BASE})
    with pytest.raises(BadInput, match=rf"names 5\.0\.0 with tree {'0' * 40}, .* has tree {mirror.library_tree(base)}"):
        apply_series(cache, mirror.git, series, base, base)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"-line_30\n", b"-line_thirty\n", r"hunk 1 of src/transformers/a\.py \(@@ -27,7 \+27,7 @@\) does not fit"),
        (b"@@ -27,7 +27,7 @@", b"@@ -27,9 +27,9 @@", "corrupt patch"),
        (b"a/src/transformers/a.py", b"a/src/transformers/zzz.py", r"zzz\.py"),
        (b"b/src/transformers/a.py", b"b/../outside.py", r"outside\.py|invalid|inconsistent"),
    ],
    ids=["context", "counts", "no such file", "outside"],
)
def test_a_broken_patch_is_named_with_gits_reason(
    cache: Cache, mirror_of: MirrorOf, series: Series, old: bytes, new: bytes, reason: str
) -> None:
    mirror, [base] = mirror_of({"5.0.0": BASE})
    content = series.patches[1].content
    assert old in content
    broken = replace(series.patches[1], content=content.replace(old, new))
    spoilt = replace(series, patches=(series.patches[0], broken, series.patches[2]))
    with pytest.raises(PatchFailed) as caught:
        apply_series(cache, mirror.git, against(spoilt, mirror, base), base, base)
    assert f"patch {NAMES[1]} of series example does not apply to its base 5.0.0: " in str(caught.value)
    assert caught.match(reason)
    assert str(cache.root) not in str(caught.value)


def test_a_file_that_a_commit_does_not_hold(mirror_of: MirrorOf) -> None:
    mirror, [base] = mirror_of({"5.0.0": BASE})
    with pytest.raises(GitFailed):
        read_file(mirror.git, base, "src/transformers/zzz.py")
