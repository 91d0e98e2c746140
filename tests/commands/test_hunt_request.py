# SPDX-License-Identifier: Apache-2.0
"""What a hunt refuses before it looks at anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headwater.commands.hunt.request import HuntRequest
from headwater.commands.way import Way
from headwater.core.errors import BadInput
from headwater.effects.probe import ProbeOptions

REQUEST = HuntRequest(
    "plain", "5.0.0", "5.7.0", "introduced", "auto", None, "cpu", None, None, Way("local", None, 1), None, "latest",
    None, False, (), None, None, None, ProbeOptions(), "headwater bisect plain",
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"log": Path("no/such/log")}, "--log no/such/log: the folder no/such is not there"),
        ({"git_log": Path("no/such/log")}, "--git-log no/such/log: the folder no/such is not there"),
        ({"grid": 3}, "--grid and --exhaustive belong to --find all"),
        ({"exhaustive": True}, "--grid and --exhaustive belong to --find all"),
        ({"reduce": True, "find": "all"}, "--reduce belongs to a hunt for one change, without --find all and"),
        ({"reduce": True, "confidence": 0.9}, "--reduce belongs to a hunt for one change"),
        ({"history": "commits"}, "--history commits needs a repository"),
        ({"find": "all", "deps": "both"}, "--deps both belongs to a hunt for one change, not to --find all"),
        ({"find": "all", "confidence": 0.9}, "--confidence belongs to a hunt for one change, not to --find all"),
        ({"confidence": 0.9, "options": ProbeOptions(repeat=2)}, "--repeat and --confidence exclude one another"),
    ],
)
def test_options_that_exclude_one_another_are_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        replace(REQUEST, **changes).check()
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"reduce": True}, {"confidence": 0.9}, {"deps": "both"}, {"options": ProbeOptions(repeat=2)},
        {"find": "all", "grid": 3}, {"history": "commits", "repo": "."}, {"log": Path("log")},
    ],
)  # fmt: skip
def test_what_goes_together_is_not_refused(changes: dict[str, Any]) -> None:
    replace(REQUEST, **changes).check()
