# SPDX-License-Identifier: Apache-2.0
"""Running the child in an environment: one process, its limits, what it said, and how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from headwater.core.errors import HarnessError
from headwater.core.keys import Limits
from headwater.effects.proc import Process, end_group, end_strays, has_ended, start_in_group

CHILD = Path(__file__).parent.parent / "child" / "probe_child.py"
PROTOCOL = 1
CHILD_VERSION = sha256(CHILD.read_bytes()).hexdigest()
_TAIL = 20_000  # characters of output that are kept
_GRACE = 5.0  # seconds from the end of a process to the end of what it had already written

# What a probe may see of the caller's environment: nothing that holds a token or points at a home folder.
_ALLOWED = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "PYTORCH_CUDA_ALLOC_CONF",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip

Stop = Literal["exited", "time-limit", "output-limit"]


@dataclass
class ChildRun:
    """What one process of the child did.

    `events` are its events in order; `stop` how it ended, `status` its exit status (negative: the signal that ended
    it); `output` the end of what it printed; `seconds` its wall time.
    """

    events: list[dict[str, Any]] = field(default_factory=list)
    stop: Stop = "exited"
    status: int = 0
    output: str = ""
    seconds: float = 0.0

    def last(self, event: str) -> dict[str, Any] | None:
        """The last event of a kind."""
        return next((e for e in reversed(self.events) if e["event"] == event), None)


def child_environment(scratch: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child: an allow-list, a scratch home, and no way to the hub."""
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    allowed = {name: os.environ[name] for name in _ALLOWED if name in os.environ}
    return {
        **allowed,
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "HF_HOME": str(home / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
        **extra,
    }


def run_child(
    python: Path, request: Mapping[str, object], scratch: Path, limits: Limits, extra: Mapping[str, str]
) -> ChildRun:
    """Run the child once, in a process group of its own that is gone afterwards.

    Raises:
        HarnessError: the interpreter could not be started.
    """
    nonce = secrets.token_hex(16)
    line = json.dumps({**request, "protocol": PROTOCOL, "nonce": nonce}).encode() + b"\n"
    work = scratch / "work"
    work.mkdir(exist_ok=True)
    says, hears = os.pipe()
    try:
        process = start_in_group(
            [str(python), "-I", str(CHILD), str(hears)],
            environ=child_environment(scratch, extra),
            cwd=work,
            pass_fds=[hears],
        )
    except OSError as error:
        os.close(says)
        raise HarnessError(f"{python} could not be started: {error}; `headwater cache prune` rebuilds it") from error
    finally:
        os.close(hears)
    try:
        _send(process, line)
        return _Watch(process, says, limits, nonce).to_the_end()
    finally:
        end_group(process)
        end_strays(f"TMPDIR={scratch}")
        os.close(says)
        if process.stdout is not None:
            process.stdout.close()


def _send(process: Process, line: bytes) -> None:
    assert process.stdin is not None
    # Where it died at once, its exit status and output say why.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(line)
        process.stdin.close()


class _Watch:
    """Reads both pipes of a child until it has ended or one of its limits is passed."""

    def __init__(self, process: Process, says: int, limits: Limits, nonce: str) -> None:
        assert process.stdout is not None
        self._process, self._says, self._limits, self._nonce = process, says, limits, nonce
        self._out = process.stdout.fileno()
        self._run = ChildRun()
        self._speech, self._printed, self._tail = b"", 0, b""
        self._began = time.monotonic()

    def to_the_end(self) -> ChildRun:
        deadline = self._began + self._limits.seconds
        with selectors.DefaultSelector() as selector:
            for descriptor in (self._out, self._says):
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            ended: float | None = None
            while True:
                for key, _mask in selector.select(timeout=0.05):
                    if not self._read(key.fd):
                        selector.unregister(key.fd)
                now = time.monotonic()
                if self._printed > self._limits.output:
                    self._run.stop = "output-limit"
                elif ended is None and now > deadline:
                    self._run.stop = "time-limit"
                if self._run.stop != "exited":
                    break
                if ended is None and has_ended(self._process):
                    ended = now
                # A grandchild may hold the pipes open for ever: what the child itself wrote has arrived by now.
                quiet = ended is not None and not selector.select(timeout=0)
                if quiet or (ended is not None and now > ended + _GRACE) or not selector.get_map():
                    break
        end_group(self._process)
        return self._finish()

    def _read(self, descriptor: int) -> bool:
        """Take what is there; False at the end of the pipe."""
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return True
        if descriptor == self._says:
            self._speech += data
            if len(self._speech) > self._limits.output:
                self._printed = self._limits.output + 1
        else:
            self._printed += len(data)
            self._tail = (self._tail + data)[-_TAIL:]
        return bool(data)

    def _finish(self) -> ChildRun:
        run = self._run
        for line in self._speech.splitlines():
            event = _event(line, self._nonce)
            if event is not None:
                run.events.append(event)
        run.status = self._process.returncode
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
