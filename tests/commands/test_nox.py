# SPDX-License-Identifier: Apache-2.0
"""The sessions, run by the real nox on a copy of the repository: what is listed, and the status that they end with."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from headwater.bootstrap import _stamp

Nox = Callable[..., subprocess.CompletedProcess[str]]
OTHERS = {
    "repro", "test-patched", "matrix", "bisect", "audit", "report", "pr-diff", "checkout", "tests", "coverage",
    "coverage-all", "faults", "bench", "docs", "mutants", "lint", "typing",
}  # fmt: skip


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """What the sessions need of the repository."""
    folder = tmp_path / "head water"
    for name in ("src", "scripts", "upstream/locks"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("noxfile.py", "pyproject.toml", "upstream/transformers.toml"):
        shutil.copy(root / name, folder / name)
    return folder


@pytest.fixture
def nox(copy: Path, tmp_path: Path) -> Nox:
    """Run nox in the copy. This Python counts as one that Headwater is installed in, so that nothing is built."""
    installed = tmp_path / "installed" / "headwater-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: headwater\nVersion: 0\n", encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("NOX", "HEADWATER_"))}
    environ |= {
        "HEADWATER_CACHE": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(installed.parent),
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nox", *words], cwd=copy, env=environ, capture_output=True, text=True, check=False
        )

    return run


def listed(said: str) -> dict[str, bool]:
    """The sessions of a listing, and whether they are selected."""
    return {match["name"]: match["mark"] == "*" for match in re.finditer(r"(?m)^(?P<mark>[*-]) (?P<name>\S+)", said)}


def releases(copy: Path) -> list[str]:
    """The pinned releases."""
    pins = tomllib.loads((copy / "upstream" / "transformers.toml").read_text(encoding="utf-8"))
    return [pin["version"] for pin in pins["release"]]


def test_bare_nox_lists_and_runs_nothing(nox: Nox, copy: Path, tmp_path: Path) -> None:
    done = nox()
    assert done.returncode == 0
    assert not any(listed(done.stdout).values())
    assert listed(done.stdout).keys() > OTHERS
    assert "Running session" not in done.stdout + done.stderr
    assert not (tmp_path / "cache").exists()
    assert not (copy / ".headwater").exists()
    assert not (copy / ".nox").exists()


def test_every_pin_has_a_session(nox: Nox, copy: Path) -> None:
    done = nox("-l")
    assert done.returncode == 0
    assert set(listed(done.stdout)) == {f"repro-{version}" for version in releases(copy)} | OTHERS
    undescribed = re.findall(r"(?m)^[*-] (\S+)$", done.stdout)
    assert undescribed == []


def test_session_names_are_three_part_versions(nox: Nox, copy: Path) -> None:
    """nox compares names as Python literals: of two-part versions 5.1 and 5.10 would be one."""
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in releases(copy))
    selected = [name for name, chosen in listed(nox("-l", "-s", "repro-5.1.0").stdout).items() if chosen]
    assert selected == ["repro-5.1.0"]


def test_a_new_pin_is_a_new_session(nox: Nox, copy: Path) -> None:
    pins = copy / "upstream" / "transformers.toml"
    pins.write_text(pins.read_text(encoding="utf-8").replace('"5.24.0"', '"5.99.7"'), encoding="utf-8")
    names = listed(nox("-l").stdout).keys()
    assert "repro-5.99.7" in names
    assert "repro-5.24.0" not in names


def test_the_noxfile_says_what_it_needs(root: Path) -> None:
    """PEP 723, so that `uvx nox` or `pipx run noxfile.py` take a nox that is new enough; ours is."""
    text = (root / "noxfile.py").read_text(encoding="utf-8")
    [block] = re.findall(r"(?m)^# /// script\n((?:#(?: .*)?\n)+?)# ///$", text)
    header = tomllib.loads("".join(line.removeprefix("#").removeprefix(" ") for line in block.splitlines(True)))
    [requirement] = [Requirement(line) for line in header["dependencies"]]
    assert requirement.name == "nox"
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert header["requires-python"] == project["project"]["requires-python"]
    assert str(requirement) in project["dependency-groups"]["tests"]


@pytest.mark.parametrize(
    ("words", "status", "named"),
    [
        (["-s", "repro", "--", "5.10.3"], 2, "5.10.2"),
        (["-s", "repro-5.10.1", "--", "--device", "tpu"], 2, "'tpu'"),
        (["-s", "repro-5.10.1", "--", "--offline"], 5, "is not cached"),
        (["-s", "test-patched", "--", "nope"], 2, "hybrid-static-cache"),
        (["-s", "pr-diff", "--", "nope", "--onto", "5.10.1"], 2, "hybrid-static-cache"),
        (["-s", "checkout", "--", "5.10.3"], 2, "5.10.2"),
        (["-s", "bisect", "--", "early-init", "--good", "5.12.0", "--bad", "5.4.0"], 2, "--find fixed"),
        (["-s", "repro", "--", "--help"], 0, "headwater repro"),
        (["-s", "repros"], 3, "repros"),
    ],
)
def test_a_session_alone_ends_with_headwaters_status(
    nox: Nox, copy: Path, root: Path, words: list[str], status: int, named: str
) -> None:
    for name in ("patches", "tests/repro"):
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = nox(*words)
    assert done.returncode == status, done.stderr
    assert named in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (copy / ".headwater").exists()


def test_a_release_of_posargs_is_not_taken_for_the_sessions_own(nox: Nox) -> None:
    done = nox("-s", "repro-5.10.1", "--", "5.9.0")
    assert done.returncode == 2
    assert "unexpected extra argument" in done.stderr


@pytest.mark.parametrize("sessions", [("repro", "checkout"), ("checkout", "repro")])
def test_two_sessions_of_which_one_fails_end_with_1(nox: Nox, sessions: tuple[str, str]) -> None:
    done = nox("-s", *sessions, "--", "--case", "early-init", "--help")
    assert done.returncode == 1
    assert "* repro: success" in done.stderr
    assert "headwater.py checkout --case early-init --help ended with status 2" in done.stderr
    assert "* checkout: success" not in done.stderr


def test_two_sessions_that_end_well(nox: Nox) -> None:
    done = nox("-s", "repro", "test-patched", "--", "--help")
    assert done.returncode == 0
    assert "headwater repro" in done.stdout
    assert "headwater test-patched" in done.stdout


@pytest.mark.parametrize(("words", "status"), [(["--version"], 0), (["-n", "0", "no-such-test.py"], 4)])
def test_the_tests_session_ends_with_pytests_status(nox: Nox, copy: Path, words: list[str], status: int) -> None:
    """On an environment that stands already and finds the packages of this one."""
    environment = copy / ".headwater" / "venv-dev"
    venv.create(environment, symlinks=True)
    [packages] = environment.glob("lib/python*/site-packages")
    (packages / "here.pth").write_text("\n".join(path for path in sys.path if "-packages" in path), encoding="utf-8")
    (environment / "headwater-stamp").write_text(_stamp(copy), encoding="utf-8")
    done = nox("-s", "tests", "--", *words)
    assert done.returncode == status, done.stderr
    assert ("pytest" if status == 0 else "no-such-test.py") in done.stdout + done.stderr
