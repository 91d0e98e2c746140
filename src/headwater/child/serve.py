# SPDX-License-Identifier: Apache-2.0
"""The server of an environment (`serve.py FD MODULE...`): it imports the modules that it is told, and later what the
library needs from outside its tree, once, and forks fork servers. Each of those imports the library of one tree, or
nothing, and forks for every request that comes over a socket of its own. Standard library only.

The environment's server is asked {"op": "preload", "modules"} and {"op": "serve", "library"}, which comes with the
socket for a fork server; `library` is null, or what `import_library` takes.
It answers {"event": "ready"} and {"event": "preloaded", "failed"}.

A fork server is asked what `probe_child.py` beside it answers, and {"op": "kill"}.
It answers {"event": "serving", "pid", "compiled", "loaded", "damaged", "modules"} or {"event": "unfit"} once, then
{"event": "ended", "status", "left"} for each request; `left`: processes that the case began went on when its own had
ended.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

PACKET = 1 << 20
_PATIENCE = 0.5  # seconds that processes which a case began may outlive it


def load_sibling() -> ModuleType:
    """`probe_child.py`, by its place: this folder is not on the path of an isolated interpreter."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_child.py")
    spec = importlib.util.spec_from_file_location("headwater_probe_child", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


probe_child = load_sibling()


def take_in_orphans() -> None:
    """Have orphans among this process's descendants become its own children, so that none is lost sight of."""
    probe_child.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


class EnvironmentServer:
    """Imports ahead, and forks fork servers, as is asked over `control`."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def serve(self, needed: list[str]) -> None:
        """Import the modules `needed`, without which it cannot serve; then answer until the other end of the socket is
        closed, which it is however its process ends."""
        take_in_orphans()
        with nothing_collected():
            for name in needed:
                importlib.import_module(name)
        self._tell("ready")
        while True:
            packet, descriptors, _flags, _address = socket.recv_fds(self._control, PACKET, 1)
            if not packet:
                return
            _collect()  # fork servers that have ended
            request = json.loads(packet)
            if request["op"] == "preload":
                self._preload(request["modules"])
            else:
                self._fork(request["library"], *descriptors)

    def _tell(self, event: str, **fields: object) -> None:
        self._control.send(json.dumps({"event": event, **fields}).encode())

    def _preload(self, modules: list[str]) -> None:
        failed = []
        with nothing_collected():
            for name in modules:
                if name not in sys.modules:
                    try:
                        importlib.import_module(name)
                    except Exception as error:
                        failed.append(f"{name}: {type(error).__name__}")
        gc.collect()
        gc.freeze()
        self._tell("preloaded", failed=failed)

    def _fork(self, library: dict[str, Any] | None, descriptor: int) -> None:
        if os.fork() == 0:
            self._control.close()
            os.setsid()
            outlive_a_server()
            with socket.socket(fileno=descriptor) as control:
                ForkServer(control).serve(library)
            os._exit(0)
        os.close(descriptor)


class ForkServer:
    """Forks for every request that comes over `control`, with the descriptors for its events and its output."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._code: Any = None  # a tree_code.TreeCode
        self._known: frozenset[str] = frozenset()

    def serve(self, library: dict[str, Any] | None) -> None:
        """Import the library, if it is to; then answer until the other end of the socket is closed."""
        take_in_orphans()
        said: dict[str, object] = {"compiled": 0, "loaded": 0, "damaged": [], "modules": []}
        if library is not None:
            self._code = import_library(library)
            if self._code is None:
                end_descendants()
                self._tell("unfit")
                return
            said = {**self._code.counts(), "modules": probe_child.modules_outside((library["tree"],))}
            gc.collect()
            gc.freeze()
        self._known = frozenset(sys.modules)
        self._tell("serving", pid=os.getpid(), **said)
        while True:
            packet, descriptors, _flags, _address = socket.recv_fds(self._control, PACKET, 2)
            if not packet:
                return
            request = json.loads(packet)
            if request["op"] != "kill":  # a late one: what it meant has ended
                self._fork(request, *descriptors)

    def _tell(self, event: str, **fields: object) -> None:
        self._control.send(json.dumps({"event": event, **fields}).encode())

    def _fork(self, request: dict[str, Any], events: int, output: int) -> None:
        child = os.fork()
        if child == 0:
            self._control.close()
            os.setsid()
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            if "numpy" in sys.modules:
                # Python's random module does so by itself: repetitions must not all draw the same numbers.
                sys.modules["numpy"].random.seed()
            probe_child.answer(request, events, self._code, self._known)
        os.close(events)
        os.close(output)
        watched = os.pidfd_open(child)
        control = self._control.fileno()
        ready, _, _ = select.select([watched, control], [], [])
        if control in ready and not self._control.recv(PACKET):
            end_descendants()
            os._exit(0)
        # Before the child is collected: then its number could be another's.
        stopped = watched not in ready
        if stopped:
            os.kill(child, signal.SIGKILL)
        _pid, status = os.waitpid(child, 0)
        os.close(watched)
        left = not stopped and not all_have_ended(_PATIENCE)
        end_descendants()
        self._tell("ended", status=os.waitstatus_to_exitcode(status), left=left)


def import_library(request: dict[str, Any]) -> Any:
    """Import the library of a tree in a process that will fork for probes on it, within their limit of memory: the
    tree's code, or None where a probe could tell that it did not import the library itself. One that takes longer than
    `seconds` ends this process.

    `request`: {"tree", "manifest", "code", "package", "work", "memory", "seconds"}. A probe that imports the library
    itself says better what failed; what is printed meanwhile is nobody's.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    outputs = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
    for descriptor, _kept in outputs:
        os.dup2(nothing, descriptor)
    code = probe_child.tree_code.TreeCode(request, probe_child.Speaker(nothing, ""))
    code.install()
    os.chdir(request["work"])
    probe_child.set_limits(request["memory"], for_good=False)
    tasks, drawn, effects = threads(), random_states(), Effects(code)
    signal.alarm(request["seconds"] + 1)
    try:
        with nothing_collected(), effects:
            __import__(request["package"])
    except BaseException:
        return None
    finally:
        signal.alarm(0)
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        for descriptor, kept in outputs:
            os.dup2(kept, descriptor)
            os.close(kept)
    # Threads and processes would not come along into a fork, and what draws at random begins anew in each.
    alone = threads() == tasks and not descendants(os.getpid())
    same = drawn.items() <= random_states().items()
    return code if alone and same and not effects.seen else None


class Effects:
    """Whether anything is written to files or started while this is entered, by whatever Python tells its audit hooks
    (see the audit events table of Python's documentation); none of it is let through. What the tree's `code` keeps for
    later imports does not count."""

    _STARTS = ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen", "pty.spawn")
    _WRITES = (
        "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod", "os.chown",
        "os.truncate", "os.utime",
    )  # fmt: skip

    def __init__(self, code: Any) -> None:
        self._code, self._entered = code, False
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def __enter__(self) -> None:
        self._entered = True

    def __exit__(self, *_error: object) -> None:
        self._entered = False

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._entered or self._code.is_writing:
            return
        if event == "open":
            writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        else:
            writes = event in self._STARTS or event in self._WRITES
        if writes:
            self.seen.append(event)
            raise PermissionError(f"{event} while the library is imported for several probes")


def random_states() -> dict[str, str]:
    """What decides what Python and numpy will draw next, for those that are imported."""
    found = {}
    if "random" in sys.modules:
        found["random"] = repr(sys.modules["random"].getstate())
    if "numpy.random" in sys.modules:
        generator = sys.modules["numpy.random"].get_state()
        found["numpy.random"] = f"{generator[1].tobytes()!r} {generator[2:]}"
    return found


def threads() -> int:
    """How many threads this process has, those of libraries among them."""
    return len(os.listdir("/proc/self/task"))


@contextlib.contextmanager
def nothing_collected() -> Iterator[None]:
    """No collection of garbage meanwhile: imports make little, and every collection looks at all that they left. What
    an import sets itself stays."""
    usual = gc.get_threshold()
    gc.set_threshold(0)
    try:
        yield
    finally:
        if gc.get_threshold()[0] == 0:
            gc.set_threshold(*usual)


def end_descendants() -> None:
    """Kill and collect every descendant of this process; as their reaper it misses none.

    They are stopped first, until no new one appears, so that one that forks without end cannot outrun this.
    """
    while _collect():
        known: set[int] = set()
        while fresh := descendants(os.getpid()) - known:
            known |= fresh
            for process in fresh:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGSTOP)
        for process in known:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.001)


def all_have_ended(seconds: float) -> bool:
    """Whether every descendant ends by itself within this time: some do when they find their parent gone."""
    limit = time.monotonic() + seconds
    while _collect():
        if time.monotonic() > limit:
            return False
        time.sleep(0.005)
    return True


def _collect() -> bool:
    """Collect the children that have ended; False when no child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def descendants(ancestor: int) -> set[int]:
    """The running descendants of a process, from /proc (see proc(5), /proc/pid/stat)."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                parents[int(entry)] = int(fields[1])
    found: set[int] = set()
    while fresh := {p for p, parent in parents.items() if parent == ancestor or parent in found} - found:
        found |= fresh
    return found


def outlive_a_server() -> None:
    """Return in a child, which is to be the server: this process waits for its end, however that comes, and then ends
    what descends from it, for nobody else could tell whose orphans those are."""
    take_in_orphans()
    server = os.fork()
    if server == 0:
        return
    while os.WIFSTOPPED(status := os.waitpid(server, os.WUNTRACED)[1]):
        os.kill(server, signal.SIGKILL)  # by a case, and nothing would set it going again
    end_descendants()
    os._exit(abs(os.waitstatus_to_exitcode(status)))


def main() -> None:
    outlive_a_server()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        EnvironmentServer(control).serve(sys.argv[2:])
    # Nothing is left to do, and to tear thousands of modules down takes longer than a probe's fork.
    os._exit(0)


if __name__ == "__main__":
    main()
