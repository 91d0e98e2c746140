# SPDX-License-Identifier: Apache-2.0
"""A second library, end to end: the workspace `tests/libraries/click`, whose pins and cases alone know its name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headwater.commands.init import init
from tests.conftest import Done, Run

CASE = "invoke-default"
pytestmark = [pytest.mark.slow, pytest.mark.releases, pytest.mark.xdist_group("click")]


@pytest.fixture
def library(root: Path, tmp_path: Path, headwater: Run) -> Run:
    """Run `headwater` in a workspace as `headwater init` lays it out, with those pins and cases."""
    folder = tmp_path / "click"
    init(folder, "click", "8.2.0", None)
    (folder / "tests" / "repro" / "example.py").unlink()
    shutil.copytree(root / "tests" / "libraries" / "click", folder, dirs_exist_ok=True)

    def run(*words: str) -> Done:
        done = headwater(*words, "--json", cwd=folder)
        assert "Traceback" not in done.err, done.err
        return done

    return run


def test_the_bug_is_there_and_in_no_other_release(library: Run) -> None:
    done = library("repro", "8.3.0")
    assert (done.status, done.verdicts()) == (0, {CASE: "bad"})
    surroundings = done.json["surroundings"]
    assert (surroundings["package"], surroundings["torch"]) == ("click", None)
    assert library("repro", "8.3.1").verdicts() == {CASE: "good"}
    [row] = library("repro", "8.3.0", "--device", "meta").json["probes"]
    assert (row["verdict"], row["evidence"]["message"]) == (
        "unavailable", "click is probed without torch, and so on cpu alone",
    )  # fmt: skip


def test_a_hunt_finds_where_it_came_and_went(library: Run) -> None:
    done = library("bisect", CASE, "--find", "all", "--exhaustive")
    assert done.status == 0, done.err
    changes = {(one["find"], one.get("last_good") or one["last_bad"]) for one in done.json["changes"]}
    # Of two lines of releases: the fix is in 8.3.1, and in 8.4.0 for whoever goes along x.y.0.
    assert changes == {("introduced", "8.2.0"), ("fixed", "8.3.0")}
    assert {probe["revision"] for probe in done.json["probes"] if probe["verdict"] == "bad"} == {"8.3.0"}


def test_the_fix_is_reduced_to_the_lines_that_matter(library: Run) -> None:
    done = library("reduce", CASE, "--from", "8.3.0", "--to", "8.3.1")
    assert done.status == 0, done.err
    assert [hunk["file"] for hunk in done.json["hunks"]] == ["click/core.py"] * 2


def test_it_is_carried_back_and_tested_as_a_series(library: Run) -> None:
    done = library("backport", CASE, "--onto", "8.3.0", "--as", "mend")
    assert done.status == 0, done.err
    done = library("test-patched", "mend")
    assert done.status == 0, done.err
    assert [(one["verdict"], one["series"]) for one in done.json["probes"]] == [("bad", None), ("good", "mend")]
    assert library("repro", "8.3.0", "--series", "mend").verdicts() == {CASE: "good"}
    [series] = library("patch", "status", "mend", "--releases", "8.3.0").json["series"]
    assert [one["state"] for release in series["releases"] for one in release["states"]] == ["clean"]


def test_the_pins_agree_with_the_index(library: Run) -> None:
    done = library("pins", "check")
    assert done.status in (0, 1)  # 1: a release came that is not pinned yet
    assert all(line.startswith("not pinned yet") for line in done.json["lines"] if done.status), done.out
