# SPDX-License-Identifier: Apache-2.0
"""`headwater patch diff`: what changed between two revisions of a series."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from carries import SERIES, Carries
from grounds import git, text

from headwater.core.series_text import new_series

pytestmark = pytest.mark.slow

A = "src/transformers/a.py"


@pytest.fixture
def versioned(carries: Carries) -> Carries:
    """The workspace as a folder of a repository, the series committed and tagged `v1`."""
    top = carries.root.parent
    (top / ".gitignore").write_text("*\n!workspace/\n!workspace/patches/\n!workspace/patches/**\n", encoding="utf-8")
    git(top, "init", "--quiet")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "v1")
    git(top, "tag", "v1")
    return carries


def changes(done: Any) -> list[tuple[int | None, int | None, str, str]]:
    return [(p["before"], p["after"], p["change"], p["subject"]) for p in done.json["pairs"]]


def test_nothing_changed(versioned: Carries) -> None:
    done = versioned.patch("diff", "mend", "HEAD", "--json")
    assert done.json["unchanged"]
    assert (done.json["before"], done.json["after"], done.json["release"]) == ("HEAD", "the workspace", "5.0.0")
    assert changes(done) == [(n, n, "unchanged", f"Change {n}") for n in (1, 2, 3)]
    assert "3 unchanged." in versioned.patch("diff", "mend", "HEAD").out


def test_changed_gone_and_new(versioned: Carries) -> None:
    [first, second, third] = (versioned.mend / name for name in SERIES)
    second.write_bytes(second.read_bytes().replace(b"+twentieth", b"+the_twentieth"))
    versioned.patch("drop", "mend", third.name)
    source = versioned.grounds.sources("5.0.0")
    lines = {"l6": b"second", "l20": b"the_twentieth"}
    versioned.grounds.series("more", "5.0.0", [
        {**source, A: text(**lines)}, {**source, A: text(**lines), "src/transformers/new.py": b"new = 1\n" * 9},
    ], ["Both", "Something new"])  # fmt: skip
    versioned.patch("import", "mend", versioned.root / "patches" / "more" / "0002-Something-new.patch")
    done = versioned.patch("diff", "mend", "v1", "--json")
    assert sorted(changes(done), key=str) == sorted([
        (1, 1, "unchanged", "Change 1"), (2, 2, "changed", "Change 2"),
        (3, None, "gone", "Change 3"), (None, 3, "new", "Something new"),
    ], key=str)  # fmt: skip
    assert not done.json["unchanged"]
    shown = versioned.patch("diff", "mend", "v1").out
    assert "mend: v1 against the workspace, on 5.0.0" in shown
    assert "++the_twentieth" in shown.replace(" ", "")
    assert "1 unchanged, 1 changed, 1 gone, 1 new." in shown
    assert first.is_file()


def test_two_revisions_and_two_folders(versioned: Carries, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(versioned.mend, old)
    second = versioned.mend / SERIES[1]
    second.write_bytes(second.read_bytes().replace(b"Why it is so.", b"Why it is otherwise."))
    top = versioned.root.parent
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "v2")
    wanted = [(1, 1, "unchanged", "Change 1"), (2, 2, "changed", "Change 2"), (3, 3, "unchanged", "Change 3")]
    for words in (("v1", "HEAD"), ("HEAD~1", "HEAD"), ("v1",), (str(old),), (str(old), "HEAD")):
        assert changes(versioned.patch("diff", "mend", *words, "--json")) == wanted
    assert changes(versioned.patch("diff", "mend", "HEAD", str(old), "--json")) == wanted
    # A series that is gone from the workspace can still be compared, when both revisions are named.
    shutil.rmtree(versioned.mend)
    assert changes(versioned.patch("diff", "mend", "v1", "HEAD", "--json")) == wanted
    assert (
        "name a second revision" in versioned.patch("diff", "mend", "v1", "--json", status=2).json["error"]["message"]
    )


def test_on_another_release(versioned: Carries) -> None:
    """The old one is written against another base; both are compared where the newer one is, or where one says."""
    base = {**versioned.grounds.sources("5.1.0")}
    moved = b"top = 1\n" * 9
    shutil.rmtree(versioned.mend)
    lines = {"l6": b"second", "l20": b"twentieth", "l38": b"last"}
    states = [{**base, A: moved + text(**dict(list(lines.items())[:n]))} for n in (1, 2, 3)]
    versioned.grounds.series("mend", "5.1.0", states)
    for words, release in (((), "5.1.0"), (("--release", "5.0.0"), "5.0.0"), (("--release", "5.2.0"), "5.2.0")):
        done = versioned.patch("diff", "mend", "v1", *words, "--json")
        assert (done.json["release"], done.json["unchanged"]) == (release, True)
    assert SERIES[1] in versioned.patch("diff", "mend", "v1", "--release", "5.4.0", status=1).err
    done = versioned.patch("diff", "mend", "v1", "--release", "5.7.0")
    assert "no patch of either changes 5.7.0" in done.out


def test_what_names_nothing(versioned: Carries, tmp_path: Path) -> None:
    def told(*words: str) -> str:
        return str(versioned.patch("diff", "--json", *words, status=2).json["error"]["message"])

    for revision in ("nope", "", "--what", str(tmp_path), "v1:patches"):
        assert repr(revision) in told("--", "mend", revision)
    assert "'other'" in told("other", "v1")
    assert "patches/other" in told("other", "v1", "HEAD")
    assert "5.9.9" in told("mend", "v1", "--release", "5.9.9")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "series").write_text(new_series("5.0.0", "0" * 40, ("0001-none.patch",)), encoding="utf-8")
    assert "0001-none.patch" in told("mend", str(broken))
    (versioned.root.parent / ".git").rename(versioned.root.parent / "git-away")
    assert "lies in no git repository" in told("mend", "v1")
