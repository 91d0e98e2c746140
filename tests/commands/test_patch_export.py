# SPDX-License-Identifier: Apache-2.0
"""`headwater patch export`: what `git am` takes, the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from carries import SERIES, Carries, contents
from grounds import MORE, THREE, git, put, text

PATCHES = tuple(f"000{number}-Change-{number}.patch" for number in (1, 2, 3))


def patch_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.patch")}


def test_what_git_am_takes(kinds: Carries, tmp_path: Path) -> None:
    """Text with any line ends, without a last one, renamed, deleted, made executable, binary; an author to quote."""
    out = tmp_path / "deep" / "out"
    done = kinds.patch("export", "example", "--to", out, "--json")
    assert done.json["files"] == list(PATCHES)
    assert (done.json["folder"], done.json["release"], done.json["skipped"]) == (str(out), "5.0.0", [])
    clone = kinds.grounds.clone("5.0.0", MORE)
    git(clone, "am", "--quiet", "--keep-cr", *sorted(out.iterdir()))
    for name, content in THREE.items():
        assert (clone / name.removesuffix("*")).read_bytes() == content
    assert git(clone, "log", "--format=%s|%an|%aI|%b", "-1").strip() == (
        "Change 3|Zoë, the Ångström|2026-02-03T03:04:05+05:30|Why it is so."
    )
    assert not (clone / "src/transformers/old").exists()
    assert (clone / "src/transformers/tool.py").stat().st_mode & 0o111


def test_the_same_commits_as_by_apply(kinds: Carries, tmp_path: Path) -> None:
    kinds.patch("export", "example", "--to", tmp_path / "out")
    by_git, by_us = (kinds.grounds.clone("5.0.0", MORE, name) for name in ("by-git", "by-us"))
    git(by_git, "am", "--quiet", "--keep-cr", *sorted((tmp_path / "out").iterdir()))
    put(kinds.grounds, by_us)
    shape = ("log", "--format=%T %an %ae %at %B")
    assert git(by_git, *shape) == git(by_us, *shape)


@pytest.mark.parametrize("release", ["5.0.0", "5.1.0"])
def test_the_same_bytes_after_a_way_around(kinds: Carries, tmp_path: Path, release: str) -> None:
    kinds.patch("export", "--to", tmp_path / "one", "--release", release)
    first = patch_files(tmp_path / "one")
    assert sorted(first) == list(PATCHES)
    if release == "5.0.0":
        assert first == patch_files(kinds.root / "patches" / "example")
    clone = kinds.grounds.clone(release, MORE)
    git(clone, "am", "--quiet", "--keep-cr", *sorted((tmp_path / "one").iterdir()))
    git(clone, "format-patch", "--quiet", "--cover-letter", "-o", tmp_path / "mails", "-3")
    mails = sorted((tmp_path / "mails").glob("*-Change-*"))
    kinds.patch("import", "around", *mails, "--base", release)
    kinds.patch("export", "around", "--to", tmp_path / "two")
    assert patch_files(tmp_path / "two") == first
    # And once more into the same folder: nothing is in the way.
    kinds.patch("export", "around", "--to", tmp_path / "two")
    assert patch_files(tmp_path / "two") == first


def test_nothing_of_machine_and_moment(kinds: Carries, tmp_path: Path) -> None:
    kinds.patch("export", "example", "--to", tmp_path / "out")
    for content in patch_files(tmp_path / "out").values():
        assert content.startswith(b"From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n")
        assert b"Subject: [PATCH] Change" in content
        assert b"\n-- \n" not in content
        assert b" | " not in content.partition(b"diff --git")[0]
    ids = [
        line.split()[1].partition(b"..")
        for content in patch_files(tmp_path / "out").values()
        for line in content.splitlines()
        if line.startswith(b"index ")
    ]
    assert ids
    assert {len(one) for found in ids for one in (found[0], found[2])} == {40}


def test_what_is_not_needed_is_left_out_and_said(carries: Carries, tmp_path: Path) -> None:
    carries.a_case(2, "good", "5.4.0")
    words = ("export", "mend", "--to", tmp_path / "out", "--release", "5.4.0")
    done = carries.patch(*words, "--json")
    assert done.json["files"] == [SERIES[0], SERIES[2]]
    assert done.json["skipped"] == [{"patch": SERIES[1], "state": "fixed-upstream"}]
    shown = carries.patch(*words).out
    assert f"left out, fixed upstream: {SERIES[1]}" in shown
    clone = carries.grounds.clone("5.4.0", {})
    git(clone, "am", "--quiet", *sorted((tmp_path / "out").iterdir()))
    assert (clone / "src/transformers/a.py").read_bytes() == text(l6=b"second", l20=b"other", l38=b"last")


def test_what_is_there_already_makes_no_file(carries: Carries, tmp_path: Path) -> None:
    done = carries.patch("export", "mend", "--to", tmp_path / "out", "--release", "5.7.0", "--json", status=1)
    assert "every patch of series mend is applied on 5.7.0 already" in done.json["error"]["message"]
    assert not (tmp_path / "out").exists()


def test_what_conflicts_or_lies_in_the_way(carries: Carries, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = carries.patch("export", "mend", "--to", out, "--release", "5.4.0", "--json", status=1)
    assert SERIES[1] in done.json["error"]["message"]
    assert "headwater patch carry mend" in done.json["error"]["message"]
    assert not out.exists()
    out.mkdir()
    (out / "0009-mine.patch").write_text("mine\n", encoding="utf-8")
    before = contents(out)
    done = carries.patch("export", "mend", "--to", out, "--json", status=2)
    assert str(out / "0009-mine.patch") in done.json["error"]["message"]
    (out / "0009-mine.patch").rename(out / "note.txt")
    (out / SERIES[0]).write_text("mine\n", encoding="utf-8")
    carries.patch("export", "mend", "--to", out, status=2)
    assert contents(out) == {"note.txt": before["0009-mine.patch"], SERIES[0]: b"mine\n"}
    for place in (out / "note.txt", out / "note.txt" / "deeper"):
        assert "note.txt" in carries.patch("export", "mend", "--to", place, status=2).err
