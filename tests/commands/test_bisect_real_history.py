# SPDX-License-Identifier: Apache-2.0
"""Hunts over the real history of upstream, where HEADWATER_TEST_REPO names a clone of it, which is only read."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.releases,
    pytest.mark.skipif(
        "HEADWATER_TEST_REPO" not in os.environ, reason="HEADWATER_TEST_REPO names no clone of the upstream repository"
    ),
]
Run = Callable[..., Any]
INTRODUCED = ("introduced", "first_bad", "2dba8e0495974930af02274d75bd182d22cc1686", 44950)
FIXED = ("fixed", "first_good", "e7835fba01322488d685a3b2e75273361f3100f5", 46446)
MIDPOINTS = 12


@pytest.mark.parametrize("history", ["commits", "auto"])
@pytest.mark.parametrize(
    ("change", "good", "bad"),
    [(INTRODUCED, "5.4.0", "5.10.1"), (FIXED, "5.13.0", "5.12.0")],
    ids=["introduced", "fixed"],
)
def test_the_commit(headwater: Run, change: tuple[str, str, str, int], good: str, bad: str, history: str) -> None:
    find, key, sha, pull = change
    repo = os.environ["HEADWATER_TEST_REPO"]
    words = ("--good", good, "--bad", bad, "--find", find, "--history", history, "--repo", repo)
    done = headwater("bisect", "early-init", *words, "--json")
    assert done.status == 0, done.err
    found = done.json["changes"]
    assert [one["level"] for one in found] == (["commits"] if history == "commits" else ["releases", "commits"])
    assert (found[-1][key], found[-1]["commit"]["pull_request"]) == (sha, pull)
    over_commits = [probe for probe in done.json["probes"] if len(probe["revision"]) == 40]
    assert len(over_commits) - 2 <= MIDPOINTS
