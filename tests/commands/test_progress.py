# SPDX-License-Identifier: Apache-2.0
"""On a terminal a result begins on a line of its own, and no bar is drawn once it stands there."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from headwater.core.events import Advanced, Finished, Started
from headwater.report.progress import ProgressReport


def test_at_rest_no_bar_is_left() -> None:
    screen = io.StringIO()
    with ProgressReport(Console(file=screen, force_terminal=True, width=80)) as progress:
        progress.emit(Started("long", "something long", 3, "releases"))
        progress.rest()
        drawn = screen.getvalue()
        # The line is erased, and the cursor is shown again at its beginning.
        assert drawn.rstrip("\n").endswith(("\x1b[2K", "\x1b[?25h\r\x1b[1A\x1b[2K")), repr(drawn[-60:])
        screen.write("the result")
        progress.rest()
    assert screen.getvalue().endswith("the result")


def test_without_a_terminal_there_is_nothing_to_take_away() -> None:
    screen = io.StringIO()
    with ProgressReport(Console(file=screen)) as progress:
        progress.emit(Started("long", "something long", None, "", long=True))
        progress.rest()
    assert screen.getvalue() == "something long ...\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_two_threads_at_the_same_work(terminal: bool) -> None:
    """As where two probes read what one release requires: the bar stays until both have ended."""
    screen = io.StringIO()
    with ProgressReport(Console(file=screen, force_terminal=terminal, width=80)) as progress:
        for event in (Started("read", "reading"), Started("read", "reading"), Finished("read", "one")):
            progress.emit(event)
        progress.emit(Advanced("read", 1))
        progress.emit(Finished("read", "the other"))
        progress.rest()
    assert "reading: one (" in screen.getvalue()
    assert "reading: the other (" in screen.getvalue()
