# SPDX-License-Identifier: Apache-2.0
"""The socket to a server in a probed environment: packets of JSON, and descriptors with them."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from headwater.child.serve import PACKET
from headwater.core.errors import Abandoned, HarnessError

_LOOK = 0.1  # seconds between two looks whether anybody waits
_SEND = 20.0  # seconds until a server takes a packet


class ServerDied(HarnessError):
    """A server ended, or did not answer."""


class ServerLink:
    """Our end of the socket; `theirs` is the other one, to be closed here once it is theirs. `last_line` is what the
    server said last, for errors."""

    def __init__(self, last_line: Callable[[], str]) -> None:
        self._last_line = last_line
        self._ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    @property
    def descriptor(self) -> int:
        """What becomes readable when there is something to receive."""
        return self._ours.fileno()

    def send(self, request: object, descriptors: Sequence[int] = ()) -> None:
        """Send a request.

        Raises:
            ServerDied: the server is gone.
        """
        try:
            self._ours.settimeout(_SEND)
            socket.send_fds(self._ours, [json.dumps(request).encode()], list(descriptors))
        except OSError as error:
            raise ServerDied(f"the server of probes is gone ({error}): {self._last_line()}") from error

    def receive(self) -> dict[str, Any] | None:
        """The next event, None where there is none yet.

        Raises:
            ServerDied: the server is gone.
        """
        try:
            return self._receive(0)
        except BlockingIOError:
            return None

    def await_one(self, events: Sequence[str], seconds: float, abandoned: Callable[[], bool] = bool) -> dict[str, Any]:
        """Wait for one of these events; others are passed over.

        Raises:
            ServerDied: the server is gone, or it took longer than `seconds`.
            Abandoned: nobody waits for it any more.
        """
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if abandoned():
                raise Abandoned("nobody waits for the server any more")
            try:
                message = self._receive(min(_LOOK, seconds))
            except TimeoutError:
                continue
            if message["event"] in events:
                return message
        raise ServerDied(f"the server of probes did not answer within {seconds:.0f} s")

    def _receive(self, seconds: float) -> dict[str, Any]:
        self._ours.settimeout(seconds)
        try:
            packet = self._ours.recv(PACKET)
        except ConnectionError as error:
            raise ServerDied(f"the server of probes is gone: {self._last_line()}") from error
        if not packet:
            raise ServerDied(f"the server of probes ended: {self._last_line()}")
        message: dict[str, Any] = json.loads(packet)
        return message

    def close(self) -> None:
        """Close our end: the server ends by that."""
        self._ours.close()
        self.theirs.close()
