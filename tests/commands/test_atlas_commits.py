# SPDX-License-Identifier: Apache-2.0
"""`headwater atlas commits`: every change-over of a known history gets its commit, or a reason why it has none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from bench import wait_for
from hunting_ground import RELEASES, Ground, git, interrupt
from index_server import IndexServer


def entry(case: str, verdict: str, first: str, last: str) -> str:
    return f'\n[[entry]]\ncase = "{case}"\nverdict = "{verdict}"\nfirst = "{first}"\nlast = "{last}"\n'


def change(case: str, find: str, release: str, commit: str, pull: int) -> str:
    text = f'\n[[change]]\ncase = "{case}"\nfind = "{find}"\nrelease = "{release}"\n'
    return f'{text}commit = "{commit}"\npull = {pull}\n'


HEAD = "# Mine.\nschema = 1\nreleases = [\n  " + ", ".join(f'"{release}"' for release in RELEASES) + ",\n]\n"
PLAIN = entry("plain", "good", "5.0.0", "5.3.0") + entry("plain", "bad", "5.4.0", "5.7.0")
MENDED = entry("mended", "bad", "5.0.0", "5.3.0") + entry("mended", "good", "5.4.0", "5.7.0")


def atlas_of(ground: Ground) -> Path:
    return ground.root / "tests" / "repro" / "atlas.toml"


def rows(done: Any) -> dict[str, tuple[str, str | None]]:
    """State and commit of every change-over, by case and release."""
    return {
        f"{one['case']} {one['find']} {one['release']}": (one["state"], one["change"] and one["change"]["commit"])
        for one in done.json["change_overs"]
    }


def test_each_gets_its_commit_and_is_not_hunted_again(ground: Ground) -> None:
    atlas_of(ground).write_text(HEAD + PLAIN + MENDED, encoding="utf-8")
    shown = ground.run("atlas", "commits", "--repo", ground.repo, "--json")
    assert shown.status == 0, shown.err
    culprit = ground.commits[14]
    wanted = {"plain introduced 5.4.0": ("found", culprit), "mended fixed 5.4.0": ("found", culprit)}
    assert (rows(shown), shown.json["written"]) == (wanted, False)
    assert shown.json["change_overs"][0]["between"] == ["5.3.0", "5.4.0"]
    assert shown.json["change_overs"][0]["hunted"]["confirmed"] is True
    assert atlas_of(ground).read_text(encoding="utf-8") == HEAD + PLAIN + MENDED
    # What is known of the probes is not run again.
    done = ground.run("atlas", "commits", "--repo", ground.repo, "--write", "--json")
    assert (done.status, done.json["written"], done.json["probes_run"]) == (0, True, 0)
    commits = change("plain", "introduced", "5.4.0", culprit, 114) + change("mended", "fixed", "5.4.0", culprit, 114)
    assert atlas_of(ground).read_text(encoding="utf-8") == HEAD + PLAIN + MENDED + commits
    again = ground.run("atlas", "commits", "--repo", ground.repo, "--write")
    assert "2 of 2 change-overs have their commit, 0 of them seen now; they are 1 distinct commits." in again.out
    assert f"{culprit[:12]} (#114)  recorded" in again.out


@pytest.mark.slow
def test_recorded_commits_are_proved_again(ground: Ground) -> None:
    """On the commit and its parent: one that is beside the culprit does not hold."""
    right = change("plain", "introduced", "5.4.0", ground.commits[14], 114)
    wrong = change("mended", "fixed", "5.4.0", ground.commits[15], 115)
    atlas_of(ground).write_text(HEAD + PLAIN + MENDED + right + wrong, encoding="utf-8")
    done = ground.run("atlas", "commits", "--check", "--repo", ground.repo, "--write", "--json")
    assert (done.status, done.json["written"]) == (1, False), done.err
    assert rows(done) == {
        "plain introduced 5.4.0": ("found", ground.commits[14]),
        "mended fixed 5.4.0": ("broken", ground.commits[15]),
    }
    broken = done.json["change_overs"][1]
    assert broken["why"] == f"{ground.commits[14][:12]} is good, {ground.commits[15][:12]} is good"
    assert broken["reproduce"].startswith("headwater bisect mended --find fixed --good ")
    alone = ground.run("atlas", "commits", "plain", "--check", "--fresh", "--repo", ground.repo, "--json")
    assert (alone.status, alone.json["probes_run"]) == (0, 4)


@pytest.mark.slow
def test_what_stays_without_one_is_told_with_the_reason(ground: Ground) -> None:
    fogged = entry("fogged", "good", "5.0.0", "5.2.2") + entry("fogged", "bad", "5.5.0", "5.7.0")
    wheel = entry("wheel-only", "good", "5.0.0", "5.3.0") + entry("wheel-only", "bad", "5.4.0", "5.7.0")
    maintained = (entry("maintained", "good", "5.0.0", "5.2.1") + entry("maintained", "bad", "5.2.2", "5.2.2")
                  + entry("maintained", "good", "5.3.0", "5.3.0"))  # fmt: skip
    atlas_of(ground).write_text(HEAD + fogged + wheel + maintained, encoding="utf-8")
    done = ground.run("atlas", "commits", "--repo", ground.repo, "--write", "--json")
    assert (done.status, done.json["written"]) == (1, False), done.err
    assert set(rows(done).values()) == {("open", None)}
    why = {f"{one['case']} {one['release']}": one["why"] for one in done.json["change_overs"]}
    first, last = ground.commits[10][:12], ground.commits[19][:12]
    alone = "on one side of it there are maintenance releases alone"
    assert why == {
        "fogged 5.5.0": f"one of 10 commits from {first} to {last}; those between were not judged",
        "wheel-only 5.4.0": "it ends at the release: the commits nearest to 5.3.0 and 5.4.0 are good and good",
        "maintained 5.2.2": alone,
        "maintained 5.3.0": alone,
    }
    said = ground.run("atlas", "commits", "fogged", "--repo", ground.repo).out
    assert f"open: fogged introduced in 5.5.0: {why['fogged 5.5.0']}" in said
    assert f"    headwater bisect fogged --find introduced --good 5.2.0 --bad 5.5.0 --repo {ground.repo}" in said


@pytest.mark.slow
def test_a_change_over_of_a_maintenance_release_is_hunted_on_the_main_line(ground: Ground) -> None:
    """5.2.2 took over what came to the main line before 5.4.0."""
    text = entry("maintained", "good", "5.0.0", "5.2.1") + entry("maintained", "bad", "5.2.2", "5.7.0")
    listed = HEAD.replace(', "5.3.0"', "")
    atlas_of(ground).write_text(listed + text, encoding="utf-8")
    done = ground.run("atlas", "commits", "--repo", ground.repo, "--json")
    assert (done.status, rows(done)) == (0, {"maintained introduced 5.2.2": ("found", ground.commits[14])}), done.err


@pytest.mark.slow
def test_what_an_interrupted_run_found_is_written(ground: Ground) -> None:
    slow, begun = ground.root / "tests" / "repro" / "mended.py", ground.here / "begun"
    text = slow.read_text(encoding="utf-8")
    wait = f"def run(device):\n    import pathlib, time\n    pathlib.Path({str(begun)!r}).touch()\n    time.sleep(60)\n"
    slow.write_text(text.replace("def run(device):\n", wait), encoding="utf-8")
    atlas_of(ground).write_text(HEAD + PLAIN + MENDED, encoding="utf-8")
    process = ground.start("atlas", "commits", "--repo", ground.repo, "--write", "--json")
    wait_for(begun.exists)
    stopped = interrupt(process)
    assert (stopped.status, stopped.json["interrupted"], stopped.json["written"]) == (130, True, True), stopped.err
    found = change("plain", "introduced", "5.4.0", ground.commits[14], 114)
    assert atlas_of(ground).read_text(encoding="utf-8") == HEAD + PLAIN + MENDED + found
    slow.write_text(text, encoding="utf-8")
    again = ground.run("atlas", "commits", "--repo", ground.repo, "--write", "--json")
    assert [one["state"] for one in again.json["change_overs"]] == ["recorded", "found"]


@pytest.mark.slow
def test_a_history_that_ends_before_a_release(ground: Ground) -> None:
    short = ground.here / "short"
    git(ground.here, "clone", "--quiet", "--bare", str(ground.repo), str(short))
    git(short, "update-ref", "refs/heads/main", ground.commits[20])
    atlas_of(ground).write_text(
        HEAD + entry("again", "good", "5.5.0", "5.5.0") + entry("again", "bad", "5.6.0", "5.7.0"), encoding="utf-8"
    )
    done = ground.run("atlas", "commits", "--repo", short, "--json")
    assert done.status == 1, done.err
    [one] = done.json["change_overs"]
    assert (one["state"], one["why"]) == (
        "open",
        f"it ends at the release: the main line of {short} ends at 2026-03-21, before 5.5.0 was published "
        "(2026-03-21): fetch there, or name a newer clone by --repo",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [(["nope", "--repo", "."], "there is no case 'nope'"), (["--repo", "."], "no git repository"), ([], "--repo")],
)
def test_bad_input(ground: Ground, words: list[str], said: str) -> None:
    atlas_of(ground).write_text(HEAD + PLAIN, encoding="utf-8")
    done = ground.run("atlas", "commits", *words)
    assert done.status == 2
    assert said in done.err


@pytest.mark.slow
def test_what_no_lock_serves_is_proved_with_the_packages_of_its_day(ground: Ground, index_server: IndexServer) -> None:
    """Commits that want hub 1.0 or newer, where the locks have an older one."""
    ground.serve(index_server)
    right = change("plain", "introduced", "5.4.0", ground.commits[14], 114)
    wrong = change("mended", "fixed", "5.4.0", ground.commits[15], 115)
    atlas_of(ground).write_text(HEAD + PLAIN + MENDED + right + wrong, encoding="utf-8")
    for lock in (ground.root / "upstream" / "locks").glob("*.txt"):
        text = lock.read_text(encoding="utf-8")
        lock.write_text(re.sub(r"hub==\S+", "hub==0.9", text), encoding="utf-8")
    done = ground.run("atlas", "commits", "--check", "--repo", ground.repo, "--json")
    assert done.status == 1, done.err
    assert rows(done) == {
        "plain introduced 5.4.0": ("found", ground.commits[14]),
        "mended fixed 5.4.0": ("broken", ground.commits[15]),
    }
    broken = done.json["change_overs"][1]
    assert broken["why"] == f"{ground.commits[14][:12]} is good, {ground.commits[15][:12]} is good"
    assert "--deps period" in broken["reproduce"]
