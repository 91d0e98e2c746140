# SPDX-License-Identifier: Apache-2.0
"""The door to processes other than git: argv lists, an explicit environment, quiet unless failing."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headwater.core.errors import HarnessError
from headwater.core.redaction import redact


class ProcessFailed(HarnessError):
    """A process ended with a status other than 0, or could not be started."""

    def __init__(self, argv: Sequence[str], status: int | None, output: str) -> None:
        self.status, self.output = status, redact(output)
        what = "could not be started" if status is None else f"ended with status {status}"
        tail = "\n".join(self.output.strip().splitlines()[-30:])
        super().__init__(redact(f"{shlex.join(argv)} {what}:\n{tail}"))


def run(
    argv: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
    seconds: float | None = None,
) -> str:
    """Run a process to its end and return its standard output.

    `environ` goes over the caller's environment.

    Raises:
        ProcessFailed: with what the process printed on standard error, credentials taken out.
    """
    full = {**os.environ, **(environ or {})}
    try:
        done = subprocess.run(
            argv,
            env=full,
            cwd=cwd,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            preexec_fn=_ending_with_us(),
        )
    except OSError as error:
        raise ProcessFailed(argv, None, str(error)) from error
    except subprocess.TimeoutExpired as error:
        raise ProcessFailed(argv, None, f"no end within {seconds} s") from error
    if done.returncode != 0:
        raise ProcessFailed(argv, done.returncode, done.stderr or done.stdout)
    return done.stdout


def _ending_with_us() -> Callable[[], object] | None:
    """What a process does first so that on Linux it is killed when we are: nobody would take what it makes."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


Process = subprocess.Popen[bytes]


def start_in_group(
    argv: Sequence[str], *, environ: Mapping[str, str], cwd: Path, pass_fds: Sequence[int], output: int
) -> Process:
    """Start a process in a group and session of its own, with exactly `environ`; its standard input is a pipe, and what
    it prints and its errors go to the descriptor `output`.

    Raises:
        OSError: it cannot be started.
    """
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        cwd=cwd,
        env=dict(environ),
        pass_fds=pass_fds,
        start_new_session=True,
    )


def has_ended(process: Process) -> bool:
    """Whether a process has ended, without collecting it: until `end_group` does, its group's number is not given to
    another process."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def await_end(process: Process, seconds: float) -> None:
    """Give a process some time to end by itself."""
    limit = time.monotonic() + seconds
    while not has_ended(process) and time.monotonic() < limit:
        time.sleep(0.005)


def end_group(process: Process) -> None:
    """Kill a process started by `start_in_group` with its whole group, and collect it. Again is a no-op."""
    if process.returncode is not None:
        return
    # macOS answers EPERM for a group of zombies; either way nobody is left in it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def started_with(variable: str) -> list[int]:
    """On Linux every process that was started with this environment variable, written NAME=VALUE."""
    mark = b"\0" + os.fsencode(variable) + b"\0"
    return [number for number in _processes() if mark in b"\0" + _environment_of(number)]


def end_strays(variable: str) -> None:
    """Kill what has left its group (`setsid`): on Linux every process that was started with this environment variable,
    written NAME=VALUE."""
    for _attempt in range(50):
        strays = started_with(variable)
        if not strays:
            return
        for number in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


def _processes() -> list[int]:
    proc = Path("/proc")
    return [int(path.name) for path in proc.iterdir() if path.name.isdigit()] if proc.is_dir() else []


def _environment_of(number: int) -> bytes:
    try:
        return Path(f"/proc/{number}/environ").read_bytes()
    except OSError:
        return b""
