# SPDX-License-Identifier: Apache-2.0
"""The part of Headwater that runs inside a probed environment: standard library only, alone in its folder.

It reads one request, a line of JSON, from standard input, and writes events, one JSON object a line, to the file
descriptor that its argument names. Standard output and error belong to the case.

Requests (`"protocol": 1`):
    {"op": "probe", "nonce", "tree", "package", "cases", "case", "device", "memory", "processes"}
    {"op": "device", "nonce", "device"}
Events, each with the request's nonce, so that nothing a case prints can be taken for one:
    {"event": "phase", "phase": "device" | "library" | "case" | "run"}
    {"event": "outcome", "end": "returned" | "absent" | "raised" | "no-device", "phase", "type", "message", "frame",
     "import_failure"}
    {"event": "device", "available", "model", "driver", "reason"}

It judges nothing: whether an exception is the bug is for the caller to say.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import sys
from types import ModuleType
from typing import Any

PROTOCOL = 1
MESSAGE_LIMIT = 4000


class Speaker:
    """Writes events to the caller."""

    def __init__(self, descriptor: int, nonce: str) -> None:
        self._descriptor = descriptor
        self._nonce = nonce
        self._process = os.getpid()
        # Processes that a case starts must not hold the pipe open.
        os.set_inheritable(descriptor, False)

    def say(self, event: str, **fields: object) -> None:
        # A case that forks comes back here in its child as well: only one process speaks for the probe.
        if os.getpid() != self._process:
            os._exit(1)
        line = json.dumps({"event": event, "nonce": self._nonce, **fields}) + "\n"
        data = line.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._descriptor, data) :]


def set_limits(request: dict[str, Any]) -> None:
    """Bound memory (where no accelerator maps its own) and processes, for this process and what it starts."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wanted = {"RLIMIT_AS": request["memory"], "RLIMIT_NPROC": request["processes"]}
    for name, value in wanted.items():
        kind = getattr(resource, name, None)
        if kind is None or not value:
            continue
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def deepest_frame(error: BaseException, package: str) -> str | None:
    """The last frame of the traceback that lies in the library: `transformers/cache_utils.py:742 in update`."""
    module = sys.modules.get(package)
    home = getattr(module, "__file__", None)
    if not home:
        return None
    # Not resolved: the files of a tree may be links to ones that several trees share.
    folder = os.path.dirname(os.path.abspath(home))
    found = None
    trace = error.__traceback__
    while trace is not None:
        file = os.path.abspath(trace.tb_frame.f_code.co_filename)
        if file.startswith(folder + os.sep):
            inside = os.path.relpath(file, os.path.dirname(folder)).replace(os.sep, "/")
            found = f"{inside}:{trace.tb_lineno} in {trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    return found


def comes_from_import(error: BaseException | None) -> bool:
    """Whether an exception, or one that it was raised from, is an ImportError."""
    seen: list[BaseException] = []
    while error is not None and not any(error is other for other in seen):
        if isinstance(error, ImportError):
            return True
        seen.append(error)
        error = error.__cause__
    return False


def text_of(error: BaseException) -> str:
    try:
        return str(error)[:MESSAGE_LIMIT].encode("utf-8", "backslashreplace").decode("utf-8")
    except Exception as second:
        return f"<its message cannot be shown: {type(second).__name__}>"


def report(speaker: Speaker, end: str, phase: str, error: BaseException, package: str) -> None:
    speaker.say(
        "outcome",
        end=end,
        phase=phase,
        type=type(error).__name__,
        message=text_of(error),
        frame=deepest_frame(error, package),
        import_failure=comes_from_import(error),
    )


def end_with_parent() -> None:
    """Have Linux kill this process when Headwater is killed: nobody would be left to enforce its limits."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1  # PR_SET_PDEATHSIG in linux/prctl.h
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def open_device(name: str) -> None:
    """Use the device once: what cannot hold one number is not there."""
    torch = sys.modules["torch"]
    torch.empty(1, device=name)


def load_case(folder: str, file: str) -> ModuleType:
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("headwater_case", os.path.join(folder, file))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["headwater_case"] = module
    spec.loader.exec_module(module)
    return module


def probe(request: dict[str, Any], speaker: Speaker) -> None:
    package = request["package"]
    phase = "device"
    speaker.say("phase", phase=phase)
    # An environment without a working torch is no matter of the library: this may end the process.
    import torch  # noqa: F401

    try:
        open_device(request["device"])
    except Exception as error:
        report(speaker, "no-device", phase, error, package)
        return
    try:
        phase = "library"
        speaker.say("phase", phase=phase)
        sys.path.insert(0, request["tree"])
        __import__(package)
        phase = "case"
        speaker.say("phase", phase=phase)
        case = load_case(request["cases"], request["case"])
        phase = "run"
        speaker.say("phase", phase=phase)
        case.run(request["device"])
    except BaseException as error:
        end = "absent" if getattr(type(error), "headwater_outcome", None) == "absent" else "raised"
        report(speaker, end, phase, error, package)
        return
    speaker.say("outcome", end="returned", phase=phase, type=None, message=None, frame=None, import_failure=False)


def describe_device(request: dict[str, Any], speaker: Speaker) -> None:
    """Say whether a device is there, and of which model and driver it is."""
    import torch

    name = request["device"]
    try:
        open_device(name)
    except Exception as error:
        speaker.say("device", available=False, model="", driver="", reason=text_of(error))
        return
    kind = name.partition(":")[0]
    model, driver = "", ""
    if kind in ("cuda", "xpu"):
        model = getattr(torch, kind).get_device_name(name)
        version = getattr(torch._C, "_cuda_getDriverVersion", None) if kind == "cuda" else None
        driver = str(version()) if version else ""
    speaker.say("device", available=True, model=model, driver=driver, reason="")


def main() -> None:
    request = json.loads(sys.stdin.readline())
    if request["protocol"] != PROTOCOL:
        sys.exit(f"this child speaks protocol {PROTOCOL}, not {request['protocol']}")
    end_with_parent()
    speaker = Speaker(int(sys.argv[1]), request["nonce"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if request["op"] == "device":
        describe_device(request, speaker)
        return
    set_limits(request)
    probe(request, speaker)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    # The case has had its say: threads that it left running, and what runs at an interpreter's end, change nothing.
    os._exit(0)


if __name__ == "__main__":
    main()
