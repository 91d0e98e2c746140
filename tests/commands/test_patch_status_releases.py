# SPDX-License-Identifier: Apache-2.0
"""`headwater patch status` and `explain` of the series that is carried here, on real releases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headwater.commands.context import Context
from headwater.commands.patch.explain import explain
from headwater.commands.patch.status import status
from headwater.core.events import silent
from headwater.core.patch_results import status_exit
from headwater.core.states import PatchState

pytestmark = pytest.mark.releases
SERIES = "hybrid-static-cache"
STATES = {
    "5.4.0": PatchState.ABSENT,
    "5.10.1": PatchState.CLEAN,
    "5.12.1": PatchState.OFFSET,
    "5.13.0": PatchState.FIXED_UPSTREAM,
}


@pytest.fixture
def context(root: Path, test_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """The repository as a workspace, on the tests' caches."""
    monkeypatch.setenv("HEADWATER_CACHE", str(test_cache))
    with ExitStack() as exits:
        yield Context(root, silent, False, exits)


def test_the_states_on_real_releases(context: Context) -> None:
    [found] = status(context, [SERIES], ",".join(STATES))
    assert {one.release: {cell.state for cell in one.cells} for one in found.releases} == {
        release: {state} for release, state in STATES.items()
    }
    assert {len(one.cells) for one in found.releases} == {len(found.patches)} == {4}
    assert found.droppable == ("5.13.0",)
    assert status_exit([found]) == 0


def test_the_oldest_affected_release(context: Context) -> None:
    """Three of the patches are carried there; what becomes of the first is up to whoever serves that release."""
    [found] = status(context, [SERIES], "5.5.0")
    assert all(cell.state.applies for cell in found.releases[0].cells[1:])


def test_explained_on_a_release_that_it_moves_on(context: Context) -> None:
    explained = explain(context, SERIES, "5.12.1")
    assert [one.state for one in explained] == [PatchState.OFFSET] * 4
    assert {one.base for one in explained} == {"5.10.1"}
    assert all(one.file.startswith(f"patches/{SERIES}/000") and len(one.sha256) == 64 for one in explained)
