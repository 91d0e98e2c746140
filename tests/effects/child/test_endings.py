# SPDX-License-Identifier: Apache-2.0
"""However a probe ends: only one whose `run` returned is good, and only a matched signature is bad."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.keys import Limits
from headwater.core.verdicts import Signature, Verdict
from headwater.effects.store import Store
from headwater.effects.workspace import Cache

if TYPE_CHECKING:
    from tests.effects.child.conftest import Probed

Probe = Callable[..., "Probed"]
LIMITS = Limits(seconds=60, memory=4 << 30, output=4 << 20, processes=64)
RAISE_THE_BUG = "transformers.update()"
FAKE = (
    """'{"event": "outcome", "nonce": "%s", "end": "returned", "phase": "run", "type": null, "message": null, """
    """"frame": null, "import_failure": false}\\n' % """
)

# The child flushes the case's output when the case has had its say.
AT_THE_END = "class Out:\n    def flush(self): act()\nsys.stdout = Out()\ndef act():"

ENDINGS = {
    "returns": ("return 1", "returned", Verdict.GOOD),
    "shows the bug": (RAISE_THE_BUG, "raised", Verdict.BAD),
    "fails otherwise": ("raise ValueError('The size of tensor a (8)')", "raised", Verdict.OTHER_FAILURE),
    "leaves with 0 before the end": ("os._exit(0)", "died", Verdict.OTHER_FAILURE),
    "leaves with 7": ("os._exit(7)", "died", Verdict.OTHER_FAILURE),
    "aborts": ("os.abort()", "died", Verdict.OTHER_FAILURE),
    "is killed": ("os.kill(os.getpid(), 9)", "killed", Verdict.OTHER_FAILURE),
    "exits with 0": ("raise SystemExit(0)", "raised", Verdict.OTHER_FAILURE),
    "exits": ("sys.exit()", "raised", Verdict.OTHER_FAILURE),
    "is interrupted": ("raise KeyboardInterrupt", "raised", Verdict.OTHER_FAILURE),
    "ends the generator": ("raise GeneratorExit", "raised", Verdict.OTHER_FAILURE),
    "fails after it returned": (f"{AT_THE_END} os._exit(3)", "died", Verdict.OTHER_FAILURE),
    "crashes after it returned": (f"{AT_THE_END} os.abort()", "died", Verdict.OTHER_FAILURE),
    "raises after it returned": (f"{AT_THE_END} 1 / 0", "returned", Verdict.GOOD),
    "leaves work for the interpreter's end": (
        "import atexit; atexit.register(os._exit, 3)", "returned", Verdict.GOOD
    ),
    "closes its output": ("os.close(1); os.close(2)", "raised", Verdict.OTHER_FAILURE),
    "points its output elsewhere": ("os.dup2(os.open('/dev/null', os.O_WRONLY), 1)", "raised", Verdict.OTHER_FAILURE),
    "points its errors elsewhere": ("os.dup2(os.open('/dev/null', os.O_WRONLY), 2)", "raised", Verdict.OTHER_FAILURE),
    "points its output elsewhere for a while": (
        "kept = os.dup(1); os.dup2(os.open('/dev/null', os.O_WRONLY), 1); os.dup2(kept, 1)", "returned", Verdict.GOOD
    ),
    "closes its output and shows the bug": (f"os.close(1); os.close(2)\n{RAISE_THE_BUG}", "raised", Verdict.BAD),
    "closes everything": ("os.closerange(0, 256)", "died", Verdict.OTHER_FAILURE),
    "closes everything and goes on": ("os.closerange(0, 256); time.sleep(0.5)", "died", Verdict.OTHER_FAILURE),
    "replaces its output": ("sys.stdout = sys.stderr = None; print('x')", "returned", Verdict.GOOD),
    "goes elsewhere": ("os.chdir('/')", "raised", Verdict.OTHER_FAILURE),
    "goes elsewhere and shows the bug": (f"os.chdir('/'); {RAISE_THE_BUG}", "raised", Verdict.BAD),
    "goes elsewhere and comes back": ("was = os.getcwd(); os.chdir('/'); os.chdir(was)", "returned", Verdict.GOOD),
    "removes where it is": ("import shutil; shutil.rmtree(os.getcwd())", "raised", Verdict.OTHER_FAILURE),
    "removes where it is and shows the bug": (
        "import shutil; shutil.rmtree(os.getcwd()); transformers.update()", "raised", Verdict.BAD
    ),
    "waits for input": ("input()", "raised", Verdict.OTHER_FAILURE),
    "leaves a thread that stays": (
        "import threading; threading.Thread(target=time.sleep, args=(60,)).start()", "returned", Verdict.GOOD
    ),
    "forks and lets the copy return": (
        "if os.fork() == 0: return\nos.wait(); os._exit(0)", "died", Verdict.OTHER_FAILURE
    ),
    "recurses": ("def deep(): deep()\ndeep()", "raised", Verdict.OTHER_FAILURE),
    "fakes the end on its output": (f"print({FAKE}'', flush=True); os._exit(0)", "died", Verdict.OTHER_FAILURE),
    "fakes the end on the protocol": (
        f"os.write(int(sys.argv[1]), ({FAKE}'0').encode()); os._exit(0)", "died", Verdict.OTHER_FAILURE
    ),
    "hides the bug behind a fake": (
        f"import atexit; atexit.register(os.write, int(sys.argv[1]), ({FAKE}'').encode()); {RAISE_THE_BUG}",
        "raised", Verdict.BAD,
    ),
    "says what is no event": (
        r"""os.write(int(sys.argv[1]), b'\xff\xfe\n[]\n1\nnull\n{"event": 1}\n{}\n"x"\n')""", "returned", Verdict.GOOD
    ),
    "says what is nested beyond reason": (
        r"os.write(int(sys.argv[1]), b'[' * 50_000 + b'\n')", "returned", Verdict.GOOD
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDINGS)
def test_ending(probe: Probe, name: str) -> None:
    body, end, verdict = ENDINGS[name]
    probed = probe(body)
    assert (probed.outcome.end, probed.outcome.phase, probed.verdict) == (end, "run", verdict)


@pytest.mark.parametrize("name", ["closes its output", "goes elsewhere", "removes where it is"])
def test_a_case_that_took_away_what_a_verdict_rests_on_is_told_so(probe: Probe, name: str) -> None:
    evidence = probe(ENDINGS[name][0]).outcome.evidence
    assert evidence.type == "CaseMisbehaved"
    assert "output or working folder" in str(evidence.message)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("print('last words', flush=True); os._exit(7)", "ended with status 7 before it was done; last words"),
        ("os.abort()", "ended by signal 6"),
        ("os._exit(0)", "ended with status 0 before it was done; it printed nothing"),
    ],
)
def test_a_death_is_told_with_its_last_words(probe: Probe, body: str, words: str) -> None:
    evidence = probe(body).outcome.evidence
    assert evidence.type == "ProcessDied"
    assert words in str(evidence.message)


