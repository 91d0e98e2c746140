# SPDX-License-Identifier: Apache-2.0
"""`headwater patch refresh` and `new`: edits of a tree go into patch files, and only those that change are written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from grounds import (
    INIT,
    SOURCES,
    THREE,
    Grounds,
    checkout_of,
    clone_of,
    fsck,
    git,
    put,
    snapshot,
    steps_of,
    take,
    text,
    write_files,
)  # fmt: skip
from packaging.version import Version

from headwater.commands.patch.new import NewRequest, new
from headwater.commands.patch.refresh import refresh
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import read_patch
from headwater.core.series import Range
from headwater.core.series_text import new_series, with_range
from headwater.core.tree_results import NewReport, RefreshReport

slow = pytest.mark.slow

A = "src/transformers/a.py"
SOMEBODY = "Somebody, Else <else@invalid.example>"


def fold(grounds: Grounds, tree: Path, patch: str | None = None, add: Sequence[str] = ()) -> RefreshReport:
    paths = [Path(one) for one in add]
    return grounds.with_context(lambda context: refresh(context, "example", patch, tree, paths))


def begin(grounds: Grounds, tree: Path, **changes: object) -> NewReport:
    given = {"series": "example", "subject": "One more", "body": "", "cases": (), "author": SOMEBODY, "add": ()}
    request = NewRequest(**{**given, **changes})  # type: ignore[arg-type]
    return grounds.with_context(lambda context: new(context, request, tree))


def patches(grounds: Grounds) -> dict[str, tuple[bytes, int]]:
    """Content and time of every file of the series."""
    folder = grounds.root / "patches" / "example"
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def age(grounds: Grounds) -> dict[str, tuple[bytes, int]]:
    """Make the series' files old, so that one that is written again shows."""
    for path in (grounds.root / "patches" / "example").rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return patches(grounds)


def is_what_the_series_gives(grounds: Grounds, tree: Path) -> None:
    """See that undoing and applying again leads to the same commit and files."""
    before = snapshot(tree)
    take(grounds, tree)
    put(grounds, tree)
    assert snapshot(tree) == before
    assert git(tree, "status", "--porcelain", "--untracked-files=no") == ""
    fsck(tree)
    fsck(grounds.mirror())


@slow
@pytest.mark.parametrize("make", [clone_of, checkout_of])
def test_an_edit_goes_into_the_last_patch(ready: Grounds, make: Callable[[Grounds], Path]) -> None:
    tree = make(ready)
    put(ready, tree)
    old = age(ready)
    new, lying = {"src/transformers/new.py": b"x = 1\n"}, {"src/transformers/lying.py": b"mine\n"}
    write_files(tree, {A: text(l2=b"second", l20=b"twentieth", l30=b"thirtieth"), **new, **lying})
    git(tree, "add", A)
    report = fold(ready, tree, add=["src/transformers/new.py"])
    assert report.edits == (A, "src/transformers/new.py")
    assert report.left_out == ("src/transformers/lying.py",)
    assert [path[-18:] for path in report.written] == ["0003-Change-3.patch"[-18:]]
    now = patches(ready)
    assert [name for name in old if old[name] != now[name]] == ["0003-Change-3.patch"]
    head = old["0003-Change-3.patch"][0].partition(b"diff --git")[0]
    assert now["0003-Change-3.patch"][0].startswith(head)
    assert (tree / A).read_bytes() == text(l2=b"second", l20=b"twentieth", l30=b"thirtieth")
    is_what_the_series_gives(ready, tree)
    assert (tree / "src/transformers/lying.py").read_bytes() == b"mine\n"


