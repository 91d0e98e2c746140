# SPDX-License-Identifier: Apache-2.0
"""`headwater patch drop`, `diff`, `import` in this process: what each makes of a series, and what it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from grounds import ONE, SOURCES, Grounds, clone_of, edit_in_the_index_s_second, git, put, text, write_files

from headwater.commands.patch.diff import diff
from headwater.commands.patch.drop import drop
from headwater.commands.patch.importing import import_patches
from headwater.commands.patch.new import NewRequest, new
from headwater.commands.patch.refresh import refresh
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.patch_results import Dropped, Imported, SeriesDiff

A = "src/transformers/a.py"
FIRST, SECOND, THIRD = (f"000{n}-Change-{n}.patch" for n in (1, 2, 3))


def dropped(grounds: Grounds, name: str, patch: str) -> Dropped:
    return grounds.with_context(lambda context: drop(context, name, patch))


def compared(grounds: Grounds, old: str | Path, new: str | Path | None = None, name: str = "example") -> SeriesDiff:
    return grounds.with_context(lambda context: diff(context, name, str(old), str(new) if new else None, None))


def imported(grounds: Grounds, name: str, files: list[Path], base: str | None = None) -> Imported:
    return grounds.with_context(lambda context: import_patches(context, name, files, base))


def folder(grounds: Grounds, name: str = "example") -> Path:
    return grounds.root / "patches" / name


def names(grounds: Grounds, name: str) -> list[str]:
    return sorted(path.name for path in folder(grounds, name).iterdir())


def test_a_dropped_patch_stays_aside_and_those_above_move_up(ready: Grounds) -> None:
    third = (folder(ready) / THIRD).read_bytes()
    assert dropped(ready, "example", "2").kept == (f"patches/example/{SECOND}.dropped",)
    assert names(ready, "example") == [FIRST, f"{SECOND}.dropped", THIRD, "series"]
    assert (folder(ready) / THIRD).read_bytes() == third
    shutil.copy(folder(ready) / f"{SECOND}.dropped", folder(ready) / f"{FIRST}.dropped")
    with pytest.raises(BadInput, match=rf"{FIRST}\.dropped is there already"):
        dropped(ready, "example", "1")


@pytest.mark.parametrize(
    ("states", "error", "said"),
    [
        ([ONE], BadInput, f"{FIRST} is the only patch of series small; remove the folder patches/small instead"),
        ([ONE, {**SOURCES, A: text(l2=b"other")}], PatchFailed, f"{SECOND} needs {FIRST} (conflict"),
        ([ONE, SOURCES], BadInput, f"{SECOND} changes nothing without {FIRST}; drop it first"),
    ],
)
def test_a_patch_that_cannot_go(
    ready: Grounds, states: list[dict[str, bytes]], error: type[Exception], said: str
) -> None:
    ready.series("small", "5.0.0", states)
    before = names(ready, "small")
    with pytest.raises(error) as refused:
        dropped(ready, "small", "1")
    assert said in str(refused.value)
    assert names(ready, "small") == before


def test_two_revisions_of_a_series(ready: Grounds, tmp_path: Path) -> None:
    for revision in ("HEAD", "nothing"):
        with pytest.raises(BadInput, match="is no folder with a series, and the workspace lies in no git repository"):
            compared(ready, revision)
    older = tmp_path / "older"
    shutil.copytree(folder(ready), older)
    git(ready.root, "init", "--quiet")
    git(ready.root, "add", "patches")
    git(ready.root, "commit", "--quiet", "-m", "x")
    dropped(ready, "example", "3")
    for before in ("HEAD", older):
        report = compared(ready, before)
        assert [(pair.mark, pair.subject) for pair in report.pairs] == [
            ("=", "Change 1"), ("=", "Change 2"), ("<", "Change 3"),
        ]  # fmt: skip
        assert (report.after, report.release, report.unchanged) == ("the workspace", "5.0.0", False)
    assert compared(ready, "HEAD", older).unchanged
    with pytest.raises(BadInput, match=r"'HEAD' is no folder .* no git revision that has patches/nope"):
        compared(ready, "HEAD", older, "nope")
    with pytest.raises(BadInput, match=r"there is no series 'nope' in patches/; name a second revision"):
        compared(ready, "HEAD", None, "nope")


def test_patches_begin_a_series_and_are_added_to_it(ready: Grounds) -> None:
    files = [folder(ready) / name for name in (FIRST, SECOND, THIRD)]
    with pytest.raises(BadInput, match="there is no series 'mine'; --base RELEASE begins one"):
        imported(ready, "mine", files)
    assert imported(ready, "mine", files[:1], "5.0.0") == Imported("mine", True, (FIRST,))
    with pytest.raises(BadInput, match=r"series mine is written against 5\.0\.0, not 5\.1\.0; leave --base out"):
        imported(ready, "mine", files[1:], "5.1.0")
    assert imported(ready, "mine", files[1:]) == Imported("mine", False, (SECOND, THIRD))
    for name in (FIRST, SECOND, THIRD):
        assert (folder(ready, "mine") / name).read_bytes() == (folder(ready) / name).read_bytes()
    listed = (folder(ready, "mine") / "series").read_text(encoding="utf-8").splitlines()
    assert listed[1:] == [FIRST, SECOND, THIRD]


def test_files_that_are_no_patches_are_named(ready: Grounds, tmp_path: Path) -> None:
    head = "From: A <a@invalid.example>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\n"
    for name, content, said in (
        ("cover.patch", f"{head}Subject: cover\n\nwords\n", "'cover' has no diff in git's form; leave it out"),
        ("bare.patch", "From: A <a@invalid.example>\nSubject: x\n\nwords\n", "the mail has no date"),
    ):
        file = tmp_path / name
        file.write_text(content, encoding="utf-8")
        with pytest.raises(BadInput, match=said):
            imported(ready, "example", [file])
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"empty: no \*\.patch file in it"):
        imported(ready, "example", [tmp_path / "empty"])
    assert names(ready, "example") == [FIRST, SECOND, THIRD, "series"]


def test_a_series_that_has_changed_since_it_was_applied(ready: Grounds) -> None:
    """Nothing is folded into it, and no patch goes on top of commits that are not its own."""
    tree = clone_of(ready)
    put(ready, tree)
    request = NewRequest("example", "More", "", (), "A <a@invalid.example>", ())
    for words in ({}, {A: text(l9=b"mine")}):
        write_files(tree, words)
        if words:
            git(tree, "commit", "--quiet", "-am", "mine")
        said = "is not the last patch of series example" if words else "nothing is edited in .*: there is no patch to"
        with pytest.raises(BadInput, match=said):
            ready.with_context(lambda context: new(context, request, tree))
    git(tree, "reset", "--quiet", "--hard", "HEAD~1")
    file = folder(ready) / SECOND
    file.write_bytes(file.read_bytes().replace(b"Why it is so.", b"Why it was so."))
    with pytest.raises(BadInput, match="the files of series example have changed since it was applied"):
        ready.with_context(lambda context: refresh(context, "example", None, tree, []))


def test_an_edit_is_folded_into_the_last_patch(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    old = {name: (folder(ready) / name).read_bytes() for name in (FIRST, SECOND, THIRD)}
    write_files(tree, {"src/transformers/fresh/deep/new.py": b"new = 2\n"})
    report = ready.with_context(lambda context: refresh(context, "example", None, tree, []))
    assert report.written == (f"patches/example/{THIRD}",)
    assert b"\n+new = 2\n" in (folder(ready) / THIRD).read_bytes()
    assert [(folder(ready) / name).read_bytes() == old[name] for name in old] == [True, True, False]
    assert git(tree, "status", "--porcelain") == ""


def test_an_edit_as_old_as_the_index_and_as_long_as_what_was_there(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    edit_in_the_index_s_second(tree, "src/transformers/fresh/deep/new.py", b"new = 2\n")
    report = ready.with_context(lambda context: refresh(context, "example", None, tree, []))
    assert report.written == (f"patches/example/{THIRD}",)