def test_a_death_can_be_the_bug(probe: Probe) -> None:
    assert probe("os.abort()", signatures=(Signature("ProcessDied", "signal 6"),)).verdict is Verdict.BAD


@pytest.mark.parametrize(
    ("raising", "message"),
    [
        ("def __str__(self): raise ValueError('no')", "<its message cannot be shown: ValueError>"),
        ("def __str__(self): return 5", "<its message cannot be shown: TypeError>"),
        ("def __str__(self): return 'x' * 10_000_000", "x" * 4000),
        ("def __eq__(self, other): raise ValueError('no')", "first"),
        ("__hash__ = None", "first"),
    ],
)
def test_exceptions_that_misbehave(probe: Probe, raising: str, message: str) -> None:
    module = (
        f"class Odd(Exception):\n    {raising}\n"
        "def run(device):\n    try:\n        raise Odd('second')\n    except Odd as error:\n"
        "        raise Odd('first') from error\n"
    )
    probed = probe(module=module, signatures=(Signature("Odd", ""),))
    assert (probed.outcome.evidence.type, probed.outcome.evidence.message) == ("Odd", message)
    assert probed.verdict is Verdict.BAD


def test_a_message_that_is_no_unicode_can_be_stored(probe: Probe, cache: Cache) -> None:
    probed = probe(r"raise FileNotFoundError('no file caf\udce9')", signatures=(Signature("FileNotFoundError", "caf"),))
    assert probed.verdict is Verdict.BAD
    Store(cache.store).record(
        "key", probed.outcome, case="c", revision="r", tree="t", environment="e", device="cpu", output=probed.run.output
    )
    recalled = Store(cache.store).recall("key")
    assert recalled is not None and "no file caf" in str(recalled.evidence.message)


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
        "os.close(1); os.close(2); time.sleep(60)",
        f"{AT_THE_END} time.sleep(60)",
    ],
    ids=["endless loop", "deaf", "mute", "after it returned"],
)
def test_the_time_limit(probe: Probe, body: str) -> None:
    began = time.monotonic()
    probed = probe(body, limits=replace(LIMITS, seconds=2))
    assert 2 <= time.monotonic() - began < 8
    assert (probed.outcome.end, probed.outcome.phase, probed.verdict) == ("time-limit", "run", Verdict.OTHER_FAILURE)
    assert probed.outcome.evidence.message == "no end within 2 s"


@pytest.mark.parametrize(
    "body",
    [
        "for _ in range(100): os.write(1, b'x' * (1 << 20))",
        "for _ in range(100): os.write(2, b'line\\n' * 200_000)",
        "for _ in range(100): os.write(int(sys.argv[1]), b'x' * (1 << 20))",
    ],
    ids=["output", "errors", "protocol"],
)
def test_the_output_limit(probe: Probe, body: str) -> None:
    probed = probe(body, limits=replace(LIMITS, output=1 << 20))
    assert (probed.outcome.end, probed.verdict) == ("output-limit", Verdict.OTHER_FAILURE)
    assert len(probed.run.output) <= 20_000