@slow
def test_an_edit_goes_into_a_lower_patch(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    lowest = git(tree, "rev-parse", "HEAD~2")
    age(ready)
    # Two lines more: the hunks above have to move with it.
    write_files(tree, {A: text(l2=b"second = 2\nhalf = 2.5", l30=b"thirtieth")})
    report = fold(ready, tree, "1")
    assert [path[-19:] for path in report.written] == ["0001-Change-1.patch", "0002-Change-2.patch"]
    assert git(tree, "show", f"HEAD~2:{A}").encode() + b"\n" == text(l2=b"second = 2\nhalf = 2.5")
    assert git(tree, "rev-parse", "HEAD~2") != lowest
    assert git(tree, "status", "--porcelain") == ""
    is_what_the_series_gives(ready, tree)


def test_nothing_to_do_writes_nothing(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    old, before = age(ready), snapshot(tree)
    report = fold(ready, tree)
    assert (report.written, report.edits, report.before) == ((), (), report.after)
    assert (patches(ready), snapshot(tree)) == (old, before)


@slow
def test_a_patch_in_another_form_stays_until_it_changes(ready: Grounds) -> None:
    path = ready.root / "patches" / "example" / "0001-Change-1.patch"
    head, _, diff = path.read_bytes().partition(b"\ndiff --git")
    path.write_bytes(head + b"---\n a.py | 2 +-\n\ndiff --git" + diff + b"-- \n2.1.0\n\n")
    tree = clone_of(ready)
    put(ready, tree)
    old = age(ready)
    write_files(tree, {A: text(l2=b"second", l30=b"three")})
    fold(ready, tree, "2")
    assert patches(ready)["0001-Change-1.patch"] == old["0001-Change-1.patch"]
    write_files(tree, {A: text(l2=b"two", l30=b"three")})
    fold(ready, tree, "1")
    content = path.read_bytes()
    assert content.startswith(head + b"\ndiff --git")
    assert content.count(b"\n-- \n") == 0
    is_what_the_series_gives(ready, tree)


def test_an_edit_that_does_not_fit_is_refused(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    write_files(tree, {A: text(l2=b"second", l30=b"three")})
    old, before = age(ready), snapshot(tree)
    with pytest.raises(PatchFailed, match=r"the edit cannot be made in 0001-Change-1\.patch: it conflicts"):
        fold(ready, tree, "1")
    assert (patches(ready), snapshot(tree)) == (old, before)


@slow
def test_commits_that_were_amended(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    old = age(ready)
    git(tree, "reset", "--quiet", "--hard", "HEAD~1")
    write_files(tree, {A: text(l2=b"second", l30=b"amended")})
    git(tree, "commit", "--quiet", "-a", "--amend", "-m", "Change 2\n\nNow for another reason.")
    git(tree, "cherry-pick", "ORIG_HEAD")
    write_files(tree, {"tests/utils/test_a.py": b"def test(): return\n"})
    report = fold(ready, tree)
    assert [path[-19:] for path in report.written] == ["0002-Change-2.patch", "0003-Change-3.patch"]
    now = patches(ready)
    assert now["0001-Change-1.patch"] == old["0001-Change-1.patch"]
    second = read_patch("x", now["0002-Change-2.patch"][0])
    assert second.body == "Now for another reason."
    take(ready, tree)
    put(ready, tree)
    assert (tree / A).read_bytes() == text(l2=b"second", l30=b"amended")
    assert (tree / "tests/utils/test_a.py").read_bytes() == b"def test(): return\n"


def test_commits_that_are_not_those_of_the_series(ready: Grounds) -> None:
    tree = clone_of(ready)
    with pytest.raises(BadInput, match="series example is not applied"):
        fold(ready, tree)
    put(ready, tree)
    git(tree, "commit", "--quiet", "--allow-empty", "-m", "on top")
    with pytest.raises(BadInput, match=r"There are: Change 1; Change 2; Change 3; on top"):
        fold(ready, tree)
    git(tree, "reset", "--quiet", "--hard", "HEAD~2")
    with pytest.raises(BadInput, match=r"There are: Change 1; Change 2$"):
        fold(ready, tree)


def test_another_release_is_no_place_to_refresh(ready: Grounds) -> None:
    tree = clone_of(ready, "5.1.0")
    put(ready, tree)
    write_files(tree, {"src/transformers/b.py": b"mine\n"})
    with pytest.raises(BadInput, match=r"another revision than 5\.0\.0.*`headwater patch carry example"):
        fold(ready, tree)


def make_variant(grounds: Grounds) -> Path:
    """A variant for 5.2.0 that has its own second patch; its file."""
    folder = grounds.root / "patches" / "example"
    states = [
        {**state, "src/transformers/__init__.py": INIT.replace(b"5.0.0", b"5.2.0"), A: content}
        for state, content in (
            (SOURCES, text(l2=b"second", l30=b"other")), (SOURCES, text(l2=b"second", l30=b"other_thirtieth")),
        )
    ]  # fmt: skip
    files = grounds.series("scratch", "5.2.0", states)
    tree = (folder.parent / "scratch" / "series").read_text(encoding="utf-8").split("5.2.0 ")[1][:40]
    (folder / "other-thirtieth").mkdir()
    target = folder / "other-thirtieth" / "0002-Change-2.patch"
    files[1].rename(target)
    (target.parent / "series").write_text(new_series("5.2.0", tree, (target.name,)), encoding="utf-8")
    series = folder / "series"
    entry = Range(Version("5.2.0"), Version("5.2.0"), "other-thirtieth")
    series.write_text(with_range(series.read_text(encoding="utf-8"), entry), encoding="utf-8")
    return target


@slow
def test_on_a_variants_base_its_own_files_are_written(ready: Grounds) -> None:
    target = make_variant(ready)
    tree = clone_of(ready, "5.2.0")
    assert put(ready, tree).variant == "other-thirtieth"
    old = age(ready)
    write_files(tree, {A: text(l2=b"second", l30=b"other_thirty")})
    report = fold(ready, tree, "2")
    assert report.written == ("patches/example/other-thirtieth/0002-Change-2.patch",)
    now = patches(ready)
    assert [name for name in old if old[name] != now[name]] == ["other-thirtieth/0002-Change-2.patch"]
    assert b"+other_thirty\n" in target.read_bytes()
    is_what_the_series_gives(ready, tree)
    write_files(tree, {A: text(l2=b"two", l30=b"other_thirty")})
    with pytest.raises(BadInput, match=r"0001-Change-1\.patch of series example is served by the default"):
        fold(ready, tree, "1")


@slow
def test_a_file_that_the_release_does_not_have_cannot_be_patched(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    write_files(tree, {"README.md": b"mine\n"})
    old, before = age(ready), snapshot(tree)
    with pytest.raises(PatchFailed, match=r"README\.md"):
        fold(ready, tree)
    assert (patches(ready), snapshot(tree)) == (old, before)


def test_what_cannot_be_added(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    write_files(tree, {"x.log": b""})
    for path, words in (
        ("nowhere.py", "no such file"),
        ("x.log", "ignored"),
        ("src", "is a folder"),
        (str(ready.root), "no such file"),
    ):
        with pytest.raises(BadInput, match=words):
            fold(ready, tree, add=[path])


@slow
@pytest.mark.parametrize("place", ["begun", "written", "ending"])
def test_a_refresh_that_was_killed_completes(ready: Grounds, place: str) -> None:
    folder = ready.root / "patches" / "example"
    old = {path: path.read_bytes() for path in folder.iterdir()}
    edited = text(l2=b"two = 2\nhalf = 2.5", l30=b"thirtieth")
    trees = [ready.clone("5.0.0", {}, name) for name in ("whole", "killed")]
    for tree in trees:
        put(ready, tree)
        write_files(tree, {A: edited})
    steps = steps_of(ready, trees[0], "refresh")
    assert steps is not None
    wanted = {path: path.read_bytes() for path in folder.iterdir()}
    assert sorted(path.name[:4] for path in wanted if wanted[path] != old[path]) == ["0001", "0002"]
    for path, content in old.items():
        path.write_bytes(content)
    moment = {"begun": 5, "written": steps[0] + 2, "ending": steps[1] - 6}[place]
    assert steps_of(ready, trees[1], "refresh", moment) is None
    fold(ready, trees[1], "1")
    assert {path: path.read_bytes() for path in folder.iterdir()} == wanted
    assert snapshot(trees[1]) == snapshot(trees[0])
    is_what_the_series_gives(ready, trees[1])


@slow
def test_a_new_patch_on_top(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    age(ready)
    series = ready.root / "patches" / "example" / "series"
    comments = series.read_text(encoding="utf-8")
    write_files(tree, {"src/transformers/more.py": b"more = 1\n"})
    with pytest.raises(BadInput, match=r"nothing is edited .*--add takes src/transformers/more\.py"):
        begin(ready, tree)
    said = {"subject": "One more: better", "body": "So it is.\n\nBug: somewhere"}
    report = begin(ready, tree, **said, add=[Path("src/transformers/more.py")])
    assert (report.file, report.began) == ("patches/example/0004-One-more-better.patch", False)
    assert series.read_text(encoding="utf-8") == comments + "0004-One-more-better.patch\n"
    patch = read_patch("x", (ready.root / report.file).read_bytes())
    assert (patch.subject, patch.body) == (said["subject"], said["body"])
    assert git(tree, "log", "-1", "--format=%s|%an", "HEAD") == "One more: better|Somebody, Else"
    is_what_the_series_gives(ready, tree)
    subjects = ["One more: better", "Change 3", "Change 2", "Change 1"]
    assert git(tree, "log", "--format=%s", "-4").splitlines() == subjects


def test_a_new_series(ready: Grounds) -> None:
    case = """# /// case
# id = "a-case"
# title = "t"
# references = []
# severity = "wrong-result"
# user_sees = "x"
# meanwhile = "y"
# [[signature]]
# type = "Bug"
# message = "z"
# ///
def run(device): pass
"""
    (ready.root / "tests" / "repro" / "a_case.py").write_text(case, encoding="utf-8")
    tree = checkout_of(ready)
    write_files(tree, {A: text(l9=b"ninth")})
    with pytest.raises(BadInput, match="there is no case 'b-case'"):
        begin(ready, tree, series="fresh", cases=["b-case"])
    report = begin(ready, tree, series="fresh", body="Bug: somewhere", cases=["a-case"])
    assert (report.file, report.began) == ("patches/fresh/0001-One-more.patch", True)
    lines = (ready.root / "patches" / "fresh" / "series").read_text(encoding="utf-8").splitlines()
    assert lines == [f"base: 5.0.0 {git(tree, 'rev-parse', 'HEAD~1:src/transformers')}", "0001-One-more.patch"]
    patch = read_patch("x", (ready.root / report.file).read_bytes())
    assert (patch.body, patch.cases) == ("Bug: somewhere\nHeadwater-Case: a-case", ("a-case",))
    assert not put(ready, tree, "fresh").changed
    assert take(ready, tree).series == "fresh"
    assert put(ready, tree, "fresh").changed


def test_whose_patch_it_is(ready: Grounds) -> None:
    tree = clone_of(ready)
    write_files(tree, {A: text(l9=b"ninth")})
    with pytest.raises(BadInput, match=r"your git settings name no author .*--author"):
        begin(ready, tree, series="fresh", author=None)
    for wrong in ("Nobody", "nobody@invalid.example", "<nobody@invalid.example>"):
        with pytest.raises(BadInput, match="the author must be written"):
            begin(ready, tree, series="fresh", author=wrong)
    git(tree, "config", "user.name", "Zoë")
    git(tree, "config", "user.email", "zoe@invalid.example")
    assert begin(ready, tree, series="fresh", author=None).author == "Zoë <zoe@invalid.example>"


def test_where_no_patch_begins(ready: Grounds) -> None:
    tree = ready.clone("5.0.0", {"src/transformers/mine.py": b"mine\n"})
    write_files(tree, {A: text(l9=b"ninth")})
    with pytest.raises(BadInput, match="is no release of the index"):
        begin(ready, tree, series="fresh")
    with pytest.raises(BadInput, match="must be lower-case words"):
        begin(ready, tree, series="Fresh_One")
    with pytest.raises(BadInput, match="the subject must be one line"):
        begin(ready, tree, subject="a\nb")
    with pytest.raises(BadInput, match="series example is not applied"):
        begin(ready, tree)
    assert THREE[A] != (tree / A).read_bytes()
