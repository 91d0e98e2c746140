# SPDX-License-Identifier: Apache-2.0
"""The part of Headwater that runs inside a probed environment: standard library only, alone in its folder with the
server that forks for it (`serve.py`), what imports a tree (`tree_code.py`) and what records (`recorder.py`).

Either as a fork or as a process of its own (`probe_child.py FD`) it reads one request and writes events, one JSON
object a line, to a pipe of its own. Standard output and error belong to the case.

Requests (`"protocol": 1`):
    {"op": "probe", "nonce", "tree", "manifest", "code", "package", "cases", "case", "device", "memory", "work",
     "variables", "torch", "report_modules", "record"}: `torch`, whether the environment has it; `record`, where it is
     there, as `recorder.py` says
    {"op": "device", "nonce", "device", "work", "variables"}
Events, each with the request's nonce, so that nothing a case prints can be taken for one:
    {"event": "phase", "phase": "device" | "library" | "case" | "run"}
    {"event": "record", "frames"}: where it was recorded what ran, see `recorder.py`
    {"event": "tests", "results": [[name, "passed" | "failed" | "skipped", reason]]}: of a case that runs many tests
    {"event": "outcome", "end": "returned" | "absent" | "raised" | "no-device", "phase", "type", "message", "frame",
     "import_failure"}
    {"event": "device", "available", "model", "driver", "reason"}
    {"event": "code", "compiled", "loaded", "damaged"}: files of the tree, and entries of the byte-code cache
    {"event": "modules", "names"}: what was imported from outside the tree, besides what the fork server had
    {"event": "copy"}: a copy of the process, by a fork of the case, came to the end of the case as well
    {"event": "damage", "path"}: a file of the tree is not what its manifest says; nothing was run

It judges nothing: whether an exception is the bug is for the caller to say.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import json
import os
import platform
import signal
import sys
from collections.abc import Callable, Container
from types import ModuleType
from typing import Any, NoReturn

PROTOCOL = 1
MESSAGE_LIMIT = 4000
REASON_LIMIT = 500


class CaseMisbehaved(Exception):
    """A case returned after it had taken away what a verdict rests on: its output or its working folder."""


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
        copied = os.getpid() != self._process
        line = json.dumps({"event": "copy" if copied else event, "nonce": self._nonce, **fields}) + "\n"
        data = line.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(self._descriptor, data) :]
        if copied:
            os._exit(1)


def sibling(name: str) -> ModuleType:
    """A file of this folder, which is not on the path of an isolated interpreter."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    spec = importlib.util.spec_from_file_location(f"headwater_{name.removesuffix('.py')}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tree_code = sibling("tree_code.py")


def set_limits(memory: int, for_good: bool = True) -> None:
    """Bound the address space, where no accelerator maps its own, for this process and what it starts; `for_good`, or
    until it is raised again."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        bound = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound if for_good else hard))


def prctl(option: int, value: int) -> None:
    """Set a property of this process on Linux, see linux/prctl.h."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def end_with_parent() -> None:
    """Have this process killed when the one that started it is: nobody would be left to enforce its limits."""
    prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def deepest_frame(error: BaseException, package: str) -> str | None:
    """The last frame of the traceback that lies in the library: `package/file.py:742 in function`."""
    home = getattr(sys.modules.get(package), "__file__", None)
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


def open_device(name: str) -> None:
    """Use the device once: what cannot hold one number is not there."""
    sys.modules["torch"].empty(1, device=name)


def load_case(folder: str, file: str) -> ModuleType:
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("headwater_case", os.path.join(folder, file))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["headwater_case"] = module
    spec.loader.exec_module(module)
    return module


def places() -> tuple[object, ...]:
    """The identity of what a verdict rests on besides the tree: standard output and error, the working folder."""
    streams = [os.fstat(descriptor) for descriptor in (1, 2)]
    return (*((state.st_dev, state.st_ino) for state in streams), os.getcwd())


def run_case(case: ModuleType, device: str) -> None:
    before = places()
    case.run(device)
    try:
        after = places()
    except OSError as error:
        raise CaseMisbehaved(f"it took its output or working folder away: {error}") from error
    if after != before:
        raise CaseMisbehaved("it returned with another output or working folder than it was given")


