# SPDX-License-Identifier: Apache-2.0
"""What a shell is offered after a word, and what `headwater completion` gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from headwater.cli.doctor import COMPLETE
from headwater.cli.main import headwater as cli

Run = Callable[..., Any]


def offered(*words: str) -> list[str]:
    """What may stand for the last of the words."""
    return [
        item.value for item in ShellComplete(cli, {}, "headwater", COMPLETE).get_completions([*words[:-1]], words[-1])
    ]


@pytest.fixture(autouse=True)
def inside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is the workspace."""
    monkeypatch.chdir(root)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rep"], ["repro", "report"]),
        (["patch", "st"], ["status"]),
        (["repro", "--dev"], ["--device"]),
        (["repro", "5.10."], ["5.10.0", "5.10.1", "5.10.2", "5.10.4"]),
        (["repro", "5.10.1", "--case", "early"], ["early-init", "early-init-again"]),
        (["repro", "5.10.1", "--case", "early-init,max-c"], ["early-init,max-cache-len"]),
        (["matrix", "--devices", "cpu,m"], ["cpu,meta", "cpu,mps"]),
        (["bisect", "is-initialized-"], ["is-initialized-filled-linear"]),
        (["bisect", "early-init", "--good", "5.4"], ["5.4.0"]),
        (["reduce", "early-init", "--from", "5.13"], ["5.13.0", "5.13.1"]),
        (["backport", "early-init", "--onto", "5.5."], ["5.5.0", "5.5.1", "5.5.2", "5.5.3", "5.5.4"]),
        (["test-patched", "hy"], ["hybrid-static-cache"]),
        (["patch", "apply", ""], ["hybrid-static-cache"]),
        (["pr", "make", "h"], ["hybrid-static-cache"]),
        (["audit", "4.56.0"], ["4.56.0"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_offers(words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_outside_of_a_workspace_nothing_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert offered("repro", "5") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_source(headwater: Run, shell: str) -> None:
    done = headwater("completion", shell)
    assert done.status == 0
    assert f"{COMPLETE}={shell}_complete" in done.out
