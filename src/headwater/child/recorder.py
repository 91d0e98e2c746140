# SPDX-License-Identifier: Apache-2.0
"""What a probe's child runs of the library, for a request with `"record"`: which files were loaded, which were read as
data, and which lines began to run, from the first import of the library to the end of the case. Standard library only.

`"record"` names a file of `length_of(files)` zero bytes, which is mapped and shared: a mark stands as soon as it is
made, whatever becomes of the process, and those of a case's forks stand beside it. Its head holds TOLD once the case
has come to its end, and a byte for each of GAPS; then come a byte each for LOADED, READ and RAN of every file of the
tree, and then one for each line of each file, 1 where the line began to run. See `regions`.

One event of its own is said before the outcome:
    {"event": "record", "frames": [[file, line, function]]}: the exception's, inside the library, outermost first, then
    those of what it was raised from
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

LOADED, READ, RAN = 0, 1, 2  # where each stands among the flags of a file
FLAGS = 3
TOLD = 0  # where the head says that nothing more can have been missed
SETTRACE, COMPILED, PROCESS = 1, 2, 3
GAPS = {
    SETTRACE: "something set the tracing of Python itself (sys.settrace or sys.monitoring)",
    COMPILED: "torch.compile traced code without running it",
    PROCESS: "a process was started that may have imported the library",
}
HEAD = 16
FRAMES_LIMIT = 500

_TOOL = 4
_NAME = "headwater"
# Audit events of starting a process, see the audit events table of Python's documentation.
_STARTS = {"subprocess.Popen", "os.posix_spawn", "os.spawn", "os.exec", "os.system"}
# What multiprocessing imports when it starts an interpreter, which no audit event tells.
_SPAWNERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")


class Region(NamedTuple):
    """Where the marks of a file lie: its flags, and its lines, of which line 1 stands at `base` + 1."""

    flags: int
    base: int
    last: int


def regions(files: Mapping[str, Sequence[Any]]) -> dict[str, Region]:
    """The regions of a tree's files, in the order of their names.

    `files` are those of a manifest: name -> [blob, size in bytes, ...]. A file has at most one line more than bytes.
    All flags lie together, so that few pages are touched.
    """
    found = {}
    flags, base = HEAD, HEAD + FLAGS * len(files) - 1
    for name in sorted(files):
        last = files[name][1] + 1
        found[name] = Region(flags, base, last)
        flags, base = flags + FLAGS, base + last
    return found


def length_of(files: Mapping[str, Sequence[Any]]) -> int:
    """The bytes of the shared file."""
    lines: int = sum(entry[1] + 1 for entry in files.values())
    return HEAD + FLAGS * len(files) + lines


class Marks:
    """The shared marks, by the names that files go by in this process: of code objects, and of what is opened."""

    def __init__(self, path: str, root: str, files: Mapping[str, Sequence[Any]]) -> None:
        with open(path, "r+b") as stream:
            self.memory = mmap.mmap(stream.fileno(), 0)
        self._roots = {root, os.path.realpath(root)}
        self._regions = regions(files)
        self.places = _Places(self)

    def name(self, path: str) -> str | None:
        """A file's name in the manifest; None for one outside of the tree."""
        path = os.path.normpath(path)
        for root in self._roots:
            if path.startswith(root + os.sep):
                name = path[len(root) + 1 :].replace(os.sep, "/")
                return name if name in self._regions else None
        return None

    def region(self, path: str) -> Region | None:
        """Where a file's marks lie; None for one outside of the tree."""
        name = self.name(path)
        return None if name is None else self._regions[name]

    def mark(self, path: str, flag: int) -> None:
        """Mark a file, if it is one of the tree."""
        region = self.places[path]
        if region is not None:
            self.memory[region.flags + flag] = 1

    def names_tree(self, value: object) -> bool:
        """Whether the tree's folder is named in something, as far as that can be told."""
        try:
            text = repr(value)
        except Exception:
            return True
        return any(root in text for root in self._roots)


