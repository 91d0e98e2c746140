# SPDX-License-Identifier: Apache-2.0
"""One probe at a time on an accelerator, over threads and processes; nothing keeps the others from the cpu."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from headwater.core.errors import Abandoned
from headwater.core.events import Event, Note
from headwater.effects import accelerators
from headwater.effects.accelerators import alone_on, hardware_name

HOLD = """
import sys
from pathlib import Path
from headwater.effects.accelerators import alone_on
with alone_on("cuda", {}, folder=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("device", "visible", "name"),
    [
        ("cuda", None, "cuda-0"),
        ("cuda:1", None, "cuda-1"),
        ("cuda", "3", "cuda-3"),
        ("cuda:1", "3, 5", "cuda-5"),
        ("cuda:2", "3,5", "cuda-2"),
        ("cuda", "GPU-8f/2", "cuda-GPU-8f_2"),
        ("cuda", "", "cuda-0"),
        ("mps", "3", "mps-0"),
    ],
)
def test_what_a_device_is_on_this_machine(device: str, visible: str | None, name: str) -> None:
    environ = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert hardware_name(device, environ) == name


def is_free(folder: Path, device: str, **environ: str) -> bool:
    """Whether a device can be had; the one who asks gives up at once."""
    try:
        with alone_on(device, environ, abandoned=lambda: True, folder=folder):
            return True
    except Abandoned:
        return False


def test_another_process_waits(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert not is_free(tmp_path, "cuda")
        assert not is_free(tmp_path, "cuda:0")
        assert not is_free(tmp_path, "cuda:1", CUDA_VISIBLE_DEVICES="1,0")
        assert is_free(tmp_path, "cuda:1")
        assert is_free(tmp_path, "cpu")
        assert is_free(tmp_path, "meta")
        holder.kill()
    assert is_free(tmp_path, "cuda")


def test_threads_take_turns(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(5):
            with alone_on("cuda", {}, folder=tmp_path):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                threading.Event().wait(0.002)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_who_waits_long_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerators, "_STEP", 0.01)
    monkeypatch.setattr(accelerators, "_PATIENCE", 0.02)
    said: list[Event] = []
    asked = iter([False] * 6 + [True])
    again = alone_on("cuda", {}, abandoned=lambda: next(asked), emit=said.append, folder=tmp_path)
    with alone_on("cuda", {}, folder=tmp_path), pytest.raises(Abandoned), again:
        pytest.fail("it was held")
    assert said == [Note("waiting for cuda: another probe runs on it")]
