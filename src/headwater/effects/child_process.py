# SPDX-License-Identifier: Apache-2.0
"""The child's file, the environment that it runs with, and running it once as a plain process."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from headwater.child import probe_child, serve, tree_code
from headwater.core.errors import HarnessError
from headwater.core.keys import Limits
from headwater.effects.files import clear_away
from headwater.effects.proc import Process, end_group, end_strays, has_ended, start_in_group, started_with
from headwater.effects.watch import ChildRun, Pipes, Watch

CHILD = Path(probe_child.__file__)
SERVER = Path(serve.__file__)
PROTOCOL = probe_child.PROTOCOL
_VERSIONED = (CHILD, SERVER, Path(tree_code.__file__), Path(__file__))
# Both ends of the protocol: what runs in the environment, and how it is started.
CHILD_VERSION = sha256(b"".join(path.read_bytes() for path in _VERSIONED)).hexdigest()

# What a probe may see of the caller's environment, besides PATH: it is part of a verdict's key. Nothing that holds a
# token or points at a home folder.
_ALLOWED = (
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "PYTORCH_CUDA_ALLOC_CONF",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip


@dataclass(frozen=True)
class Scratch:
    """The folder that a probe lives in: a home, a working folder, and the case's files."""

    root: Path

    @property
    def home(self) -> Path:
        """The HOME of the probe."""
        return self.root / "home"

    @property
    def work(self) -> Path:
        """Where it starts."""
        return self.root / "work"

    @property
    def cases(self) -> Path:
        """The case and what it imports from beside it."""
        return self.root / "case"

    def renew(self, files: Mapping[str, bytes]) -> None:
        """Empty all three, and lay out the case's files."""
        for folder in (self.home, self.work, self.cases):
            clear_away(folder)
            folder.mkdir(parents=True)
        for name, content in files.items():
            (self.cases / name).write_bytes(content)


def passed_on() -> dict[str, str]:
    """The variables of the caller's environment that a probe sees and a verdict may depend on."""
    return {name: os.environ[name] for name in _ALLOWED if name in os.environ}


def child_environment(scratch: Scratch) -> dict[str, str]:
    """The environment of a child: an allow-list, a scratch home, and no way to the hub."""
    return {
        **passed_on(),
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "HOME": str(scratch.home),
        "TMPDIR": str(scratch.work),
        "HF_HOME": str(scratch.home / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def child_command(python: Path, file: Path, descriptor: int, *modules: str) -> list[str]:
    """How the child, or the server, is started. -B: an environment stays as it was published."""
    return [str(python), "-I", "-B", str(file), str(descriptor), *modules]


def run_child(
    python: Path, request: Mapping[str, object], scratch: Scratch, limits: Limits,
    abandoned: Callable[[], bool] = bool,
) -> ChildRun:  # fmt: skip
    """Run the child once, in a process group of its own that is gone afterwards.

    Raises:
        HarnessError: the interpreter could not be started.
        Abandoned: nobody waits for the run any more.
    """
    nonce = secrets.token_hex(16)
    line = json.dumps({**request, "protocol": PROTOCOL, "nonce": nonce}).encode() + b"\n"
    mark = f"TMPDIR={scratch.work}"
    pipes = Pipes()
    try:
        process = start_in_group(
            child_command(python, CHILD, pipes.says_writer),
            environ={**child_environment(scratch), **_variables(request)},
            cwd=scratch.work,
            pass_fds=[pipes.says_writer],
            output=pipes.prints_writer,
        )
    except OSError as error:
        pipes.close()
        raise HarnessError(f"{python} could not be started: {error}") from error
    finally:
        pipes.close_writers()
    try:
        _send(process, line)
        watch = Watch(
            pipes, limits, nonce, lambda: has_ended(process), processes=lambda: len(started_with(mark)),
            abandoned=abandoned,
        )  # fmt: skip
        run = watch.to_the_end()
    finally:
        end_group(process)
        end_strays(mark)
        pipes.close()
    run.status = process.returncode
    return run


def _variables(request: Mapping[str, object]) -> dict[str, str]:
    """The request's own variables: some are read when the interpreter's modules are first imported."""
    variables = request["variables"]
    assert isinstance(variables, dict)
    return variables


def _send(process: Process, line: bytes) -> None:
    assert process.stdin is not None
    # Where it died at once, its exit status and output say why.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(line)
        process.stdin.close()