class _Places(dict[str, "Region | None"]):
    """Regions by path, found once each."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self._marks = marks

    def __missing__(self, path: str) -> Region | None:
        found = self[path] = self._marks.region(path)
        return found


def first_line(code: CodeType) -> int | None:
    """The line on which a function, class, lambda or comprehension begins, which ran when it was made; None for a
    module. It may have no event of its own."""
    return None if code.co_name == "<module>" else code.co_firstlineno


class Tracer:
    """Lines by `sys.settrace`. A code object is followed only as long as lines of it have not been seen, so that a loop
    or a function that runs often costs little. Threads are followed that the module threading starts."""

    def __init__(self, marks: Marks) -> None:
        self._memory, self._places = marks.memory, marks.places
        # By identity, as the hash of a code object is that of all its parts. Each is held: no other gets its id.
        self._follow: dict[int, tuple[CodeType, Callable[..., Any] | None]] = {}
        self.hook = self._make_hook()

    def start(self) -> None:
        threading.settrace(self.hook)
        sys.settrace(self.hook)

    def stop(self) -> bool:
        """End it; whether it was still going on."""
        going_on = sys.gettrace() is self.hook and threading.gettrace() is self.hook
        sys.settrace(None)
        return going_on

    def _make_hook(self) -> Callable[[FrameType, str, Any], Any]:
        places, follow, begin = self._places, self._follow, self._begin

        def hook(frame: FrameType, event: str, argument: object) -> Any:
            code = frame.f_code
            region = places[code.co_filename]
            if region is None:
                return None
            known = follow.get(id(code))
            return known[1] if known is not None else begin(code, region)

        return hook

    def _begin(self, code: CodeType, region: Region) -> Callable[..., Any] | None:
        flags, base, last = region
        memory, follow = self._memory, self._follow
        memory[flags + RAN] = 1
        first = first_line(code)
        if first is not None and 0 < first <= last:
            memory[base + first] = 1
        lines = {line for _start, _end, line in code.co_lines() if line is not None and 0 < line <= last}
        unseen = {line for line in lines if not memory[base + line]}

        def local(frame: FrameType, event: str, argument: object) -> Any:
            line = frame.f_lineno
            if line in unseen:
                memory[base + line] = 1
                unseen.discard(line)
                if not unseen:
                    follow[id(code)] = (code, None)
            if not unseen:
                frame.f_trace = None
                return None
            return local

        follow[id(code)] = (code, local if unseen else None)
        return follow[id(code)][1]


if sys.version_info >= (3, 12):

    class Monitor:
        """Lines by `sys.monitoring`: each code object of the tree is told on when it first starts, each line once."""

        def __init__(self, marks: Marks) -> None:
            self._memory, self._places = marks.memory, marks.places

        def start(self) -> None:
            events = sys.monitoring.events
            sys.monitoring.use_tool_id(_TOOL, _NAME)
            sys.monitoring.register_callback(_TOOL, events.PY_START, self._started)
            sys.monitoring.register_callback(_TOOL, events.LINE, self._line)
            sys.monitoring.set_events(_TOOL, events.PY_START)

        def stop(self) -> bool:
            """End it; whether it was still going on."""
            going_on = sys.monitoring.get_tool(_TOOL) == _NAME
            if going_on:
                events = sys.monitoring.events
                going_on = sys.monitoring.get_events(_TOOL) == events.PY_START
                going_on &= sys.monitoring.register_callback(_TOOL, events.LINE, None) == self._line
                sys.monitoring.set_events(_TOOL, events.NO_EVENTS)
            return going_on

        def _started(self, code: CodeType, offset: int) -> Any:
            region = self._places[code.co_filename]
            if region is not None:
                self._memory[region.flags + RAN] = 1
                self._mark(region, first_line(code))
                sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.LINE)
            return sys.monitoring.DISABLE

        def _line(self, code: CodeType, line: int) -> Any:
            region = self._places[code.co_filename]
            if region is not None:
                self._mark(region, line)
            return sys.monitoring.DISABLE

        def _mark(self, region: Region, line: int | None) -> None:
            if line is not None and 0 < line <= region.last:
                self._memory[region.base + line] = 1


def follower(marks: Marks) -> Any:
    """What sees lines on this Python."""
    if sys.version_info >= (3, 12):
        return Monitor(marks)
    return Tracer(marks)


class Recorder:
    """Records from now on, until `finish`."""

    def __init__(self, path: str, tree_code: Any) -> None:
        """`tree_code`: the byte code of the tree (`tree_code.TreeCode`), whose loads are recorded too."""
        self._marks = Marks(path, tree_code.root, tree_code.files)
        self._process = os.getpid()
        self._done = False
        self._importing = threading.local()
        self._spawners = [name for name in _SPAWNERS if name not in sys.modules]
        self._compiled = frames_compiled()
        self._traces = sys.version_info < (3, 12)
        self._lines = follower(self._marks)
        self._wrap(tree_code)
        self._lines.start()
        sys.addaudithook(self._audit)

    def finish(self, error: BaseException | None) -> list[list[object]]:
        """End it; the frames of the exception with which the case ended, inside the library."""
        self._done = True
        memory = self._marks.memory
        if not self._lines.stop():
            memory[SETTRACE] = 1
        if frames_compiled() > self._compiled:
            memory[COMPILED] = 1
        if any(name in sys.modules for name in self._spawners):
            memory[PROCESS] = 1
        if os.getpid() == self._process:
            memory[TOLD] = 1
        return self._frames(error)

    def _wrap(self, tree_code: Any) -> None:
        """Mark what is imported, and tell its being read from other reading."""
        load, importing, marks = tree_code.load, self._importing, self._marks

        def marked(path: str, read: Callable[[str], bytes]) -> CodeType:
            def reading(path: str) -> bytes:
                importing.path = path
                try:
                    return read(path)
                finally:
                    importing.path = None

            marks.mark(path, LOADED)
            code: CodeType = load(path, reading)
            return code

        tree_code.load = marked

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called for every audit event; what it raised would be raised in the case."""
        if event == "open":
            self._opened(arguments[0])
        elif event == "sys.settrace":
            if self._traces and not self._done and not self._begins_thread(sys._getframe(1)):
                self._marks.memory[SETTRACE] = 1
        elif event in _STARTS and self._marks.names_tree((arguments, dict(os.environ))):
            self._marks.memory[PROCESS] = 1

    def _opened(self, path: Any) -> None:
        # A number is a file that was opened before; nor does a folder that is gone matter.
        with contextlib.suppress(TypeError, ValueError, OSError):
            name = os.fsdecode(path)
            if name != getattr(self._importing, "path", None):
                self._marks.mark(os.path.join(os.getcwd(), name) if not os.path.isabs(name) else name, READ)

    def _begins_thread(self, frame: FrameType) -> bool:
        """Whether a new thread takes over the tracing that it should."""
        ours = threading.Thread._bootstrap_inner.__code__  # type: ignore[attr-defined]
        return frame.f_code is ours and threading.gettrace() is getattr(self._lines, "hook", None)

    def _frames(self, error: BaseException | None) -> list[list[object]]:
        found: list[list[object]] = []
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            found += self._frames_of(error.__traceback__)[-FRAMES_LIMIT:]
            error = error.__cause__
        return found[:FRAMES_LIMIT]

    def _frames_of(self, trace: TracebackType | None) -> list[list[object]]:
        found: list[list[object]] = []
        while trace is not None:
            code = trace.tb_frame.f_code
            name = self._marks.name(code.co_filename)
            if name is not None:
                found.append([name, trace.tb_lineno, code.co_name])
            trace = trace.tb_next
        return found


def frames_compiled() -> int:
    """How many frames torch.compile has looked at in this process: it follows them by itself, without running them."""
    module = sys.modules.get("torch._dynamo.convert_frame")
    return int(getattr(module, "FRAME_COUNTER", 0))
