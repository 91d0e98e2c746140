# SPDX-License-Identifier: Apache-2.0
"""`headwater bisect` and `scripts/bisect.py`, in their plainest form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.releases
Run = Callable[..., Any]


def test_the_release_that_introduced_it(headwater: Run) -> None:
    done = headwater("bisect", "early-init", "--good", "5.4.0", "--bad", "5.10.1", "--json")
    assert done.status == 0, done.err
    assert done.json["result"] == "found"
    [change] = done.json["changes"]
    assert change == {"find": "introduced", "last_good": "5.4.0", "first_bad": "5.5.0", "candidates": ["5.5.0"]}
    # Two ends, and three halvings of the six releases between them.
    assert len(done.json["probes"]) <= 5


def test_a_person_sees_that_the_feature_arrived_there(headwater: Run) -> None:
    done = headwater("bisect", "early-init", "--good", "5.4.0", "--bad", "5.10.1")
    assert "early-init was introduced in 5.5.0: the feature arrived there, 5.4.0 is absent." in done.out


def test_ends_that_do_not_differ(headwater: Run) -> None:
    done = headwater("bisect", "batch-size", "--good", "5.4.0", "--bad", "5.10.1", "--json")
    assert done.status == 3
    assert "5.4.0 is good and 5.10.1 is good" in done.json["error"]["message"]
