# SPDX-License-Identifier: Apache-2.0
"""`headwater patch drop`: a series without one patch, everywhere, or as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from carries import SERIES, Carries, contents
from grounds import git, text

from headwater.core.mail import same_but_ids

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = SERIES


def with_variant(carries: Carries) -> None:
    """`renamed-file` for 5.3.0, which holds all three, and `other-line` for 5.4.0 to 5.4.2, which holds the second."""
    carries.patch("carry", "mend", "--to", "5.3.0", "--as", "renamed-file")
    carries.patch("carry", "mend", "--to", "5.4.0", "--as", "other-line", status=1)
    (carries.tree("5.4.0") / "src/transformers/a.py").write_bytes(text(l6=b"second", l20=b"other_twentieth"))
    carries.patch("carry", "mend", "--to", "5.4.0", "--continue")


def refused(carries: Carries, patch: str, status: int = 2) -> str:
    """The message with which a drop is refused; nothing is changed."""
    before = contents(carries.mend)
    done = carries.patch("drop", "mend", patch, "--json", status=status)
    assert contents(carries.mend) == before
    return str(done.json["error"]["message"])


@pytest.mark.parametrize("word", [SECOND, "2", "0002", "Change-2"])
def test_a_patch_in_the_middle(carries: Carries, word: str) -> None:
    before = contents(carries.mend)
    done = carries.patch("drop", "mend", word, "--json")
    # What stands above it applies without it, and its text stays but for the ids of contents.
    assert done.json["patch"] == SECOND
    assert (done.json["kept"], done.json["rewritten"]) == ([f"patches/mend/{SECOND}.dropped"], [])
    after = contents(carries.mend)
    assert after[f"{SECOND}.dropped"] == before[SECOND]
    assert after["series"].decode() == before["series"].decode().replace(f"{SECOND}\n", "")
    assert (after[FIRST], same_but_ids(after[THIRD], before[THIRD])) == (before[FIRST], True)
    assert sorted(after) == sorted([FIRST, f"{SECOND}.dropped", THIRD, "series"])
    assert carries.states("5.0.0") == ["clean"] * 2
    tree = carries.grounds.clone("5.0.0", {})
    carries.patch("apply", "mend", "--tree", tree)
    assert (tree / "src/transformers/a.py").read_bytes() == text(l6=b"second", l38=b"last")


def test_what_stands_above_moves_up(carries: Carries) -> None:
    more = carries.grounds.series("lines", "5.0.0", [
        {**carries.grounds.sources("5.0.0"), "src/transformers/a.py": content}
        for content in (b"top = 1\n" * 5 + text(), b"top = 1\n" * 5 + text(l30=b"thirtieth"))
    ])  # fmt: skip
    done = carries.patch("drop", "lines", "1", "--json")
    assert done.json["rewritten"] == [f"patches/lines/{more[1].name}"]
    assert carries.states("5.0.0", "lines") == ["clean"]
    assert b"@@ -27,7 +27,7 @@" in more[1].read_bytes()


def test_in_its_variants_too(carries: Carries) -> None:
    with_variant(carries)
    done = carries.patch("drop", "mend", FIRST, "--json")
    assert done.json["kept"] == [f"patches/mend/{FIRST}.dropped", f"patches/mend/renamed-file/{FIRST}.dropped"]
    listed = (carries.mend / "renamed-file" / "series").read_text(encoding="utf-8")
    assert FIRST not in listed
    assert f"{SECOND}\n{THIRD}\n" in listed
    for release in ("5.0.0", "5.3.0", "5.4.1"):
        assert carries.states(release) == ["clean"] * 2


def test_what_another_patch_needs(carries: Carries) -> None:
    source = carries.grounds.sources("5.0.0")
    steps = [{**source, "src/transformers/a.py": text(l20=word)} for word in (b"one", b"two", b"three")]
    folder = carries.root / "patches" / "steps"
    carries.grounds.series("steps", "5.0.0", steps)
    before = contents(folder)
    done = carries.patch("drop", "steps", "2", "--json", status=1)
    message = done.json["error"]["message"]
    assert "0003-Change-3.patch needs 0002-Change-2.patch" in message
    assert "src/transformers/a.py" in message
    assert contents(folder) == before
    carries.patch("drop", "steps", "3")
    carries.patch("drop", "steps", "2")


def test_what_is_refused(carries: Carries) -> None:
    with_variant(carries)
    assert "variant other-line holds only" in refused(carries, SECOND)
    assert FIRST in refused(carries, "9")
    assert "'Change' names 3 patches" in refused(carries, "Change")
    assert "''" in refused(carries, "")
    for folder in (carries.mend, carries.mend / "renamed-file"):
        aside = folder / f"{FIRST}.dropped"
        aside.write_text("mine\n", encoding="utf-8")
        assert str(aside) in refused(carries, FIRST)
        aside.unlink()
    only = carries.patch("drop", "twins", "1", "--json", status=2).json["error"]["message"]
    assert "remove the folder patches/twins" in only


def test_killed_it_is_done_or_not(carries: Carries) -> None:
    with_variant(carries)
    before, words = contents(carries.mend), ("drop", "mend", FIRST)
    steps = carries.killed_at(0, *words)
    assert steps is not None
    wanted = contents(carries.mend)
    for moment in range(steps - 15, steps + 1, 3):
        carries.have("mend", before)
        assert carries.killed_at(moment, *words) is None
        assert carries.states("5.3.0") in (["clean"] * 3, ["clean"] * 2)
        now = {name: content for name, content in contents(carries.mend).items() if not name.startswith(".new-")}
        assert now in (before, wanted)


def test_the_workspace_in_git_shows_what_changed(carries: Carries, tmp_path: Path) -> None:
    git(carries.root, "init", "--quiet")
    git(carries.root, "add", "patches")
    git(carries.root, "commit", "--quiet", "-m", "before")
    carries.patch("drop", "mend", FIRST)
    git(carries.root, "add", "patches")
    changed = git(carries.root, "diff", "--cached", "--name-status", "-M").splitlines()
    assert changed == [f"R100\tpatches/mend/{FIRST}\tpatches/mend/{FIRST}.dropped", "M\tpatches/mend/series"]
