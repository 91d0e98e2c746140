# SPDX-License-Identifier: Apache-2.0
"""The README is true: every command in it runs, and says what stands there.

A ```console block has commands after `$ ` and what they print; `...` stands for lines that are left out. What depends
on the machine and on earlier runs (seconds, versions, how much was known) is not compared.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What answers from the workspace's files, at once; all others import releases and build environments.
CHEAP = ("audit",)
PARTS = (
    "src", "scripts", "patches", "upstream/locks", "upstream/transformers.toml", "tests/repro", "tests/conformance",
    "noxfile.py", "pyproject.toml",
)  # fmt: skip
# What is 1 where everything is as it is said: known bugs were found.
FOUND = ("audit",)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Every command of the console blocks, with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"(?ms)^```console\n(.*?)^```$", text):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
    return found


def comparable(line: str) -> str:
    """A line without what another machine, or a second run, says otherwise."""
    line = re.sub(r" \d+\.\d( \*)?$", "", line.rstrip())
    line = re.sub(r"\d+ probes? run(, \d+ known from earlier runs \(--fresh runs them again\))?", "PROBES", line)
    line = re.sub(r"torch \S+ · Python \S+", "VERSIONS", line)
    line = re.sub(r"\([0-9a-f]{12}\)", "(KEY)", line)
    return " ".join(line.split())


def missing(expected: list[str], out: str) -> list[str]:
    """The lines that are not there, or not in this order; those that no `...` parts must follow each other."""
    said = [comparable(line) for line in out.splitlines()]
    lacking, place, apart = [], 0, False
    for line in map(comparable, expected):
        if line == "...":
            apart = True
            continue
        found = next((n for n in range(place, len(said)) if said[n] == line), None)
        if found is None or (not apart and found != place):
            lacking.append(line)
        place, apart = (found + 1 if found is not None else place), False
    return lacking


def case(command: str, lines: list[str]) -> object:
    cheap = any(f"headwater.py {word}" in command for word in CHEAP)
    return pytest.param(command, lines, id=command, marks=[] if cheap else [pytest.mark.slow, pytest.mark.releases])


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, in which commands may write."""
    folder = tmp_path_factory.mktemp("readme")
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder


@pytest.mark.xdist_group("readme")
@pytest.mark.parametrize(("command", "lines"), [case(*one) for one in commands(README)])
def test_a_command_says_what_stands_there(copy: Path, test_cache: Path, command: str, lines: list[str]) -> None:
    # This Python counts as one that Headwater is installed in, so that no environment is made for it.
    installed = copy / ".installed" / "headwater-0.dist-info"
    installed.mkdir(parents=True, exist_ok=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: headwater\nVersion: 0\n", encoding="utf-8")
    environ = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "PYTHONPATH": str(installed.parent),
        "HEADWATER_CACHE": str(test_cache),
        "HOME": str(copy),
        "COLUMNS": "110",
    }
    done = subprocess.run(["bash", "-c", command], cwd=copy, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == int(any(f"headwater.py {word}" in command for word in FOUND)), done.stderr
    assert lines
    assert missing(lines, done.stdout) == [], done.stdout


def test_the_comparison_sees_what_is_wrong() -> None:
    out = "case  seconds\na  bad  1.5 *\nb  good  1.0\nend\n"
    assert missing(["case seconds", "a bad 2.5", "...", "end"], out) == []
    assert missing(["case seconds", "a good 2.5", "...", "end"], out) == ["a good"]
    assert missing(["case seconds", "b good 2.5"], out) == ["b good"], "what is left out must be marked"
    assert missing(["...", "end", "...", "a bad"], out) == ["a bad"], "the order counts"


def test_it_is_short_and_in_order() -> None:
    assert len(README.splitlines()) < 250
    headings = re.findall(r"(?m)^## (.*)$", README)
    assert headings == [
        "Two commands", "The report", "Five questions", "Known bugs", "Adding to it", "Where things are",
        "What it does not do",
    ]  # fmt: skip
    assert [int(number) for number in re.findall(r"(?m)^\*\*(\d)\. ", README)] == [1, 2, 3, 4, 5]


def test_both_commands_are_those_that_ci_runs() -> None:
    second = "python -m pip install nox && nox -s tests"
    assert f"`{second}`" in README
    assert second in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", README))))
def test_what_it_links_to_is_there(target: str) -> None:
    assert target.startswith("https://") or (ROOT / target).is_file()


def test_the_picture_is_one_and_small() -> None:
    content = (ROOT / "docs" / "pictures" / "report.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", content[16:24]) == (1280, 720)
    assert len(content) < 200_000
