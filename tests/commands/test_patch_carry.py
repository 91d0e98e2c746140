# SPDX-License-Identifier: Apache-2.0
"""`headwater patch carry`: what merges is written, what conflicts waits for a person, and what is killed goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from carries import METHODS, SERIES, Carries, contents, restore
from grounds import git, text

SECOND = "src/transformers/a.py"
FIRST_MENDED = b"class First:\n" + METHODS.replace(b"n4 = 4", b"n4 = 44")


def to(release: str, *words: str) -> tuple[str, ...]:
    return ("carry", "mend", "--to", release, *words)


def resolve(tree: Path, **lines: bytes) -> None:
    """Write the file that conflicted."""
    (tree / SECOND).write_bytes(text(**lines))


def test_nothing_is_needed_where_all_apply(carries: Carries) -> None:
    before = contents(carries.mend)
    for release, state in (("5.0.0", "clean"), ("5.1.0", "offset"), ("5.7.0", "already-applied")):
        done = carries.patch(*to(release, "--json"))
        assert [one["state"] for one in done.json["states"]] == [state] * 3
        assert (done.json["variant"], done.json["files"], done.json["stopped"]) == (None, [], None)
    assert "no variant is needed" in carries.patch(*to("5.1.0")).out
    assert contents(carries.mend) == before


def test_what_merges_becomes_a_variant_that_applies_as_it_stands(carries: Carries) -> None:
    done = carries.patch(*to("5.3.0", "--as", "renamed-file", "--json"))
    assert [one["state"] for one in done.json["states"]] == ["three-way"] * 3
    assert (done.json["variant"], done.json["serves"], done.json["files"]) == ("renamed-file", "5.3.0", list(SERIES))
    assert sorted(path.name for path in (carries.mend / "renamed-file").iterdir()) == [*SERIES, "series"]
    assert "range 5.3.0 renamed-file\n" in (carries.mend / "series").read_text(encoding="utf-8")
    assert b"renamed.py" in (carries.mend / "renamed-file" / SERIES[0]).read_bytes()
    assert carries.states("5.3.0") == ["clean"] * 3
    [first, *_] = carries.patch("explain", "mend", "5.3.0", "--json").json["patches"]
    assert (first["file"], first["base"]) == (f"patches/mend/renamed-file/{SERIES[0]}", "5.3.0")


def test_only_what_git_does_not_place_by_itself_gets_a_file(carries: Carries) -> None:
    done = carries.patch(*to("5.2.0", "--json"))
    assert [one["state"] for one in done.json["states"]] == ["reduced-context", "clean", "clean"]
    assert (done.json["variant"], done.json["files"]) == ("rebase-5-2-0", [SERIES[0]])
    assert carries.states("5.2.0") == ["clean"] * 3


def test_a_conflict_waits_for_a_person(carries: Carries) -> None:
    before = contents(carries.mend)
    done = carries.patch(*to("5.4.0", "--as", "other-line"), status=1)
    tree = carries.tree("5.4.0")
    assert str(tree) in done.out
    assert "headwater patch carry mend --to 5.4.0 --continue" in done.out
    assert b"<<<<<<<" in (tree / SECOND).read_bytes()
    assert contents(carries.mend) == before
    # Begun again, with markers left, and with nothing changed.
    again = carries.patch(*to("5.4.0"), status=2)
    assert "--continue" in again.err
    assert "--abort" in again.err
    left = carries.patch(*to("5.4.0", "--continue"), status=2)
    assert f"conflict markers are left in {tree / SECOND}" in left.err
    resolve(tree, l6=b"second", l20=b"other")
    nothing = carries.patch(*to("5.4.0", "--continue"), status=2)
    assert f"{SERIES[1]} would be empty" in nothing.err
    assert contents(carries.mend) == before
    resolve(tree, l6=b"second", l20=b"other_twentieth")
    done = carries.patch(*to("5.4.0", "--continue", "--json"))
    # The neighbours up to 5.4.2 have the same file, and 5.5.0 has another.
    assert (done.json["variant"], done.json["serves"]) == ("other-line", "5.4.0..5.4.2")
    assert done.json["files"] == [SERIES[1]]
    assert not tree.exists()
    assert "checkouts" not in git(carries.grounds.mirror(), "worktree", "list", "--porcelain")
    for release in ("5.4.0", "5.4.1", "5.4.2"):
        assert carries.states(release) == ["clean"] * 3
    assert "no variant is needed" in carries.patch(*to("5.4.1")).out


def test_a_second_conflict_stops_again(carries: Carries) -> None:
    carries.patch(*to("5.5.0"), status=1)
    tree = carries.tree("5.5.0")
    resolve(tree, l6=b"second", l20=b"both", l38=b"other")
    done = carries.patch(*to("5.5.0", "--continue", "--json"), status=1)
    assert (done.json["stopped"], done.json["tree"]) == (SERIES[2], str(tree))
    assert b"<<<<<<<" in (tree / SECOND).read_bytes()
    assert git(tree, "log", "--format=%s", "-2").splitlines() == ["Change 2", "Change 1"]
    resolve(tree, l6=b"second", l20=b"both", l38=b"last_other")
    done = carries.patch(*to("5.5.0", "--continue", "--json"))
    assert done.json["files"] == list(SERIES[1:])
    assert carries.states("5.5.0") == ["clean"] * 3
    applied = carries.patch("apply", "mend", "--tree", carries.grounds.checkout("5.5.0"), "--json")
    assert applied.json["variant"] == "rebase-5-5-0"
    assert (carries.grounds.checkout("5.5.0") / SECOND).read_bytes() == text(
        l6=b"second", l20=b"both", l38=b"last_other"
    )


def test_abort_removes_what_was_begun(carries: Carries) -> None:
    before = contents(carries.mend)
    carries.patch(*to("5.4.0"), status=1)
    tree = carries.tree("5.4.0")
    (tree / "notes.txt").write_text("mine\n", encoding="utf-8")
    assert carries.patch(*to("5.4.0", "--abort", "--json")).json["removed"] == str(tree)
    assert not tree.exists()
    assert contents(carries.mend) == before
    for words in ("--abort", "--continue"):
        told = carries.patch(*to("5.4.0", words, "--json"), status=2).json["error"]["message"]
        assert f"has stopped at {tree}" in told
    carries.patch(*to("5.4.0"), status=1)


def test_one_release_alone_beside_a_range(carries: Carries) -> None:
    carries.patch(*to("5.5.0", "--as", "far"), status=1)
    tree = carries.tree("5.5.0")
    resolve(tree, l6=b"second", l20=b"both", l38=b"other")
    carries.patch(*to("5.5.0", "--continue"), status=1)
    resolve(tree, l6=b"second", l20=b"both", l38=b"last_other")
    carries.patch(*to("5.5.0", "--continue"))
    listing = carries.mend / "series"
    wider = listing.read_text(encoding="utf-8").replace("range 5.5.0 far", "range 5.4.2..5.5.0 far")
    listing.write_text(wider, encoding="utf-8")
    assert carries.patch(*to("5.4.2", "--as", "near"), "--json", status=1).json["stopped"] == SERIES[2]
    resolve(carries.tree("5.4.2"), l6=b"second", l20=b"both", l38=b"near_other")
    # 5.4.0 and 5.4.1 have the same file, and a range with them would overlap the other.
    assert carries.patch(*to("5.4.2", "--continue"), "--json").json["serves"] == "5.4.2"
    assert "range 5.4.2..5.5.0 far\nrange 5.4.2 near\n" in listing.read_text(encoding="utf-8")
    assert carries.states("5.4.2") == carries.states("5.5.0") == ["clean"] * 3
    [*_, last] = carries.patch("explain", "mend", "5.4.2", "--json").json["patches"]
    assert last["file"] == f"patches/mend/near/{SERIES[2]}"
    # What the variant brought that served it before, it needs as well.
    assert (carries.mend / "near" / SERIES[1]).is_file()
    refused = carries.patch(*to("5.4.2", "--as", "again"), "--json", status=2)
    assert "variant near serves 5.4.2 already" in refused.json["error"]["message"]


def test_what_would_be_misplaced_stops_too(carries: Carries) -> None:
    words = ("carry", "twins", "--to", "5.6.0")
    done = carries.patch(*words, "--json", status=1)
    assert [one["state"] for one in done.json["states"]] == ["misplaced"]
    tree = carries.tree("5.6.0", "twins")
    (tree / "src/transformers/twins.py").write_bytes(FIRST_MENDED)
    assert carries.patch(*words, "--continue", "--json").json["serves"] == "5.6.0"
    assert carries.states("5.6.0", "twins") == ["clean"]


def moments_of(steps: int, seed: int) -> list[int]:
    """Some steps early on, and those of the last part, where the series is written."""
    return sorted({*random.Random(seed).sample(range(1, steps), 3), *range(steps - 12, steps + 1, 2)})


def stop_and_resolve(carries: Carries) -> None:
    carries.patch(*to("5.4.0"), status=1)
    resolve(carries.tree("5.4.0"), l6=b"second", l20=b"other_twentieth")


@pytest.mark.slow
def test_killed_while_going_on(carries: Carries) -> None:
    before, words = contents(carries.mend), to("5.4.0", "--continue")
    stop_and_resolve(carries)
    steps = carries.killed_at(0, *words)
    assert steps is not None
    wanted = contents(carries.mend)
    for moment in moments_of(steps, 4):
        restore(carries.mend, before)
        if not carries.tree("5.4.0").exists():
            stop_and_resolve(carries)
        carries.killed_at(moment, *words)
        # Whoever reads it ends what was decided: the series is as it was, or has the whole variant.
        carries.patch("status", "mend", "--releases", "5.0.0")
        now = visible(carries.mend)
        assert now in (before, wanted)
        if now == before and moment % 2:
            carries.patch(*words)
            assert visible(carries.mend) == wanted
        elif carries.tree("5.4.0").exists():
            carries.patch(*to("5.4.0", "--abort"))
            assert visible(carries.mend) == now


def visible(folder: Path) -> dict[str, bytes]:
    """The files without what a killed run was building."""
    return {name: content for name, content in contents(folder).items() if not name.startswith(".new-")}


@pytest.mark.slow
def test_killed_while_stopping(carries: Carries) -> None:
    before = contents(carries.mend)
    steps = carries.killed_at(0, *to("5.4.0"))
    assert steps is not None
    carries.patch(*to("5.4.0", "--abort"))
    for moment in moments_of(steps, 5):
        carries.killed_at(moment, *to("5.4.0"))
        assert contents(carries.mend) == before
        if carries.tree("5.4.0").exists():
            carries.patch(*to("5.4.0", "--abort"))
        carries.patch(*to("5.4.0"), status=1)
        carries.patch(*to("5.4.0", "--abort"))


def test_what_nobody_needs_is_not_carried(carries: Carries) -> None:
    carries.a_case(2, "good", "5.4.0")
    done = carries.patch(*to("5.4.0", "--json"))
    assert [one["state"] for one in done.json["states"]] == ["clean", "fixed-upstream", "clean"]
    assert done.json["variant"] is None


def test_names_that_are_none_or_taken(carries: Carries) -> None:
    for words, told in (
        (("--as", "5.4.0"), "'5.4.0'"), (("--as", "../out"), "'../out'"), (("--as", "two words"), "'two words'"),
    ):  # fmt: skip
        assert told in carries.patch(*to("5.4.0", *words), "--json", status=2).json["error"]["message"]
    (carries.mend / "rebase-5-4-0").mkdir()
    assert "rebase-5-4-0" in carries.patch(*to("5.4.0"), status=2).err
