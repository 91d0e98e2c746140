# SPDX-License-Identifier: Apache-2.0
"""`python -m headwater WORDS` by a fork of a process that has imported Headwater already.

Each run is a process of its own as ever, with its own words, variables, folder, output and exit status. What it is
spared is the start of the interpreter and the imports, most of the time of a run on stand-ins. HEADWATER_TEST_FORK=0
starts an interpreter for each run.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PACKAGE = Path(__file__).resolve().parent.parent.parent / "src"
# Read by the interpreter, the loader or a library when it starts, so that a fork would not see another value.
_AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "GIT_PYTHON_", "COVERAGE_")


def measured() -> dict[str, str]:
    """The variables that a run needs so that its branches are counted too, where these are: `nox -s coverage-all`."""
    return {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}


@dataclass(frozen=True)
class Ended:
    """How a process ended; `status` is that of `subprocess`, negative for a signal."""

    status: int
    out: str
    err: str


def run_module(words: Sequence[str], cwd: Path, environ: Mapping[str, str], seconds: float = 600) -> Ended:
    """Run `python -m headwater WORDS` to its end with exactly these variables and no standard input.

    Raises TimeoutError where it takes longer than `seconds`; it is killed then.
    """
    return _run(_Asked(None, list(words), str(cwd), dict(environ)), seconds)


def run_code(code: str, words: Sequence[str], environ: Mapping[str, str], seconds: float = 600) -> Ended:
    """Run `python -c CODE WORDS` likewise, where the code may count on all of Headwater being imported."""
    return _run(_Asked(code, list(words), str(PACKAGE), dict(environ)), seconds)


@dataclass(frozen=True)
class _Asked:
    """What is to be done; without code it is the module."""

    code: str | None
    words: list[str]
    cwd: str
    environ: dict[str, str]


def _run(asked: _Asked, seconds: float) -> Ended:
    needed = {name: value for name, value in asked.environ.items() if name.startswith(_AT_THE_START)}
    # Hashes are seeded at the start: who chooses a seed wants an interpreter.
    if os.environ.get("HEADWATER_TEST_FORK") == "0" or "PYTHONHASHSEED" in needed:
        return _started(asked, seconds)
    return _nursery(frozenset(needed.items())).run(asked, seconds)


def _started(asked: _Asked, seconds: float) -> Ended:
    head = ["-m", "headwater"] if asked.code is None else ["-c", asked.code]
    try:
        done = subprocess.run(
            [sys.executable, *head, *asked.words], cwd=asked.cwd, env=asked.environ, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        raise TimeoutError(f"{head[-1]} {' '.join(asked.words)}: not done after {seconds} s") from late
    return Ended(done.returncode, done.stdout, done.stderr)


@functools.cache
def _nursery(environ: frozenset[tuple[str, str]]) -> _Nursery:
    # GitPython looks for git when it is imported.
    return _Nursery({"PATH": os.environ["PATH"], **dict(environ)})


class _Nursery:
    """The process that is forked, started with `environ`. It ends when its door is closed."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._door, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], env=environ, pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        atexit.register(self._end)

    def _end(self) -> None:
        self._door.close()
        self._process.wait()

    def run(self, asked: _Asked, seconds: float) -> Ended:
        with contextlib.ExitStack() as exits:
            question, out, err = (exits.enter_context(_scratch()) for _ in range(3))
            ours, theirs = (exits.enter_context(end) for end in socket.socketpair())
            json.dump(dataclasses.asdict(asked), question)
            question.seek(0)
            socket.send_fds(self._door, [b"?"], [question.fileno(), out.fileno(), err.fileno(), theirs.fileno()])
            theirs.close()
            ours.settimeout(seconds)
            said = exits.enter_context(ours.makefile(encoding="ascii"))
            number = int(said.readline())
            try:
                status = int(said.readline())
            except TimeoutError:
                os.kill(number, signal.SIGKILL)
                raise
            out.seek(0)
            err.seek(0)
            return Ended(status, out.read(), err.read())


def _scratch() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8")


def _import_all() -> None:
    package = importlib.import_module("headwater")
    for part in ("core", "effects", "report", "commands", "cli"):
        for found in pkgutil.walk_packages([str(Path(package.__path__[0]) / part)], f"headwater.{part}."):
            importlib.import_module(found.name)


def _wait_at(door: socket.socket) -> _Asked | None:
    """Fork for each who asks. Gives what was asked in the process that is to do it, and None when the door closes."""
    while True:
        _, fds, _, _ = socket.recv_fds(door, 1, 4)
        if not fds:
            return None
        if os.fork() == 0:
            door.close()
            return _become(*fds)
        for fd in fds:
            os.close(fd)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _become(question: int, out: int, err: int, answer: int) -> _Asked:
    """Fork once more, to tell the pid and the exit status of the process that does what was asked; go on in that."""
    if (number := os.fork()) != 0:
        _tell(answer, number)
        _, status = os.waitpid(number, 0)
        _tell(answer, os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(answer)
    for source, target in ((out, 1), (err, 2)):
        os.dup2(source, target)
        os.close(source)
    with os.fdopen(question, encoding="utf-8") as file:
        return _Asked(**json.load(file))


def _tell(answer: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # who asked waited no longer
        os.write(answer, b"%d\n" % number)


def _serve(fd: int) -> int:
    _import_all()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = _wait_at(socket.socket(fileno=fd))
    if asked is None:
        return 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(asked.cwd)
    for name in set(os.environ) - set(asked.environ):
        # What is there at the start and was not asked for was set by the interpreter: the locale of C is made UTF-8.
        if not name.startswith(_AT_THE_START):
            del os.environ[name]
    os.environ.update(asked.environ)
    sys.path[0] = asked.cwd
    if asked.code is not None:
        sys.argv = ["-c", *asked.words]
        exec(compile(asked.code, "<string>", "exec"), {"__name__": "__main__"})
        return 0
    sys.argv = [str(PACKAGE / "headwater" / "__main__.py"), *asked.words]
    status: int = importlib.import_module("headwater.cli").main()
    return status


if __name__ == "__main__":
    sys.exit(_serve(int(sys.argv[1])))
