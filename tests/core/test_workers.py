# SPDX-License-Identifier: Apache-2.0
"""Whether a worker's verdicts would be ours: every part that differs is named, its patches where a series is asked."""

from __future__ import annotations

from headwater.core.workers import SERIES, Identity

OURS = Identity("here", {"Python": "3.11", "pins": "a", SERIES: "p"})


def test_a_worker_like_us_differs_in_nothing() -> None:
    assert Identity("gpu-1", OURS.parts).differences(OURS, with_series=True) == []


def test_what_differs_is_named() -> None:
    other = Identity("gpu-1", {"pins": "b", SERIES: "q"})
    assert other.differences(OURS, with_series=False) == [
        "its Python is unknown, and here 3.11",
        "its pins differ",
    ]
    assert other.differences(OURS, with_series=True)[2:] == ["its patches differ"]
