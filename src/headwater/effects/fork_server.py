# SPDX-License-Identifier: Apache-2.0
"""Fork servers: one an environment, with everything imported that the library needs from outside its tree.

A probe is a fork of it. A server that dies is started again once for the probe in hand; if it dies again, that probe is
a harness error.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from headwater.child.serve import PACKET, descendants
from headwater.core.errors import HarnessError
from headwater.core.events import Counted, Emit, Note, silent
from headwater.core.keys import Limits
from headwater.effects.bytecode import site_packages
from headwater.effects.child import PROTOCOL, SERVER, Scratch, child_command, child_environment
from headwater.effects.preload import Preload
from headwater.effects.proc import Process, await_end, end_group, end_strays, start_in_group
from headwater.effects.watch import ChildRun, Pipes, Watch

_START = 300.0  # seconds until a server has imported what it must, and then the rest
_END = 20.0  # seconds until it has ended what it was told to kill
_CLOSE = 2.0  # seconds until it has ended once its socket is closed
_MARK = "HEADWATER_SERVER"
# What runs tests rewrites modules as they are imported, and so must not find them there.
_NEVER_AHEAD = frozenset({"pytest", "_pytest", "hypothesis", "pluggy", "iniconfig"})


class ServerDied(HarnessError):
    """A fork server ended, or did not answer."""


class ForkServer:
    """One running server. `preload` is the file with the modules to import first; it grows with every probe that
    imports more of the environment than is there already."""

    def __init__(self, python: Path, scratch: Scratch, preload: Preload, torch: bool, emit: Emit = silent) -> None:
        """Start it, in an environment with or without `torch`, and wait until it is ready.

        Raises:
            ServerDied: it could not be started, or did not import torch; its last line is said.
        """
        self._scratch, self._preload, self._emit = scratch, preload, emit
        self._site = site_packages(python.parent.parent)
        self._seen: dict[str, None] = {}
        self._mark = secrets.token_hex(8)
        self._log = scratch.root / "server.log"
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, self._log.open("wb") as log:
            try:
                self._process: Process = start_in_group(
                    child_command(python, SERVER, theirs.fileno(), *(["torch"] if torch else [])),
                    environ={**child_environment(scratch), _MARK: self._mark},
                    cwd=scratch.root,
                    pass_fds=[theirs.fileno()],
                    output=log.fileno(),
                )
            except OSError as error:
                self._control.close()
                raise ServerDied(f"{python} could not be started: {error}") from error
        try:
            self._await("ready", _START)
            self._import(self._preload.read())
        except ServerDied:
            self.close()
            raise

    def answer(self, request: Mapping[str, object], limits: Limits, abandoned: Callable[[], bool] = bool) -> ChildRun:
        """Have a fork answer a request.

        Raises:
            ServerDied: the server did not survive it.
            Abandoned: nobody waits for the answer any more; the fork ends with the server.
        """
        nonce = secrets.token_hex(16)
        packet = json.dumps({**request, "protocol": PROTOCOL, "nonce": nonce}).encode()
        pipes = Pipes()
        ended: list[dict[str, Any]] = []

        def has_ended() -> bool:
            self._control.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                while not ended:
                    message = self._receive()
                    ended.extend([message] if message["event"] == "ended" else [])
            return bool(ended)

        try:
            self._send(packet, [pipes.says_writer, pipes.prints_writer])
            pipes.close_writers()
            watch = Watch(pipes, limits, nonce, has_ended, self._control.fileno(), self._count, abandoned)
            run = watch.to_the_end()
        finally:
            pipes.close()
        if not ended:
            self._send(b'{"op": "kill"}')
            ended.append(self._await("ended", _END))
        run.status, run.left = ended[0]["status"], ended[0]["left"]
        return run

    def learn(self, modules: Sequence[str]) -> None:
        """Import, now and at every later start, what a probe imported from the environment and this server has not."""
        fresh = [name for name in modules if name not in self._seen]
        if not any(self._is_environments(name) for name in fresh):
            self._seen.update(dict.fromkeys(fresh))
            return
        wanted = [*self._seen, *(name for name in fresh if self._is_environments(name))]
        self._preload.write(wanted)
        self._import(wanted)
        self._seen.update(dict.fromkeys(fresh))

    def _is_environments(self, name: str) -> bool:
        """Whether a module comes with Python or a package, rather than from a file that a probe made for itself."""
        top = name.partition(".")[0]
        if top in _NEVER_AHEAD:
            return False
        return top in sys.stdlib_module_names or (self._site / top).is_dir() or (self._site / f"{top}.py").is_file()

    def _import(self, modules: Sequence[str]) -> None:
        if not modules:
            return
        self._send(json.dumps({"op": "preload", "modules": modules}).encode())
        try:
            failed = self._await("preloaded", _START)["failed"]
        except ServerDied:
            self._preload.forget()
            raise
        self._seen.update(dict.fromkeys(modules))
        if failed:
            self._emit(Note(f"not imported ahead of probes: {', '.join(failed)}"))

    def _count(self) -> int:
        return len(descendants(self._process.pid)) - 1  # the server itself

    def _await(self, event: str, seconds: float) -> dict[str, Any]:
        self._control.settimeout(seconds)
        try:
            while (message := self._receive())["event"] != event:
                continue
        except TimeoutError as error:
            raise ServerDied(f"the fork server did not answer within {seconds:.0f} s") from error
        return message

    def _receive(self) -> dict[str, Any]:
        try:
            packet = self._control.recv(PACKET)
        except ConnectionError as error:
            raise ServerDied(f"the fork server is gone: {self._last_line()}") from error
        if not packet:
            raise ServerDied(f"the fork server ended: {self._last_line()}")
        message: dict[str, Any] = json.loads(packet)
        return message

    def _send(self, packet: bytes, descriptors: list[int] | None = None) -> None:
        self._control.settimeout(_END)
        try:
            socket.send_fds(self._control, [packet], descriptors or [])
        except OSError as error:
            raise ServerDied(f"the fork server is gone ({error}): {self._last_line()}") from error

    def _last_line(self) -> str:
        lines = []
        with contextlib.suppress(OSError):  # a case may have taken it away
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def close(self) -> None:
        """End the server and whatever descends from it, however it was left behind."""
        self._control.close()
        # It ends what descends from it, and then itself, unless something stopped it.
        await_end(self._process, _CLOSE)
        end_group(self._process)
        end_strays(f"{_MARK}={self._mark}")


class ForkServers:
    """The servers of one run, by environment. A context manager that ends them."""

    def __init__(self, scratch: Path, emit: Emit = silent, abandoned: Callable[[], bool] = bool) -> None:
        """`abandoned` is asked while a request is answered: whether nobody waits for it any more."""
        self._scratch, self._emit, self._abandoned = scratch, emit, abandoned
        self._servers: dict[str, ForkServer] = {}

    def __enter__(self) -> ForkServers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for key in list(self._servers):
            self.discard(key)

    def scratch_of(self, key: str) -> Scratch:
        """The scratch folder of an environment's server; its probes have one home, since modules remember it."""
        return Scratch(self._scratch / key[:20])

    def answer(
        self, key: str, python: Path, preload: Preload, request: Mapping[str, object], limits: Limits,
        renew: Callable[[], object] = bool,
    ) -> ChildRun:  # fmt: skip
        """Have a request answered in the environment `key`; the server is started if need be, and again if it dies:
        then `renew` makes its scratch folder as it was.

        Raises:
            ServerDied: it died twice over this request.
        """
        try:
            return self._answer(key, python, preload, request, limits)
        except ServerDied as error:
            self._emit(Note(f"{error}; starting it again", warning=True))
            self.discard(key)
            renew()
            try:
                return self._answer(key, python, preload, request, limits)
            except ServerDied:
                self.discard(key)
                raise

    def _answer(
        self, key: str, python: Path, preload: Preload, request: Mapping[str, object], limits: Limits
    ) -> ChildRun:
        server = self._servers.get(key)
        if server is None:
            server = ForkServer(python, self.scratch_of(key), preload, bool(request["torch"]), self._emit)
            self._servers[key] = server
            self._emit(Counted("servers", 1))
        run = server.answer({**request, "report_modules": request["op"] == "probe"}, limits, self._abandoned)
        self._emit(Counted("forks", 1))
        modules = run.last("modules")
        if modules is not None:
            server.learn(modules["names"])
        return run

    def discard(self, key: str) -> None:
        """End an environment's server."""
        server = self._servers.pop(key, None)
        if server is not None:
            server.close()
