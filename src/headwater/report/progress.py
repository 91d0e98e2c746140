# SPDX-License-Identifier: Apache-2.0
"""Showing events on standard error while the engine works: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from headwater.core.events import Advanced, Event, Finished, Note, Started
from headwater.core.redaction import redact

_MEGABYTE = 1e6
_QUIET = 2.0  # seconds after which work is worth a line where there is no terminal
_AGAIN = 10.0  # seconds after which it is worth another, of how far it is
_UNITS = ("bytes", "releases", "cells", "change-overs")  # units whose number is shown


class ProgressReport:
    """A context manager whose `emit` takes events."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: dict[str, TaskID] = {}
        # Two threads may do the same at the same time, e.g. read what one release requires.
        self._begun: dict[str, list[tuple[Started, float]]] = {}
        self._told: dict[str, float] = {}
        self._progress = Progress(
            SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24),
            TextColumn("{task.fields[amount]}", markup=False), TimeElapsedColumn(),
            console=console, transient=True,
        )  # fmt: skip

    def __enter__(self) -> ProgressReport:
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.rest()

    def rest(self) -> None:
        """Take the bars off the terminal: what is printed there next, by whomever, begins on a line of its own."""
        if self._console.is_terminal:
            self._progress.stop()

    def emit(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Started():
                self._start(event)
            case Advanced():
                self._advance(event)
            case Finished():
                self._finish(event)
            case Note():
                style = "yellow" if event.warning else "dim"
                self._print(f"{'warning: ' if event.warning else ''}{event.text}", style)

    def _print(self, text: str, style: str) -> None:
        self._console.print(redact(text), style=style, markup=False, highlight=False, soft_wrap=True)

    def _start(self, event: Started) -> None:
        self._begun.setdefault(event.key, []).append((event, time.monotonic()))
        if not self._console.is_terminal:
            if event.long:
                self._print(f"{event.what} ...", "dim")
            return
        if event.key in self._bars:
            return
        counted = event.total if event.unit in _UNITS else None
        self._bars[event.key] = self._progress.add_task(event.what, total=counted, amount="")

    def _advance(self, event: Advanced) -> None:
        start, begun = self._begun[event.key][0]
        words = " · ".join(filter(None, [_amount(event.done, start), event.note]))
        bar = self._bars.get(event.key)
        if bar is not None:
            self._progress.update(bar, completed=event.done, amount=words)
        elif event.note and time.monotonic() - self._told.get(event.key, begun) >= _AGAIN:
            self._told[event.key] = time.monotonic()
            self._print(words, "dim")

    def _finish(self, event: Finished) -> None:
        start, begun = self._begun[event.key].pop(0)
        if not self._begun[event.key] and (bar := self._bars.pop(event.key, None)) is not None:
            self._progress.remove_task(bar)
        took = time.monotonic() - begun
        if took >= _QUIET or event.note:
            end = f": {event.note}" if event.note else ""
            self._print(f"{start.what}{end} ({took:.1f} s)", "dim")


def _amount(done: int, start: Started) -> str:
    if start.unit == "bytes":
        total = f" of {start.total / _MEGABYTE:.1f}" if start.total else ""
        return f"{done / _MEGABYTE:.1f}{total} MB"
    return f"{done} of {start.total} {start.unit}" if start.unit in _UNITS else ""