def tell_tests(speaker: Speaker, case: ModuleType | None) -> None:
    """Say what a case that runs many tests has kept of each: names are whole, reasons may be cut.

    Before the outcome, so that whoever has heard that one has heard of every test.
    """
    rows = getattr(case, "headwater_tests", None)
    if rows is not None:
        results = [[name, result, reason and reason[:REASON_LIMIT]] for name, result, reason in rows]
        speaker.say("tests", results=results)


def recording(request: dict[str, Any], code: Any, speaker: Speaker) -> Callable[[BaseException | None], None]:
    """Record from now on, where the request asks for it. What is given back ends it, and says what it has to say."""
    if "record" not in request:
        return lambda error: None
    recorder = sibling("recorder.py").Recorder(request["record"], code)
    return lambda error: speaker.say("record", frames=recorder.finish(error))


def has_device(request: dict[str, Any], speaker: Speaker) -> bool:
    """Whether the request's device is there; that it is not is reported."""
    # An environment without a working torch is no matter of the library: this may end the process.
    import torch  # noqa: F401

    try:
        open_device(request["device"])
    except Exception as error:
        report(speaker, "no-device", "device", error, request["package"])
        return False
    return True


def probe(request: dict[str, Any], speaker: Speaker, library: Any, known: Container[str]) -> None:
    package = request["package"]
    phase = "device"
    speaker.say("phase", phase=phase)
    if request["torch"] and not has_device(request, speaker):
        return
    code = library or tree_code.TreeCode(request, speaker)
    code.speak_for(speaker)
    finish = recording(request, code, speaker)
    case = None
    try:
        phase = "library"
        speaker.say("phase", phase=phase)
        if library is None:
            code.install()
            __import__(package)
        phase = "case"
        speaker.say("phase", phase=phase)
        case = load_case(request["cases"], request["case"])
        phase = "run"
        speaker.say("phase", phase=phase)
        run_case(case, request["device"])
    except BaseException as error:
        finish(error)
        tell_tests(speaker, case)
        end = "absent" if getattr(type(error), "headwater_outcome", None) == "absent" else "raised"
        report(speaker, end, phase, error, package)
    else:
        finish(None)
        tell_tests(speaker, case)
        speaker.say("outcome", end="returned", phase=phase, type=None, message=None, frame=None, import_failure=False)
    speaker.say("code", **code.counts())
    if request.get("report_modules"):
        speaker.say("modules", names=modules_outside((request["tree"], request["cases"]), known))


def modules_outside(folders: tuple[str, ...], known: Container[str] = ()) -> list[str]:
    """The modules besides those `known` that were imported from files outside of `folders`, in the order of import."""
    found = []
    for name, module in list(sys.modules.items()):
        if name not in known and name != "__main__":
            file = getattr(module, "__file__", None)
            if file and not file.startswith(folders):
                found.append(name)
    return found


def driver_version(kind: str) -> str:
    """The version of an accelerator's driver, as Linux tells it."""
    places = {"cuda": "/proc/driver/nvidia/version", "xpu": "/sys/module/xe/version"}
    try:
        with open(places[kind], encoding="utf-8") as stream:
            return stream.readline().strip()
    except OSError:
        return platform.release()  # A driver that comes with the kernel.


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
    model, driver = platform.machine(), platform.mac_ver()[0]
    if kind in ("cuda", "xpu"):
        model = getattr(torch, kind).get_device_name(name)
        driver = driver_version(kind)
    speaker.say("device", available=True, model=model, driver=driver, reason="")


def answer(request: dict[str, Any], events: int, library: Any = None, known: Container[str] = ()) -> NoReturn:
    """Answer one request in this process, and end it. `library`: the code of the request's tree, where the library is
    imported already; the modules `known` need not be reported."""
    end_with_parent()
    speaker = Speaker(events, request["nonce"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.chdir(request["work"])
    os.environ.update(request["variables"])
    if request["op"] == "device":
        describe_device(request, speaker)
    else:
        set_limits(request["memory"])
        probe(request, speaker, library, known)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    # The case has had its say: threads that it left running, and what runs at an interpreter's end, change nothing.
    os._exit(0)


def main() -> None:
    request = json.loads(sys.stdin.readline())
    if request["protocol"] != PROTOCOL:
        sys.exit(f"this child speaks protocol {PROTOCOL}, not {request['protocol']}")
    answer(request, int(sys.argv[1]))


if __name__ == "__main__":
    main()
