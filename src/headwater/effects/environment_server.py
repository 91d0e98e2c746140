# SPDX-License-Identifier: Apache-2.0
"""Servers of environments: one for each, with everything imported that the library needs from outside its tree. It
forks a fork server for each tree, with the library of that tree imported; a probe is a fork of that one.

A server that dies is started again once for the probe in hand; if it dies again, that probe is a harness error.
"""

from __future__ import annotations

import contextlib
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from types import TracebackType

from headwater.core.events import Counted, Emit, Note, silent
from headwater.core.keys import Limits
from headwater.effects.bytecode import site_packages
from headwater.effects.child_process import SERVER, Scratch, child_command, child_environment
from headwater.effects.fork_server import ForkServer
from headwater.effects.preload import Preload
from headwater.effects.proc import Process, await_end, end_group, end_strays, start_in_group
from headwater.effects.server_link import ServerDied, ServerLink
from headwater.effects.watch import ChildRun

_START = 300.0  # seconds until a server has imported what it must, and then the rest
_CLOSE = 2.0  # seconds until it has ended once its socket is closed
_KEPT = 4  # trees whose library stays imported: each takes some 50 MB
_MARK = "HEADWATER_SERVER"
# What runs tests rewrites modules as they are imported, and so must not find them there.
_NEVER_AHEAD = frozenset({"pytest", "_pytest", "hypothesis", "pluggy", "iniconfig"})
# Others must not be used before a fork, and an import of the library may do that.
_FORKED = frozenset({"cpu", "meta"})
# A tree's folder and which one it is: what is laid out anew is another, of which nothing is imported yet.
_TreeKey = tuple[str, int]


