# SPDX-License-Identifier: Apache-2.0
"""Watching one probe run: its events, its output, and its limits, until it has ended or passed one of them."""

from __future__ import annotations

import json
import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from headwater.core.errors import Abandoned
from headwater.core.keys import Limits

_TAIL = 20_000  # bytes of output that are kept
_GRACE = 5.0  # seconds from the end of a process to the end of what it had already written
_COUNT_EVERY = 0.25  # seconds between two looks at how many processes there are

Stop = Literal["exited", "time-limit", "output-limit", "process-limit"]


@dataclass
class ChildRun:
    """What the child did for one request.

    `events` are its events in order; `stop` how it ended, `status` its exit status (negative: the signal that ended
    it); `left` that processes which it began went on after it; `output` the end of what it printed; `seconds` the wall
    time.
    """

    events: list[dict[str, Any]] = field(default_factory=list)
    stop: Stop = "exited"
    status: int = 0
    left: bool = False
    output: str = ""
    seconds: float = 0.0

    def last(self, event: str) -> dict[str, Any] | None:
        """The last event of a kind."""
        return next((e for e in reversed(self.events) if e["event"] == event), None)


class Pipes:
    """The two pipes of a run: what it says (events) and what it prints. The writing ends go to the child."""

    def __init__(self) -> None:
        self.says, self.says_writer = os.pipe()
        self.prints, self.prints_writer = os.pipe()

        self._open = {self.says, self.says_writer, self.prints, self.prints_writer}

    def close_writers(self) -> None:
        """Close the child's ends here, so that the end of the child is the end of the pipes."""
        self._close({self.says_writer, self.prints_writer})

    def close(self) -> None:
        """Close whatever is still open."""
        self._close(self._open)

    def _close(self, descriptors: set[int]) -> None:
        for descriptor in descriptors & self._open:
            os.close(descriptor)
        self._open = self._open - descriptors


class Watch:
    """Reads both pipes until the run has ended or one of its limits is passed.

    `has_ended` is asked often; `wake` is a descriptor that becomes readable when it may have changed its answer;
    `processes` counts the processes that the run has now; `abandoned`: nobody waits for the run any more.
    """

    def __init__(
        self,
        pipes: Pipes,
        limits: Limits,
        nonce: str,
        has_ended: Callable[[], bool],
        wake: int | None = None,
        processes: Callable[[], int] | None = None,
        abandoned: Callable[[], bool] = bool,
    ) -> None:
        self._pipes, self._limits, self._nonce, self._has_ended = pipes, limits, nonce, has_ended
        self._wake, self._processes, self._abandoned = wake, processes, abandoned
        self._run = ChildRun()
        self._speech, self._printed, self._tail = b"", 0, b""
        self._began = self._counted = time.monotonic()

    def to_the_end(self) -> ChildRun:
        """Watch; `status` is left for the caller, who also ends what was stopped.

        Raises:
            Abandoned: nobody waits for the run any more.
        """
        ended: float | None = None
        with selectors.DefaultSelector() as selector:
            for descriptor in (self._pipes.prints, self._pipes.says):
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            if self._wake is not None:
                selector.register(self._wake, selectors.EVENT_READ)
            while True:
                ready = [key.fd for key, _mask in selector.select(timeout=0.05)]
                for descriptor in set(ready) - {self._wake}:
                    if not self._read(descriptor):
                        selector.unregister(descriptor)
                if ended is None and self._has_ended():
                    ended = time.monotonic()
                    if self._wake is not None:
                        selector.unregister(self._wake)
                if self._abandoned():
                    raise Abandoned("the run was interrupted")
                if self._is_over(ended, quiet=not selector.select(timeout=0)):
                    return self._finish()

    def _is_over(self, ended: float | None, quiet: bool) -> bool:
        now = time.monotonic()
        if self._printed > self._limits.output:
            self._run.stop = "output-limit"
            return True
        if ended is not None:
            # A grandchild may hold the pipes open for ever: what the child itself wrote has arrived by now.
            return quiet or now > ended + _GRACE
        if now > self._began + self._limits.seconds:
            self._run.stop = "time-limit"
        elif self._processes is not None and now > self._counted + _COUNT_EVERY:
            self._counted = now
            if self._processes() > self._limits.processes:
                self._run.stop = "process-limit"
        return self._run.stop != "exited"

    def _read(self, descriptor: int) -> bool:
        """Take what is there; False at the end of the pipe."""
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return True
        if descriptor == self._pipes.says:
            self._speech += data
            if len(self._speech) > self._limits.output:
                self._printed = self._limits.output + 1
        else:
            self._printed += len(data)
            self._tail = (self._tail + data)[-_TAIL:]
        return bool(data)

    def _finish(self) -> ChildRun:
        run = self._run
        events = (_event(line, self._nonce) for line in self._speech.splitlines())
        run.events = [event for event in events if event is not None]
        run.output = self._tail.decode("utf-8", "replace")
        run.seconds = time.monotonic() - self._began
        return run


def _event(line: bytes, nonce: str) -> dict[str, Any] | None:
    """An event, or None for a line that is none, cut off or not the child's own."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and event.get("nonce") == nonce and "event" in event else None
