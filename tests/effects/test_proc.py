# SPDX-License-Identifier: Apache-2.0
"""The door to other processes: quiet unless failing, no credentials, an end to everything."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import pytest

from headwater.core.errors import HarnessError
from headwater.effects import proc
from headwater.effects.files import write_atomically
from headwater.effects.proc import ProcessFailed, end_group, has_ended, run, start_in_group

Start = Callable[..., tuple[proc.Process, BinaryIO]]


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def status_of(process: proc.Process) -> int | None:
    """Its exit status, once it has been collected."""
    return process.returncode


def is_alive(number: int) -> bool:
    """Whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a process in a group of its own; also what it prints, errors included."""
    with ExitStack() as stack:

        def run_it(
            argv: list[str], cwd: Path, environ: Mapping[str, str], *descriptors: int
        ) -> tuple[proc.Process, BinaryIO]:
            reads, writes = os.pipe()
            output = stack.enter_context(os.fdopen(reads, "rb"))
            try:
                process = start_in_group(argv, environ=environ, cwd=cwd, pass_fds=descriptors, output=writes)
            finally:
                os.close(writes)
            stack.callback(end_group, process)
            return process, output

        yield run_it


def test_its_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = (
        "import os, sys; print(os.getcwd(), sys.stdin.read(), os.environ['X'], os.environ['HOME'])\n"
        "print('e', file=sys.stderr)"
    )
    out = run(python(code), cwd=tmp_path, stdin="in", environ={"X": "y"})
    assert out == f"{tmp_path} in y {os.environ['HOME']}\n"
    assert capfd.readouterr() == ("", "")


def test_output_that_is_no_text() -> None:
    assert run(python(r"import sys; sys.stdout.buffer.write(b'a\xff\x00b')")) == "a\ufffd\0b"


@pytest.mark.parametrize("stream", ["stderr", "stdout"])
def test_a_failure_shows_the_command_the_status_and_the_end_of_what_it_said(stream: str) -> None:
    code = f"import sys; [print('line', n, file=sys.{stream}) for n in range(100)]; sys.exit(3)"
    with pytest.raises(ProcessFailed, match="ended with status 3") as caught:
        run(python(code))
    assert caught.value.status == 3
    assert "line 99" in str(caught.value) and "line 70" in str(caught.value)
    assert "line 69" not in str(caught.value)
    assert "line 0" in caught.value.output
    assert isinstance(caught.value, HarnessError)


def test_credentials_show_nowhere() -> None:
    secret = "https://user:hunter2@index.invalid/simple/"
    with pytest.raises(ProcessFailed) as caught:
        run([*python("import sys; sys.exit('cannot open ' + sys.argv[1])"), secret])
    assert "index.invalid" in str(caught.value)
    assert "hunter2" not in str(caught.value) + caught.value.output


def test_a_signal() -> None:
    with pytest.raises(ProcessFailed, match="status -9"):
        run(python("import os; os.kill(os.getpid(), 9)"))


@pytest.mark.parametrize("argv", [["no-such-program-at-all"], [os.devnull]])
def test_what_cannot_be_started(argv: list[str]) -> None:
    with pytest.raises(ProcessFailed, match="could not be started") as caught:
        run(argv)
    assert caught.value.status is None


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProcessFailed):
        run(python(""), cwd=tmp_path / "missing")


def test_an_end_to_waiting(tmp_path: Path) -> None:
    code = "import os, subprocess, time; print(os.getpid(), flush=True); subprocess.run(['sleep', '30'])"
    began = time.monotonic()
    with pytest.raises(ProcessFailed, match=r"no end within 0\.5 s"):
        run(python(code), seconds=0.5)
    assert time.monotonic() - began < 10


def test_a_group_ends_as_a_whole(start: Start, tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        "print(child.pid, os.getpgrp() == os.getpid(), sorted(os.environ), os.getcwd(), flush=True)\n"
        "print('error', file=sys.stderr, flush=True)\n"
        "child.wait()\n"
    )
    process, output = start(python(code), tmp_path, {"LC_CTYPE": "C.UTF-8"})
    said = output.readline().decode()
    child = int(said.split()[0])
    assert said.split(" ", 1)[1] == f"True ['LC_CTYPE'] {tmp_path}\n"
    assert output.readline() == b"error\n"
    assert is_alive(child) and not has_ended(process)
    end_group(process)
    end_group(process)
    assert process.returncode == -9
    for _ in range(100):
        if not is_alive(child):
            break
        time.sleep(0.05)
    assert not is_alive(child)
    assert process.stdin is not None and process.stdin.closed


def test_having_ended_is_seen_without_collecting(start: Start, tmp_path: Path) -> None:
    process, output = start(python("raise SystemExit(7)"), tmp_path, {})
    output.read()
    for _ in range(200):
        if has_ended(process):
            break
        time.sleep(0.05)
    assert has_ended(process) and has_ended(process)
    assert status_of(process) is None
    os.kill(process.pid, 0)
    end_group(process)
    assert status_of(process) == 7


def test_no_descriptor_leaks_into_a_process(start: Start, tmp_path: Path) -> None:
    reads, writes = os.pipe()
    code = f"import os; os.fstat({writes})"
    try:
        with pytest.raises(ProcessFailed, match="Bad file descriptor"):
            proc.run(python(code))
        process, output = start(python(code), tmp_path, {}, writes)
        with process:
            assert output.read() == b""
        assert process.returncode == 0
    finally:
        os.close(reads)
        os.close(writes)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.toml"
    write_atomically(path, "one \u00fc\n")
    assert path.read_bytes() == b"one \xc3\xbc\n"
    assert path.stat().st_mode & 0o777 == 0o644
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "two \udc80")
    assert path.read_bytes() == b"one \xc3\xbc\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["file.toml"]
