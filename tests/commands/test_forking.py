# SPDX-License-Identifier: Apache-2.0
"""A run that is forked ends as one that is started."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from forking import PACKAGE, run_code, run_module

# What Headwater itself sets when it is imported is there as well.
TELL = """
import os, sys
import headwater.effects.git
sys.stdout.write("\\n".join([*sys.argv, os.getcwd(), *(f"{name}={os.environ[name]}" for name in sorted(os.environ))]))
sys.stderr.write(repr((sys.stdin.read(), __name__, sys.flags.dont_write_bytecode, sys.stdout.isatty())))
sys.exit(7)
"""


def surroundings(**environ: str) -> dict[str, str]:
    """The variables of a run."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE), "HOME": os.environ["HOME"], **environ}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What has runs started from here on."""
    monkeypatch.delenv("HEADWATER_TEST_FORK", raising=False)
    return monkeypatch


@pytest.mark.parametrize("words", [("--version",), ("repro", "--help"), ("repro", "5.10.3", "--json"), ("no-such",)])
def test_the_same_is_said(words: tuple[str, ...], started: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environ = surroundings(HEADWATER_CACHE=str(tmp_path / "cache"), HEADWATER_WORKSPACE=str(PACKAGE.parent))
    forked = run_module(words, tmp_path, environ)
    started.setenv("HEADWATER_TEST_FORK", "0")
    assert run_module(words, tmp_path, environ) == forked


@pytest.mark.parametrize("more", [{}, {"PYTHONDONTWRITEBYTECODE": "1", "OWN": "a\nb"}])
def test_the_same_is_seen(more: dict[str, str], started: pytest.MonkeyPatch) -> None:
    forked = run_code(TELL, ["one", "two three"], surroundings(**more))
    started.setenv("HEADWATER_TEST_FORK", "0")
    assert run_code(TELL, ["one", "two three"], surroundings(**more)) == forked
    assert forked.status == 7


def test_a_signal_that_ends_it_is_told() -> None:
    ended = run_code("import os; print('out', flush=True); os.kill(os.getpid(), 9)", [], surroundings())
    assert (ended.status, ended.out) == (-signal.SIGKILL, "out\n")


def test_it_is_another_process_each_time() -> None:
    code = "import os, sys; sys.already = getattr(sys, 'already', 0) + 1; print(sys.already, os.getpid())"
    first, second = (run_code(code, [], surroundings()).out.split() for _ in range(2))
    assert first[0] == second[0] == "1"
    assert len({first[1], second[1], str(os.getpid())}) == 3


def test_what_takes_too_long_is_killed(tmp_path: Path) -> None:
    code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(TimeoutError):
        run_code(code, [str(tmp_path / "pid")], surroundings(), seconds=1)
    number = int((tmp_path / "pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        until = time.monotonic() + 30  # Whoever waits for it has to be given the processor.
        while time.monotonic() < until:
            os.kill(number, 0)
            time.sleep(0.01)
