# SPDX-License-Identifier: Apache-2.0
"""A fork server: a process with what its probes have in common imported already. A probe is a fork of it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from headwater.child.serve import descendants
from headwater.core.keys import Limits
from headwater.effects.child_process import PROTOCOL
from headwater.effects.server_link import ServerDied, ServerLink
from headwater.effects.watch import ChildRun, Pipes, Watch

_END = 20.0  # seconds until it has ended what it was told to kill


class ForkServer:
    """One that an environment's server was asked for. `learn` takes the modules that a library's import brought; `busy`
    from when it was chosen to its answer."""

    def __init__(self, link: ServerLink, learn: Callable[[list[str]], object]) -> None:
        self._link, self._learn = link, learn
        self._fit: bool | None = None
        self._pid = 0
        self._counts: dict[str, Any] | None = None
        self._lock = Lock()
        self.busy = False

    def is_fit(self, seconds: float, abandoned: Callable[[], bool]) -> bool:
        """Wait until it serves; False where it does not, since the library cannot be imported ahead of its probes.

        Raises:
            ServerDied: the environment's server is gone.
            Abandoned: nobody waits for it any more.
        """
        with self._lock:
            if self._fit is None:
                try:
                    said = self._link.await_one(["serving", "unfit"], seconds, abandoned)
                except ServerDied:
                    said = {"event": "unfit"}
                self._fit = said["event"] == "serving"
                if self._fit:
                    self._pid = said["pid"]
                    self._counts = {name: said[name] for name in ("compiled", "loaded", "damaged")}
                    self._learn(said["modules"])
            return self._fit

    def answer(self, request: Mapping[str, object], limits: Limits, abandoned: Callable[[], bool]) -> ChildRun:
        """Have a fork answer a request. What the import of the library took from the cache of byte code counts for the
        first one.

        Raises:
            ServerDied: the server did not survive it.
            Abandoned: nobody waits for the answer any more; the fork ends with the server.
        """
        try:
            run = self._answer(request, limits, abandoned)
        finally:
            self.busy = False
        self._take_counts(run)
        return run

    def _answer(self, request: Mapping[str, object], limits: Limits, abandoned: Callable[[], bool]) -> ChildRun:
        nonce = secrets.token_hex(16)
        pipes = Pipes()
        ended: list[dict[str, Any]] = []

        def has_ended() -> bool:
            while not ended and (message := self._link.receive()) is not None:
                ended.extend([message] if message["event"] == "ended" else [])
            return bool(ended)

        try:
            packet = {**request, "protocol": PROTOCOL, "nonce": nonce}
            self._link.send(packet, [pipes.says_writer, pipes.prints_writer])
            pipes.close_writers()
            watch = Watch(pipes, limits, nonce, has_ended, self._link.descriptor, self._count, abandoned)
            run = watch.to_the_end()
        finally:
            pipes.close()
        if not ended:
            self._link.send({"op": "kill"})
            ended.append(self._link.await_one(["ended"], _END))
        run.status, run.left = ended[0]["status"], ended[0]["left"]
        return run

    def _take_counts(self, run: ChildRun) -> None:
        own, counts = run.last("code"), self._counts
        if own is not None and counts is not None:
            own.update({name: own[name] + counts[name] for name in counts})
            self._counts = None

    def _count(self) -> int:
        return len(descendants(self._pid))

    def close(self) -> None:
        """End it, and what descends from it, once it has imported what it is importing."""
        self._link.close()
