# SPDX-License-Identifier: Apache-2.0
"""`headwater matrix` on real releases, and the library's own tests on the real history."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.releases
Run = Callable[..., Any]
FIXED = "e7835fba01322488d685a3b2e75273361f3100f5"
CACHE_TESTS = "tests/utils/test_cache_utils.py"
SERIES = "hybrid-static-cache"


def counts(probe: Any) -> dict[str, int]:
    results = [test["result"] for test in probe["tests"]]
    return {word: results.count(word) for word in ("passed", "failed", "skipped", "needs-hub")}


def test_before_and_after_the_series_over_its_ends(headwater: Run) -> None:
    words = ("matrix", "--releases", "5.4.0,5.12.1,5.13.0", "--devices", "meta", "--cases", "early-init,batch-size")
    done = headwater(*words, "--series", SERIES, "--json")
    assert done.status == 0, done.err
    seen = {(one["case"], one["revision"], one["series"]): one["verdict"] for one in done.json["probes"]}
    assert seen == {
        ("early-init", "5.4.0", None): "absent", ("batch-size", "5.4.0", None): "good",
        ("early-init", "5.12.1", None): "bad", ("batch-size", "5.12.1", None): "good",
        ("early-init", "5.12.1", SERIES): "good", ("batch-size", "5.12.1", SERIES): "good",
        ("early-init", "5.13.0", None): "good", ("batch-size", "5.13.0", None): "bad",
    }  # fmt: skip
    states = {one["revision"]: {skipped["state"] for skipped in one["skipped"]} for one in done.json["revisions"]}
    assert states == {"5.4.0": {"absent"}, "5.12.1": set(), "5.13.0": {"fixed-upstream"}}


@pytest.mark.slow
def test_a_device_that_was_asked_for_and_is_not_there(headwater: Run) -> None:
    words = ("--releases", "5.13.0", "--devices", "meta,xpu", "--cases", "early-init", "--json")
    done = headwater("matrix", *words)
    assert done.status == 1
    assert [one["verdict"] for one in done.json["probes"]] == ["good", "unavailable"]


@pytest.mark.slow
@pytest.mark.skipif(
    "HEADWATER_TEST_REPO" not in os.environ, reason="HEADWATER_TEST_REPO names no clone of the upstream repository"
)
def test_the_librarys_own_tests(headwater: Run) -> None:
    words = ("--cases", "none", "--tests", "upstream", "--repo", os.environ["HEADWATER_TEST_REPO"], "--series", SERIES)
    done = headwater("matrix", "--releases", "5.12.1", "--commits", FIXED, *words, "--json")
    assert done.status == 0, done.err
    by_place = {(one["case"], one["revision"], one["series"]): one for one in done.json["probes"]}
    wanted = {"passed": 11, "failed": 0, "skipped": 19, "needs-hub": 26}
    assert counts(by_place[CACHE_TESTS, FIXED, None]) == wanted
    assert counts(by_place[CACHE_TESTS, "5.12.1", None]) == {**wanted, "passed": 9, "skipped": 17}
    assert {line["title"] for line in done.json["comparisons"]} == {
        CACHE_TESTS,
        CACHE_TESTS.replace("cache", "masking"),
    }
    assert [line["changes"]["new_failures"] + line["changes"]["lost"] for line in done.json["comparisons"]] == [[]] * 4
