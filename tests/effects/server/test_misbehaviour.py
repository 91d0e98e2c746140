# SPDX-License-Identifier: Apache-2.0
"""Nothing that a case does is taken for good, outlasts its limit, outlives its probe, or harms the next one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from headwater.core.verdicts import Verdict
from headwater.effects import fork_server

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")

BUG = "transformers.update()"
OTHER, HARNESS = Verdict.OTHER_FAILURE, Verdict.HARNESS_ERROR
# Writes down the process's own number, so that it is found whatever it does to hide.
HERE = "open(PIDS + '/' + str(os.getpid()), 'w').close()"
STRAY = f"if os.fork() == 0:\n    os.setsid(); {HERE}\n    time.sleep(60); os._exit(0)\ntime.sleep(0.2)\n"
TWICE = (
    f"if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    {HERE}\n    time.sleep(60); os._exit(0)\n"
    "os.wait(); time.sleep(0.2)\n"
)
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + STRAY
SCRUBBED = (
    "stray = subprocess.Popen(['sleep', '60'], env={}, cwd='/', start_new_session=True, stdout=subprocess.DEVNULL,"
    " stderr=subprocess.DEVNULL)\nopen(PIDS + '/' + str(stray.pid), 'w').close()\n"
)
TREE = "import shutil; library = os.path.dirname(transformers.__file__)\n"
LATE = TREE + "place = library + '/late.py'; state = os.stat(place)\n"

# What a case does, and the verdict; each has a second to do it, or five where it ends by itself.
ENDINGS = {
    "loops": ("while True: pass", OTHER),
    "loops and is deaf": (f"{DEAF}while True: pass", OTHER),
    "stops itself": ("os.kill(os.getpid(), signal.SIGSTOP)", OTHER),
    "forks and both return": ("os.fork()", OTHER),
    "forks and the copy returns first": ("if os.fork() == 0: return\nos.wait()", OTHER),
    "forks and the copy shows no bug": (f"if os.fork() == 0: return\nos.wait(); {BUG}", Verdict.BAD),
    "forks without end": ("for _ in range(300):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(60)", OTHER),
    "doubles": ("for _ in range(9): os.fork()\ntime.sleep(60)", OTHER),
    "leaves a session": (STRAY, OTHER),
    "leaves a session, twice removed": (TWICE, OTHER),
    "leaves one that is deaf": (DEAF, OTHER),
    "leaves one without an environment": (SCRUBBED, OTHER),
    "leaves a session and shows the bug": (TWICE + SCRUBBED + BUG, Verdict.BAD),
    "leaves a session and loops": (f"{STRAY}{TWICE}{SCRUBBED}while True: pass", OTHER),
    "leaves one that hops": (
        "if os.fork() == 0:\n    os.setsid(); end = time.monotonic() + 6\n    while time.monotonic() < end:\n"
        "        if os.fork(): os._exit(0)\n    os._exit(0)\n" + BUG, Verdict.BAD,
    ),
    "eats memory": ("bytearray(1 << 40)", OTHER),
    "eats memory bit by bit": ("held = []\nwhile True: held.append(bytearray(16 << 20))", OTHER),
    "eats memory and goes on": (
        "held = []\nwhile True:\n    try: held.append(bytearray(16 << 20))\n    except MemoryError: pass", OTHER
    ),
    "prints a gigabyte": ("for _ in range(1024): os.write(1, b'x' * (1 << 20))", OTHER),
    "prints what is no text and leaves": (r"os.write(1, b'\xe9 \x00\xff'); os.write(2, b'\xc3'); os._exit(0)", OTHER),
    "prints what is no text and shows the bug": (
        rf"os.write(1, b'caf\xe9 \x00\xff\n' * 9); os.write(2, b'\xc3'); {BUG}", Verdict.BAD
    ),
    "crashes": ("import ctypes; ctypes.string_at(0)", OTHER),
    "ends itself": ("os.kill(os.getpid(), signal.SIGKILL)", OTHER),
    "leaves before the point": ("os._exit(0)", OTHER),
    "leaves at the interpreter's end": ("import atexit; atexit.register(os._exit, 0); sys.exit(0)", OTHER),
    "closes its output": ("os.close(1); os.close(2)", OTHER),
    "sends its output elsewhere": ("os.dup2(os.open('/dev/null', os.O_WRONLY), 1)", OTHER),
    "closes everything": ("os.closerange(0, 4096)", OTHER),
    "closes everything and goes on": ("os.closerange(0, 4096)\nwhile True: pass", OTHER),
    "goes elsewhere": ("os.chdir('/')", OTHER),
    "removes where it is": ("os.rmdir(os.getcwd())", OTHER),
    "deletes its tree": (f"{TREE}shutil.rmtree(library)", HARNESS),
    "deletes a file of its tree": (f"{LATE}os.unlink(place)", HARNESS),
    "adds a file to its tree": (f"{TREE}open(library + '/new.py', 'w').close()", HARNESS),
    "writes to a file of its tree": (f"{LATE}open(place, 'a').write('Y = 2')", HARNESS),
    "deletes its tree and shows the bug": (f"{TREE}shutil.rmtree(library); {BUG}", Verdict.BAD),
    "deletes its scratch": ("import shutil; shutil.rmtree(os.path.dirname(os.environ['HOME']))", OTHER),
    "puts a file in place of its home": (
        f"os.rmdir(os.environ['HOME']); open(os.environ['HOME'], 'w').close(); {BUG}", Verdict.BAD
    ),
    "puts a link in place of its home": (
        f"os.rmdir(os.environ['HOME']); os.symlink('/', os.environ['HOME']); {BUG}", Verdict.BAD
    ),
    "digs deep": (
        "here = os.getcwd()\nfor _ in range(1500): os.mkdir('d'); os.chdir('d')\n" f"os.chdir(here); {BUG}", Verdict.BAD
    ),
}  # fmt: skip


def check(lab: Lab, body: str, verdict: Verdict, within: float, seconds: int = 1) -> None:
    """The verdict of a case's lines comes in time, nothing is left, and the next probes are right."""
    with lab.prober() as probe:
        probe()
        began = time.monotonic()
        seen = probe(body.replace("PIDS", repr(str(lab.root / "pids"))), seconds=seconds)
        took = time.monotonic() - began
        left = lab.left_after()
        after = [probe().verdict, probe(BUG).verdict]
        assert (seen.verdict, after) == (verdict, [Verdict.GOOD, Verdict.BAD]), seen.evidence
        assert left == []
        assert took < within
    assert lab.left_after() == []


