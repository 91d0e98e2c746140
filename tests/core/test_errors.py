# SPDX-License-Identifier: Apache-2.0
"""Every expected error has the exit status that the design promises; the silent sink takes every event."""

from __future__ import annotations

import pytest

from headwater.core import errors, events


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.PatchFailed, 1),
        (errors.BadInput, 2),
        (errors.HarnessError, 5),
        (errors.NotCached, 5),
        (errors.DamagedDownload, 5),
        (errors.EnvironmentUnavailable, 5),
    ],
)
def test_exit_status(error: type[errors.HeadwaterError], status: int) -> None:
    assert error.exit_status == status
    assert error.kind != errors.HeadwaterError.kind


def test_a_missing_cache_entry_and_a_damaged_file_are_never_a_verdict_on_the_library() -> None:
    assert issubclass(errors.NotCached, errors.HarnessError)
    assert issubclass(errors.DamagedDownload, errors.HarnessError)


def test_silent_takes_every_event() -> None:
    for event in (events.Started("k", "w"), events.Advanced("k", 1), events.Finished("k"), events.Note("t")):
        events.silent(event)
