# SPDX-License-Identifier: Apache-2.0
"""What `test-patched` refuses before it probes anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grounds import ONE, SOURCES, Grounds

from headwater.commands import patched
from headwater.commands.patched import PatchedRequest
from headwater.core.errors import BadInput
from headwater.effects.probe import ProbeOptions

TEST = b"def test(): pass\n"
WITH_A_TEST = {**SOURCES, "src/transformers/a.py": ONE["src/transformers/a.py"], "tests/utils/test_a.py": TEST}
REQUEST = PatchedRequest("mend", None, None, (), (), None, (), False, ProbeOptions())


def refusal(grounds: Grounds, **changes: Any) -> str:
    """The words with which a request is refused."""
    with pytest.raises(BadInput) as refused:
        grounds.with_context(lambda context: patched.test_patched(context, replace(REQUEST, **changes)))
    return str(refused.value)


def test_a_patch_that_cannot_be_shown_to_work(ready: Grounds) -> None:
    assert refusal(ready, series="example") == (
        "patch 0001-Change-1.patch brings no test file below tests/; it cannot be shown to work"
    )
    ready.series("mend", "5.0.0", [{**WITH_A_TEST, "tests/other/test_a.py": TEST}])
    assert refusal(ready) == (
        "patch 0001-Change-1.patch brings two test files of one name: tests/other/test_a.py, tests/utils/test_a.py"
    )


def test_words_that_leave_nothing_or_exclude_one_another(ready: Grounds) -> None:
    ready.series("mend", "5.0.0", [WITH_A_TEST])
    for changes, said in (
        ({"drop": ("1",)}, "--drop leaves no patch of the series"),
        ({"tree": Path(), "releases": ">=5"}, "--tree and --releases exclude one another"),
        ({"series": "nope"}, "there is no series 'nope'"),
        ({"cases_dir": Path("no/such/folder")}, "no/such/folder"),
        ({}, "there are no cases in the workspace; --cases-dir names a folder with some"),
    ):
        assert said in refusal(ready, **changes)