@pytest.mark.parametrize("name", ENDINGS)
def test_what_a_case_does(lab: Lab, limits: Callable[..., None], name: str) -> None:
    limits(memory=1 << 30, output=1 << 20, processes=64)
    body, verdict = ENDINGS[name]
    # Those that show the bug end by themselves, however busy the machine is.
    seconds = 5 if verdict is Verdict.BAD else 1
    check(lab, body, verdict, within=seconds + 3, seconds=seconds)
    assert lab.counted("servers") == 1


SERVER = "server = os.getppid()\n"
ATTACKS = {
    "kills it": "os.kill(server, signal.SIGKILL); time.sleep(60)",
    "kills it and stays": (
        "import ctypes; ctypes.CDLL(None).prctl(1, 0, 0, 0, 0); os.kill(server, signal.SIGKILL); time.sleep(60)"
    ),
    "kills it and leaves sessions": f"{STRAY}{TWICE}os.kill(server, signal.SIGKILL); time.sleep(60)",
    "kills it and leaves one without an environment": f"{SCRUBBED}os.kill(server, signal.SIGKILL); time.sleep(60)",
    "kills it and takes its files away": (
        "import shutil; shutil.rmtree(os.path.dirname(os.environ['HOME']))\n"
        "os.kill(server, signal.SIGKILL); time.sleep(60)"
    ),
    "stops it": "os.kill(server, signal.SIGSTOP)",
    "stops it and loops": "os.kill(server, signal.SIGSTOP)\nwhile True: pass",
    "interrupts it": "os.kill(server, signal.SIGINT); time.sleep(60)",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_case_that_turns_on_its_server(lab: Lab, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(fork_server, "_END", 0.5)
    check(lab, SERVER + ATTACKS[name], Verdict.HARNESS_ERROR, within=6)
    # The one that was there, the one that was started again for the probe, and the one for the next probe.
    assert lab.counted("servers") == 3
    assert sum("starting it again" in warning for warning in lab.warnings()) == 1


def test_a_server_that_dies_once_is_started_again(lab: Lab) -> None:
    flag = lab.root / "flag"
    body = f"if not os.path.exists({str(flag)!r}):\n    open({str(flag)!r}, 'w').close()\n    {SERVER.strip()}\n"
    body += "    os.kill(server, signal.SIGKILL); time.sleep(60)\n"
    with lab.prober() as probe:
        probe()
        assert probe(body + BUG).verdict is Verdict.BAD
        assert lab.counted("servers") == 2
        [warning] = lab.warnings()
        assert "starting it again" in warning


def test_a_server_that_died_between_two_probes(lab: Lab) -> None:
    assert lab.run().verdict is Verdict.GOOD
    number = int(lab.run(f"{SERVER}print(server)").run.output)
    os.kill(number, signal.SIGKILL)
    assert lab.run(BUG).verdict is Verdict.BAD
    assert lab.counted("servers") == 2


def test_a_dead_server_is_a_harness_error_and_says_so(lab: Lab) -> None:
    with lab.prober() as probe:
        seen = probe(f"{SERVER}os.kill(server, signal.SIGKILL); time.sleep(60)")
    assert (seen.verdict, seen.evidence.type) == (Verdict.HARNESS_ERROR, "ProcessDied")
    assert "the server of probes" in str(seen.evidence.message)
