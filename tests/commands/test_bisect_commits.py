# SPDX-License-Identifier: Apache-2.0
"""From releases to commits, of a clone and of a remote served as a partial clone; the clone is never touched."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from bench import wait_for
from hunting_ground import Ground, git, interrupt
from made_log import made_log


def state(folder: Path) -> dict[str, str]:
    """Every file of a clone, its git folder included, with content and time of change."""
    return {
        str(path.relative_to(folder)): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def dirty(ground: Ground) -> dict[str, str]:
    """The clone as a person has it who is at work: on a branch of their own, with edits. Its state."""
    git(ground.repo, "checkout", "--quiet", "-b", "mine", "main~7")
    (ground.repo / "src" / "transformers" / "plain.py").write_text("at work = here\n", encoding="utf-8")
    (ground.repo / "notes.txt").write_text("mine\n", encoding="utf-8")
    return state(ground.repo)


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize(
    ("case", "find", "word"), [("plain", "introduced", "first_bad"), ("mended", "fixed", "first_good")]
)
def test_from_releases_to_the_commit_in_one_call(ground: Ground, case: str, find: str, word: str, remote: bool) -> None:
    repo = f"file://{ground.repo}" if remote else str(ground.repo)
    ends = ("5.0.0", "5.7.0") if find == "introduced" else ("5.7.0", "5.0.0")
    done = ground.between(case, *ends, "--find", find, "--repo", repo)
    assert done.status == 0, done.err
    first, second = done.json["changes"]
    assert (first["level"], first[word]) == ("releases", "5.4.0")
    assert (second["level"], ground.number(second[word])) == ("commits", 14)
    assert second["commit"]["id"] == second[word] == ground.commits[14]
    assert (second["commit"]["pull_request"], second["commit"]["subject"]) == (114, "Change 14 (#114)")
    assert second["commit"]["date"].startswith("2026-03-15")
    # Both nearest commits were proved first.
    seen = {probe["revision"]: probe["repetitions"] for probe in done.json["probes"]}
    assert seen[ground.commits[12]] == seen[ground.commits[16]] == 2


def test_from_a_range_of_releases_to_the_commit(ground: Ground) -> None:
    """The wheel of 5.2.0 fails otherwise; the commits between its neighbours do not."""
    done = ground.between("wheel-clouded", "5.0.0", "5.7.0", "--repo", ground.repo)
    assert (done.status, done.json["result"]) == (0, "found"), done.err
    first, second = done.json["changes"]
    assert (first["last_good"], first["candidates"]) == ("5.1.0", ["5.2.0", "5.3.0"])
    assert (second["level"], [ground.number(one) for one in second["candidates"]]) == ("commits", [10])
    alone = ground.between("wheel-clouded", "5.0.0", "5.7.0", "--repo", ground.repo, "--history", "releases")
    assert (alone.status, len(alone.json["changes"])) == (4, 1)


def test_commits_may_leave_a_range_too(ground: Ground) -> None:
    done = ground.between("clouded", "5.0.0", "5.7.0", "--repo", ground.repo)
    assert (done.status, done.json["result"]) == (4, "range")
    assert [change["level"] for change in done.json["changes"]] == ["releases", "commits"]
    assert [ground.number(one) for one in done.change["candidates"]] == [11, 12, 13, 14]


def test_a_remote_is_read_as_a_partial_clone(ground: Ground) -> None:
    done = ground.between("plain", "5.0.0", "5.7.0", "--repo", f"file://{ground.repo}")
    assert done.status == 0, done.err
    [clone] = (ground.cache / "remotes").iterdir()
    listed = git(clone, "rev-list", "--objects", "--all", "--missing=print", "--filter-print-omitted").splitlines()
    assert any(line.startswith("?") for line in listed), "every file was fetched"


def test_it_ends_at_the_release_without_a_repository(ground: Ground) -> None:
    done = ground.between("plain", "5.0.0", "5.7.0")
    assert (done.status, len(done.json["changes"])) == (0, 1)
    assert "it ends at the release; --repo" in done.notes


def test_and_where_asked_for(ground: Ground) -> None:
    done = ground.between("plain", "5.0.0", "5.7.0", "--repo", ground.repo, "--history", "releases")
    assert (done.status, len(done.json["changes"])) == (0, 1)


def test_nearest_commits_that_do_not_differ(ground: Ground) -> None:
    """What changed is in the wheel alone."""
    done = ground.between("wheel-only", "5.0.0", "5.7.0", "--repo", ground.repo)
    assert (done.status, len(done.json["changes"])) == (0, 1)
    assert "it ends at the release: the commits nearest to 5.3.0 and 5.4.0 are good and good" in done.notes


def test_a_repository_without_that_time(ground: Ground) -> None:
    short = ground.here / "short"
    git(ground.here, "clone", "--quiet", "--branch", "v5.2.0", "--single-branch", str(ground.repo), str(short))
    git(short, "branch", "--force", "main", "HEAD")
    git(short, "update-ref", "-d", "refs/remotes/origin/main")
    done = ground.between("plain", "5.0.0", "5.7.0", "--repo", short)
    assert (done.status, len(done.json["changes"])) == (0, 1), done.err
    assert "it ends at the release" in done.notes


def test_the_words_for_people(ground: Ground) -> None:
    done = ground.run("bisect", "plain", "--good", "5.0.0", "--bad", "5.7.0", "--repo", ground.repo)
    sentence = f"plain was introduced in commit {ground.commits[14]} (2026-03-15, Change 14 (#114), pull request #114)"
    assert sentence in done.out
    assert f"{ground.commits[13][:12]}...{ground.commits[14][:12]}" in done.out
    progress = [line for line in done.err.splitlines() if ground.commits[14][:12] in line]
    assert progress, done.err
    assert all(" of about " in line and "2026-03-15" in line and "bad" in line for line in progress)


@pytest.mark.parametrize("case", ["plain", "never", "clouded"])
def test_the_clone_stays_as_it_is(ground: Ground, dirty: dict[str, str], case: str) -> None:
    done = ground.between(case, "v5.0.0", "v5.7.0", "--repo", ground.repo, "--jobs", "2")
    assert done.status == {"plain": 0, "never": 3, "clouded": 4}[case]
    assert state(ground.repo) == dirty


def test_so_it_does_when_interrupted(ground: Ground, dirty: dict[str, str]) -> None:
    begun = ground.here / "begun"
    ground.write("slow.py", f"import time, pathlib\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(60)\n")
    process = ground.start("bisect", "slow.py", "--good", "v5.0.0", "--bad", "v5.7.0", "--repo", ground.repo)
    wait_for(begun.exists)
    assert interrupt(process).status == 130
    assert state(ground.repo) == dirty


def replayed_by_git(ground: Ground, log: Path, status: int) -> str:
    """What git makes of a log, as `git bisect log` tells it."""
    clone = ground.here / "clone"
    git(ground.here, "clone", "--quiet", str(ground.repo), str(clone))
    argv = ["git", "bisect", "replay", str(log)]
    replayed = subprocess.run(argv, cwd=clone, capture_output=True, text=True, check=False)
    assert replayed.returncode == status, replayed.stderr
    return git(clone, "bisect", "log")


@pytest.mark.parametrize(("case", "find"), [("plain", "introduced"), ("mended", "fixed"), ("fogged", "introduced")])
def test_git_takes_the_log(ground: Ground, case: str, find: str) -> None:
    log = ground.here / "git.log"
    ends = ("v5.0.0", "v5.7.0") if find == "introduced" else ("v5.7.0", "v5.0.0")
    done = ground.between(case, *ends, "--find", find, "--repo", ground.repo, "--git-log", log)
    # Status 2: only commits that were skipped are left.
    said = replayed_by_git(ground, log, 2 if case == "fogged" else 0)
    if case == "fogged":
        candidates = {line.split("[")[1].split("]")[0] for line in said.splitlines() if "possible first" in line}
        assert done.status == 4
        assert set(done.change["candidates"]) == candidates
    else:
        term = "bad" if find == "introduced" else "fixed"
        assert f"# first {term} commit: [{ground.commits[14]}]" in said


@pytest.mark.parametrize("find", ["introduced", "fixed"])
def test_git_takes_the_log_of_a_bug_that_shows_sometimes(ground: Ground, find: str) -> None:
    """The commit at which it is first, or last, was seen good as well as bad."""
    new = find == "introduced"
    said = {commit: "good bad" if (n >= 14) is new else "good" for n, commit in enumerate(ground.commits)}
    log = ground.here / "git.log"
    ends = (ground.commits[0], ground.commits[-1]) if new else (ground.commits[-1], ground.commits[0])
    words = ("--find", find, "--repo", ground.repo, "--confidence", "0.95", "--replay", made_log(ground, "never", said))
    done = ground.between("never", *ends, *words, "--git-log", log)
    assert (done.status, [ground.number(one) for one in done.change["candidates"]]) == (0, [14]), done.err
    assert done.verdicts()[ground.commits[14 if new else 13]] == "flaky"
    assert f"# first {'bad' if new else 'fixed'} commit: [{ground.commits[14]}]" in replayed_by_git(ground, log, 0)