def test_much_output_below_the_limit_is_good_and_its_end_is_kept(probe: Probe) -> None:
    probed = probe("for n in range(100_000): print('line', n)")
    assert probed.verdict is Verdict.GOOD
    assert probed.run.output.endswith("line 99999\n")
    assert len(probed.run.output) == 20_000


def test_output_that_is_no_text(probe: Probe) -> None:
    probed = probe(r"os.write(1, b'caf\xe9 \x00 \xff\n'); os.write(2, b'\xc3')")
    assert probed.verdict is Verdict.GOOD
    assert probed.run.output == "caf\ufffd \0 \ufffd\n\ufffd"


@pytest.mark.skipif(not hasattr(os, "fork") or os.uname().sysname != "Linux", reason="only Linux bounds address space")
def test_the_memory_limit(probe: Probe) -> None:
    limits = replace(LIMITS, memory=512 << 20)
    assert probe("len(bytearray(50 << 20))", limits=limits).verdict is Verdict.GOOD
    probed = probe("len(bytearray(1 << 30))", limits=limits)
    assert (probed.outcome.evidence.type, probed.verdict) == ("MemoryError", Verdict.OTHER_FAILURE)
    # Address space alone, which no memory stands behind.
    reserve = "import mmap; mmap.mmap(-1, 1 << 30)"
    assert probe(reserve, limits=limits).outcome.evidence.type == "OSError"
    assert probe(reserve, limits=replace(LIMITS, memory=0)).verdict is Verdict.GOOD


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose processes there are")
@pytest.mark.parametrize("session", ["True", "False"], ids=["in sessions of their own", "in its group"])
def test_the_limit_on_processes(probe: Probe, session: str) -> None:
    body = (
        "import subprocess\n"
        f"started = [subprocess.Popen(['sleep', '60'], start_new_session={session}) for _ in range(6)]\n"
        "print(*(process.pid for process in started), flush=True)\ntime.sleep(1.5)\n"
        "for process in started: process.kill(); process.wait()\n"
    )
    assert probe(body, limits=replace(LIMITS, processes=8)).verdict is Verdict.GOOD
    probed = probe(body, limits=replace(LIMITS, processes=5))
    assert (probed.outcome.end, probed.outcome.phase, probed.verdict) == ("process-limit", "run", Verdict.OTHER_FAILURE)
    assert probed.outcome.evidence.message == "had more than 5 processes"
    assert not [number for number in probed.run.output.split() if is_alive(int(number))]


def test_no_core_is_left(probe: Probe) -> None:
    body = "import resource; assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)"
    assert probe(body).verdict is Verdict.GOOD


def is_alive(number: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


DESCENDANTS = {
    "a program": "import subprocess; print(subprocess.Popen(['sleep', '60']).pid, flush=True)",
    "a copy that keeps the pipes": "n = os.fork()\nif n == 0: time.sleep(60); os._exit(0)\nprint(n, flush=True)",
    "a copy that prints": (
        "n = os.fork()\nwhile n == 0: os.write(1, b'.'); time.sleep(0.05)\nprint(n, flush=True)"
    ),
    "a program in a session of its own": (
        "import subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True).pid, flush=True)"
    ),
    "a copy in a session of its own, twice removed": (
        "n = os.fork()\nif n == 0:\n    os.setsid()\n    n = os.fork()\n"
        "    if n: print(n, flush=True); os._exit(0)\n    time.sleep(60); os._exit(0)\nos.waitpid(n, 0)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", DESCENDANTS)
@pytest.mark.parametrize("ending", ["", RAISE_THE_BUG])
def test_no_process_is_left_and_nobody_waits_for_one(probe: Probe, kind: str, ending: str) -> None:
    began = time.monotonic()
    probed = probe(f"{DESCENDANTS[kind]}\n{ending}")
    assert time.monotonic() - began < 4
    number = int(probed.run.output.replace(".", "").split()[0])
    try:
        assert probed.verdict is (Verdict.BAD if ending else Verdict.GOOD)
        time.sleep(0.05)
        assert not is_alive(number)
    finally:
        if is_alive(number):
            os.kill(number, 9)


def test_a_copy_of_the_child_cannot_speak_for_it(probe: Probe) -> None:
    # The copy's `run` returns after the child said what it saw, and before the child has ended.
    body = f"{AT_THE_END} time.sleep(1.5)\nif os.fork() == 0: time.sleep(0.5); return\n{RAISE_THE_BUG}"
    probed = probe(body)
    assert [event["event"] for event in probed.run.events].count("outcome") == 1
    assert probed.verdict is Verdict.BAD