class EnvironmentServer:
    """One running server. `preload` is the file with the modules to import first; it grows with every probe that
    imports more of the environment than is there already."""

    def __init__(self, python: Path, scratch: Scratch, preload: Preload, torch: bool, emit: Emit = silent) -> None:
        """Start it, in an environment with or without `torch`; `serving` waits for it.

        Raises:
            ServerDied: it could not be started.
        """
        self._preload, self._emit = preload, emit
        self._site = site_packages(python.parent.parent)
        self.folder = _number_of(python)
        self._ahead: list[str] = []  # what it has imported ahead of probes
        self._seen: set[str] = set()  # what probes were found to import, wanted ahead or not
        self._mark = secrets.token_hex(8)
        self._log = scratch.root / "server.log"
        self._link = ServerLink(self._last_line)
        self._trees: dict[_TreeKey | None, ForkServer] = {}
        self._unfit: set[_TreeKey] = set()
        self._ready = False
        # What is to be imported ahead once a first request has what it needs; None from then on.
        self._waiting: list[Mapping[str, object]] | None = []
        self._lock = RLock()
        scratch.renew({})
        theirs = self._link.theirs.fileno()
        with self._log.open("wb") as log:
            try:
                self._process: Process = start_in_group(
                    child_command(python, SERVER, theirs, *(["torch"] if torch else [])),
                    environ={**child_environment(scratch), _MARK: self._mark},
                    cwd=scratch.root,
                    pass_fds=[theirs],
                    output=log.fileno(),
                )
            except OSError as error:
                self._link.close()
                raise ServerDied(f"{python} could not be started: {error}") from error
        self._link.theirs.close()

    def serving(self, request: Mapping[str, object], abandoned: Callable[[], bool]) -> ForkServer:
        """A fork server for a request: one that has the library of the request's tree imported, unless that fails; a
        probe that imports it itself tells how.

        Raises:
            ServerDied: this server is gone.
            Abandoned: nobody waits for it any more.
        """
        tree = _tree_of(request)
        with self._lock:
            self._await_ready(abandoned)
            tree = None if tree in self._unfit else tree
            server = self._of(tree, request)
            server.busy = True
        if tree is not None and not server.is_fit(_START, abandoned):
            with self._lock:
                self._unfit.add(tree)
                self._trees.pop(tree).close()
                tree, server = None, self._of(None, request)
                server.busy = True
        if tree is None and not server.is_fit(_START, abandoned):
            raise ServerDied(f"no fork server could be started: {self._last_line()}")
        self._import_what_waits()
        return server

    def import_ahead(self, request: Mapping[str, object]) -> None:
        """Have the library of a request's tree imported, without waiting for it.

        Raises:
            ServerDied: this server is gone.
        """
        tree = _tree_of(request)
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(request)
            elif tree is not None and tree not in self._unfit:
                self._of(tree, request)

    def _import_what_waits(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, None
            for request in waiting or ():
                self.import_ahead(request)

    def _await_ready(self, abandoned: Callable[[], bool]) -> None:
        if not self._ready:
            self._link.await_one(["ready"], _START, abandoned)
            self._import_more(self._preload.read())
            self._ready = True

    def _of(self, tree: _TreeKey | None, request: Mapping[str, object]) -> ForkServer:
        """The fork server of a tree, or the one without a library, as the one that was used last."""
        server = self._trees.pop(tree, None)
        if server is None:
            self._make_room()
            link = ServerLink(self._last_line)
            names = ("tree", "manifest", "code", "package", "work", "memory", "seconds")
            library = {name: request[name] for name in names} if tree is not None else None
            try:
                self._link.send({"op": "serve", "library": library}, [link.theirs.fileno()])
            except ServerDied:
                link.close()
                raise
            link.theirs.close()
            server = ForkServer(link, self.learn)
        self._trees[tree] = server
        return server

    def _make_room(self) -> None:
        """End those that were asked for longest ago, and that nobody uses now."""
        idle = [tree for tree, server in self._trees.items() if not server.busy]
        for tree in idle[: max(0, len(self._trees) + 1 - _KEPT)]:
            self._trees.pop(tree).close()

    def learn(self, modules: Sequence[str]) -> bool:
        """Import, now and at every later start, what was imported from the environment and this server has not: whether
        there was something."""
        with self._lock:
            grown = self._import_more(modules)
            if grown:
                self._preload.write(self._ahead)
            return grown

    def forget_trees(self) -> None:
        """End the fork servers: those that come next have what this server has imported by then, and may do better with
        what could not be imported before them."""
        with self._lock:
            self._unfit.clear()
            while self._trees:
                self._trees.popitem()[1].close()

    def _is_environments(self, name: str) -> bool:
        """Whether a module comes with Python or a package, rather than from a file that a probe made for itself."""
        top = name.partition(".")[0]
        if top in _NEVER_AHEAD:
            return False
        return top in sys.stdlib_module_names or (self._site / top).is_dir() or (self._site / f"{top}.py").is_file()

    def _import_more(self, modules: Sequence[str]) -> bool:
        """Import what is the environment's and has not been asked for; whether there was something."""
        fresh = [name for name in dict.fromkeys(modules) if name not in self._seen]
        self._seen.update(fresh)
        wanted = [name for name in fresh if self._is_environments(name)]
        if not wanted:
            return False
        self._link.send({"op": "preload", "modules": wanted})
        try:
            failed = self._link.await_one(["preloaded"], _START)["failed"]
        except ServerDied:
            self._preload.forget()
            raise
        self._ahead += wanted
        if failed:
            self._emit(Note(f"not imported ahead of probes: {', '.join(failed)}"))
        return True

    def _last_line(self) -> str:
        lines = []
        with contextlib.suppress(OSError):  # a case may have taken it away
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def close(self) -> None:
        """End the server and whatever descends from it, however it was left behind."""
        self.forget_trees()
        self._link.close()
        # It ends what descends from it, and then itself, unless something stopped it.
        await_end(self._process, _CLOSE)
        end_group(self._process)
        end_strays(f"{_MARK}={self._mark}")


def _number_of(python: Path) -> int | None:
    """Which folder an environment is in: one that is built anew is another."""
    with contextlib.suppress(FileNotFoundError):
        return python.parent.parent.stat().st_ino
    return None


def _tree_of(request: Mapping[str, object]) -> _TreeKey | None:
    """The tree whose library may be imported before a request is answered: not where that import is recorded, nor on a
    device that must not be used before a fork."""
    if request["op"] != "probe" or "record" in request or request["device"] not in _FORKED:
        return None
    path = Path(str(request["tree"]))
    return str(path), path.stat().st_ino


class EnvironmentServers:
    """The servers of one run, by environment. A context manager that ends them."""

    def __init__(self, scratch: Path, emit: Emit = silent, abandoned: Callable[[], bool] = bool) -> None:
        """`abandoned` is asked while a request is answered: whether nobody waits for it any more."""
        self._scratch, self._emit, self._abandoned = scratch, emit, abandoned
        self._servers: dict[str, EnvironmentServer] = {}

    def __enter__(self) -> EnvironmentServers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for key in list(self._servers):
            self.discard(key)

    def scratch_of(self, key: str) -> Scratch:
        """The scratch folder of an environment's server; its probes have one home, since modules remember it."""
        return Scratch(self._scratch / key[:20])

    def begin(self, key: str, python: Path, preload: Preload, torch: bool) -> EnvironmentServer:
        """Start the server of an environment, unless it runs in what is there now, without waiting for it.

        Raises:
            ServerDied: it could not be started.
        """
        server = self._servers.get(key)
        if server is not None and server.folder != _number_of(python):
            self.discard(key)
            server = None
        if server is None:
            server = EnvironmentServer(python, self.scratch_of(key), preload, torch, self._emit)
            self._servers[key] = server
            self._emit(Counted("servers", 1))
        return server

    def answer(
        self, key: str, python: Path, preload: Preload, request: Mapping[str, object], limits: Limits,
        renew: Callable[[], object],
    ) -> ChildRun:  # fmt: skip
        """Have a request answered in the environment `key`; the server is started if need be, and again if it dies.
        `renew` makes the scratch folder ready, while nothing that the request waits for is being imported.

        Raises:
            ServerDied: it died twice over this request.
        """
        try:
            return self._answer(key, python, preload, request, limits, renew)
        except ServerDied as error:
            self._emit(Note(f"{error}; starting it again", warning=True))
            self.discard(key)
            try:
                return self._answer(key, python, preload, request, limits, renew)
            except ServerDied:
                self.discard(key)
                raise

    def _answer(
        self, key: str, python: Path, preload: Preload, request: Mapping[str, object], limits: Limits,
        renew: Callable[[], object],
    ) -> ChildRun:  # fmt: skip
        request = {**request, "seconds": limits.seconds}
        server = self.begin(key, python, preload, bool(request["torch"]))
        forks = server.serving(request, self._abandoned)
        renew()
        run = forks.answer({**request, "report_modules": request["op"] == "probe"}, limits, self._abandoned)
        self._emit(Counted("forks", 1))
        modules = run.last("modules")
        if modules is not None and server.learn(modules["names"]):
            # Another case would import it again in each fork of the servers that are without.
            server.forget_trees()
        return run

    def import_ahead(self, key: str, request: Mapping[str, object]) -> None:
        """Have the library of a request's tree imported, if the environment's server runs; nobody waits for it.

        Raises:
            ServerDied: the server is gone.
        """
        server = self._servers.get(key)
        if server is not None:
            server.import_ahead(request)

    def discard(self, key: str) -> None:
        """End an environment's server."""
        server = self._servers.pop(key, None)
        if server is not None:
            server.close()
