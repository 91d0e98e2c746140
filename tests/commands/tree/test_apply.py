# SPDX-License-Identifier: Apache-2.0
"""`headwater patch apply` and `undo` on a checkout and on a person's clone: all or nothing, and nothing else moves."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest
from grounds import (
    INIT,
    MORE,
    RELEASE,
    SOURCES,
    THREE,
    Grounds,
    checkout_of,
    clone_of,
    edit_in_the_index_s_second,
    fsck,
    git,
    make_a_mess,
    put,
    snapshot,
    steps_of,
    take,
    text,
    write_files,
)

from headwater.core.applied import FileSides
from headwater.core.errors import BadInput, HeadwaterError, PatchFailed
from headwater.core.states import PatchState
from headwater.effects.moved_files import MovedFiles

MAKE = pytest.mark.parametrize("make", [clone_of, checkout_of])
Make = Callable[..., Path]


@MAKE
def test_there_and_back(ready: Grounds, make: Make) -> None:
    tree = make(ready)
    make_a_mess(tree)
    before = snapshot(tree)
    report = put(ready, tree)
    assert [(one.patch[:4], one.state) for one in report.patches] == [(f"000{n}", PatchState.CLEAN) for n in (1, 2, 3)]
    assert git(tree, "log", "--format=%s|%an", f"{report.before}..HEAD").splitlines() == [
        f"Change {n}|Zoë, the Ångström" for n in (3, 2, 1)
    ]
    for name, content in THREE.items():
        if name != "src/transformers/__init__.py":
            assert (tree / name.removesuffix("*")).read_bytes() == content
    assert (tree / "src/transformers/tool.py").stat().st_mode & 0o111 == 0o111
    assert not (tree / "src/transformers/old").exists()
    assert [line for line in git(tree, "status", "--porcelain").splitlines() if "notes" not in line] == [
        " A intent.py", "AM src/transformers/staged.py", "?? link", "?? src/transformers/scratch.py", "?? tests/mine/",
    ]  # fmt: skip
    after = snapshot(tree)
    again = put(ready, tree)
    assert (again.changed, again.patches, snapshot(tree)) == (False, (), after)
    undone = take(ready, tree)
    assert (undone.series, len(undone.patches)) == ("example", 3)
    assert snapshot(tree) == before
    fsck(tree)
    fsck(ready.mirror())


def test_an_edit_as_old_as_the_index_is_seen_by_git_afterwards(ready: Grounds) -> None:
    tree = clone_of(ready)
    edit_in_the_index_s_second(tree, "README.md", b"UPSTREAM\n")
    put(ready, tree)
    assert git(tree, "status", "--porcelain") == " M README.md"


def test_the_branch_moves_and_its_log_says_why(ready: Grounds) -> None:
    tree = clone_of(ready)
    report = put(ready, tree)
    assert git(tree, "rev-parse", "main") == report.after
    assert git(tree, "reflog", "-1", "--format=%gs", "main") == "headwater: apply example"
    take(ready, tree, "example")
    assert git(tree, "rev-parse", "main") == report.before


def test_neither_repository_needs_the_other(ready: Grounds, tmp_path: Path) -> None:
    tree = clone_of(ready)
    mirror = ready.mirror()
    before = git(mirror, "count-objects", "-v")
    put(ready, tree)
    assert git(mirror, "count-objects", "-v") == before
    mirror.rename(tmp_path / "away")
    assert git(tree, "log", "-p", "--stat", "--binary") != ""
    git(tree, "gc", "--quiet", "--prune=now")
    fsck(tree)


@MAKE
def test_another_release_by_a_three_way_merge(ready: Grounds, make: Make) -> None:
    tree = make(ready, "5.1.0")
    report = put(ready, tree)
    assert (report.release, report.variant) == ("5.1.0", None)
    assert (tree / "src/transformers/a.py").read_bytes() == b"top = 1\n" * 9 + text(l2=b"second", l30=b"thirtieth")


@MAKE
def test_a_patch_that_fails_leaves_all_as_it_was(ready: Grounds, make: Make) -> None:
    tree = make(ready, "5.2.0")
    make_a_mess(tree)
    before = snapshot(tree)
    with pytest.raises(PatchFailed, match=r"0002-Change-2\.patch of series example conflicts .*src/transformers/a\.py"):
        put(ready, tree)
    assert snapshot(tree) == before
    assert git(tree, "status", "--porcelain") != ""


def test_what_is_there_already_makes_no_commit(ready: Grounds) -> None:
    tree = ready.clone("5.0.0", {**MORE, "src/transformers/a.py": text(l2=b"second")})
    report = put(ready, tree)
    assert [one.state for one in report.patches] == [PatchState.ALREADY_APPLIED, PatchState.CLEAN, PatchState.CLEAN]
    assert report.patches[0].commit is None
    assert git(tree, "rev-list", "--count", "HEAD") == "3"
    take(ready, tree)
    assert git(tree, "rev-parse", "HEAD") == report.before
    full = ready.clone("5.0.0", {}, "full")
    git(full, "rm", "-rq", ".")
    write_files(full, THREE)
    git(full, "add", "--all")
    git(full, "commit", "--quiet", "-m", "as patched")
    there = put(ready, full)
    assert not there.changed
    assert {one.state for one in there.patches} == {PatchState.ALREADY_APPLIED}
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, full)


OBSTACLES: dict[str, tuple[Callable[[Path], object], str]] = {
    "edited": (lambda tree: (tree / "src/transformers/a.py").write_bytes(b"mine\n"), "src/transformers/a.py has edits"),
    "deleted": (lambda tree: (tree / "src/transformers/a.py").unlink(), "src/transformers/a.py has edits"),
    "untracked": (
        lambda tree: write_files(tree, {"tests/utils/test_a.py": b"mine\n"}),
        "tests/utils/test_a.py is there, and git does not track it",
    ),
    "ignored": (
        lambda tree: write_files(tree, {".git/info/exclude": b"moved\n", "src/transformers/moved/b.py": b"mine\n"}),
        "src/transformers/moved/b.py is there, and git does not track it",
    ),
    "folder": (
        lambda tree: (tree / "tests/utils/test_a.py").mkdir(parents=True),
        "tests/utils/test_a.py is there, and git does not track it",
    ),
    "link": (
        lambda tree: (tree / "src/transformers/moved").symlink_to(tree),
        "src/transformers/moved is a symbolic link",
    ),
    "file": (
        lambda tree: (tree / "src/transformers/moved").write_bytes(b""), "src/transformers/moved is a file"
    ),
    "assumed": (
        lambda tree: git(tree, "update-index", "--assume-unchanged", "src/transformers/a.py"),
        "src/transformers/a.py is left out of a sparse checkout, or marked as unchanged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OBSTACLES)
def test_what_is_in_the_way_is_named_and_stays(ready: Grounds, name: str) -> None:
    tree = clone_of(ready)
    make_a_mess(tree)
    obstruct, words = OBSTACLES[name]
    obstruct(tree)
    before = snapshot(tree)
    with pytest.raises(BadInput) as caught:
        put(ready, tree)
    assert words in str(caught.value)
    assert snapshot(tree) == before


def test_a_staged_edit_is_in_the_way(ready: Grounds) -> None:
    tree = clone_of(ready)
    file = tree / "src/transformers/a.py"
    file.write_bytes(b"staged\n")
    git(tree, "add", "--all")
    file.write_bytes(text())
    before = snapshot(tree)
    with pytest.raises(BadInput, match=r"src/transformers/a\.py has edits"):
        put(ready, tree)
    assert snapshot(tree) == before


def test_git_at_work_or_another_run_is_waited_for(ready: Grounds) -> None:
    tree = clone_of(ready)
    lock = tree / ".git" / "index.lock"
    lock.write_bytes(b"git's")
    before = snapshot(tree)
    with pytest.raises(BadInput, match=r"index\.lock is there"):
        put(ready, tree)
    assert (snapshot(tree), lock.read_bytes()) == (before, b"git's")
    lock.unlink()
    with (tree / ".git" / "headwater" / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(BadInput, match="another run"):
            put(ready, tree)
    assert put(ready, tree).changed


def test_what_no_series_goes_onto(ready: Grounds, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    newer = tmp_path / "newer"
    git(tmp_path, "init", "--quiet", "--object-format=sha256", str(newer))
    empty = tmp_path / "nothing"
    git(tmp_path, "init", "--quiet", str(empty))
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    git(other, "commit", "--quiet", "--allow-empty", "-m", "x")
    busy = clone_of(ready)
    (busy / ".git" / "MERGE_HEAD").write_text("")
    for tree, words in (
        (plain, "not the root of a git work tree"), (busy / "src", "not the root"), (newer, "sha256"),
        (empty, "no commit yet"), (other, r"no src/transformers"), (busy, "a merge is under way"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=words):
            put(ready, tree)


def test_undo_refuses_what_would_be_lost(ready: Grounds) -> None:
    tree = clone_of(ready)
    with pytest.raises(BadInput, match="no series is applied"):
        take(ready, tree)
    put(ready, tree)
    with pytest.raises(BadInput, match="series other is not applied"):
        take(ready, tree, "other")
    new = tree / "tests/utils/test_a.py"
    content = new.read_bytes()
    new.write_bytes(b"mine\n")
    before = snapshot(tree)
    with pytest.raises(BadInput, match=r"tests/utils/test_a\.py has edits"):
        take(ready, tree)
    assert snapshot(tree) == before
    new.write_bytes(content)
    write_files(tree, {"README.md": b"mine\n"})
    git(tree, "commit", "--quiet", "-am", "on top")
    before = snapshot(tree)
    with pytest.raises(BadInput, match=r"commits lie on top of series example .* on top"):
        take(ready, tree)
    assert snapshot(tree) == before
    assert not put(ready, tree).changed


def test_a_file_of_the_person_in_a_folder_of_the_series_stays(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    write_files(tree, {"src/transformers/fresh/mine.py": b"mine\n"})
    take(ready, tree)
    assert sorted(path.name for path in (tree / "src/transformers/fresh").iterdir()) == ["mine.py"]
    assert git(tree, "status", "--porcelain") == "?? src/transformers/fresh/"


def test_an_edit_made_meanwhile_stays(ready: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = clone_of(ready)
    before = snapshot(tree)
    edited = tree / "src/transformers/data.bin"
    write = MovedFiles.write

    def write_late(files: MovedFiles, changes: Sequence[FileSides], removable: Collection[str] | None) -> None:
        edited.write_bytes(b"mine, at the last moment\n")
        write(files, changes, removable)

    monkeypatch.setattr(MovedFiles, "write", write_late)
    with pytest.raises(BadInput, match=r"data\.bin was edited meanwhile"):
        put(ready, tree)
    assert edited.read_bytes() == b"mine, at the last moment\n"
    edited.write_bytes(RELEASE["transformers/data.bin"])
    assert snapshot(tree) == before


def test_settings_of_the_person_count_and_programs_do_not_run(
    ready: Grounds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = clone_of(ready)
    ran = tmp_path / "ran"
    for name in ("reference-transaction", "post-index-change", "post-checkout", "fsmonitor"):
        hook = tree / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho {name} >> '{ran}'\n", encoding="utf-8")
        hook.chmod(0o755)
    git(tree, "config", "core.fsmonitor", str(tree / ".git" / "hooks" / "fsmonitor"))
    settings = tmp_path / "gitconfig"
    settings.write_text("[core]\n\tautocrlf = true\n[diff]\n\tnoprefix = true\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    put(ready, tree)
    assert not ran.exists()
    assert (tree / "tests/utils/test_a.py").read_bytes() == b"def test(): pass\r\n"
    take(ready, tree)
    assert not ran.exists()


@pytest.mark.parametrize("how", [["--depth=1"], ["--reference-if-able", "clone"], ["--filter=blob:none"]])
def test_clones_that_do_not_have_everything(ready: Grounds, tmp_path: Path, how: list[str]) -> None:
    whole = clone_of(ready)
    git(whole, "config", "uploadpack.allowFilter", "true")
    write_files(whole, {"README.md": b"two\n"})
    git(whole, "commit", "--quiet", "-am", "two")
    git(tmp_path, "clone", "--quiet", *how, whole.as_uri(), "part: of it")
    tree = tmp_path / "part: of it"
    before = snapshot(tree)
    report = put(ready, tree)
    assert git(tree, "status", "--porcelain") == ""
    fsck(tree)
    take(ready, tree)
    assert snapshot(tree) == before
    assert git(tree, "cat-file", "-t", report.after) == "commit"


def test_amended_commits_are_not_given_up(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    git(tree, "commit", "--quiet", "--amend", "-m", "Otherwise")
    before = snapshot(tree)
    with pytest.raises(BadInput, match=r"they were amended.*`headwater patch refresh example .*git reset --keep"):
        take(ready, tree)
    assert snapshot(tree) == before


def test_a_folder_takes_a_files_place_and_a_file_a_folders(ready: Grounds) -> None:
    gone = {"src/transformers/b.py", "src/transformers/old/gone.py"}
    swapped = {name: content for name, content in SOURCES.items() if name not in gone}
    ready.series("swap", "5.0.0", [{**swapped, "src/transformers/b.py/in.py": b"", "src/transformers/old": b"file\n"}])
    tree = clone_of(ready)
    before = snapshot(tree)
    put(ready, tree, "swap")
    assert (tree / "src/transformers/old").read_bytes() == b"file\n"
    assert (tree / "src/transformers/b.py/in.py").read_bytes() == b""
    after = snapshot(tree)
    take(ready, tree)
    assert snapshot(tree) == before
    steps = steps_of(ready, tree, "apply", name="swap")
    assert steps is not None
    assert steps_of(ready, tree, "undo", steps[0] - 4, "swap") is None
    assert not put(ready, tree, "swap").changed
    assert snapshot(tree) == after
    assert steps_of(ready, tree, "undo", name="swap") is not None
    for moment in (steps[0] * 6 // 10, steps[0] * 7 // 10, steps[0] - 4):
        assert steps_of(ready, tree, "apply", moment, "swap") is None
        with pytest.raises(BadInput, match="no series is applied"):
            take(ready, tree)
        assert snapshot(tree) == before


def test_two_series_come_off_in_order(ready: Grounds) -> None:
    ready.series("second", "5.0.0", [{**SOURCES, "src/transformers/__init__.py": INIT + b"more = 1\n"}])
    tree = clone_of(ready)
    before = snapshot(tree)
    put(ready, tree)
    put(ready, tree, "second")
    with pytest.raises(BadInput, match="commits lie on top of series example"):
        take(ready, tree, "example")
    assert take(ready, tree).series == "second"
    assert take(ready, tree).series == "example"
    assert snapshot(tree) == before


def test_another_revision_of_the_series_is_said(ready: Grounds) -> None:
    tree = clone_of(ready)
    put(ready, tree)
    path = next((ready.root / "patches" / "example").glob("0001-*"))
    path.write_bytes(path.read_bytes().replace(b"Why it is so.", b"Otherwise."))
    with pytest.raises(BadInput, match="they have changed since; `headwater patch undo example"):
        put(ready, tree)
    take(ready, tree)
    assert put(ready, tree).changed


def test_branches_have_each_their_own(ready: Grounds) -> None:
    tree = clone_of(ready)
    git(tree, "branch", "other")
    put(ready, tree)
    git(tree, "switch", "--quiet", "other")
    assert put(ready, tree).changed
    take(ready, tree)
    git(tree, "switch", "--quiet", "main")
    assert take(ready, tree).series == "example"


def test_line_ends_as_the_person_has_them(ready: Grounds) -> None:
    tree = clone_of(ready)
    write_files(tree, {".gitattributes": b"*.py text eol=crlf\n"})
    git(tree, "add", "--renormalize", ".")
    git(tree, "add", ".gitattributes")
    git(tree, "commit", "--quiet", "-m", "line ends")
    git(tree, "rm", "-rq", "--cached", ".")
    git(tree, "reset", "--quiet", "--hard")
    before = snapshot(tree)
    with pytest.raises(HeadwaterError):
        put(ready, tree)
    assert snapshot(tree) == before
    folder = ready.root / "patches" / "example"
    for path in [*folder.glob("0002-*"), *folder.glob("0003-*")]:
        path.unlink()
    series = (folder / "series").read_text(encoding="utf-8").splitlines()
    (folder / "series").write_text("\n".join(series[:-2]) + "\n", encoding="utf-8")
    put(ready, tree)
    assert (tree / "src/transformers/a.py").read_bytes() == text(l2=b"second").replace(b"\n", b"\r\n")
    assert git(tree, "status", "--porcelain") == ""
    take(ready, tree)
    assert snapshot(tree) == before
