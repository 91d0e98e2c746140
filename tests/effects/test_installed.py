# SPDX-License-Identifier: Apache-2.0
"""Which library the user's environment has: found by metadata alone, in the environment that the user is in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.core.errors import BadInput
from headwater.effects.installed import STARTED_BY, Installed, find_installed

NOWHERE = Path("/nonexistent/python")


def environment(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(folder)], check=True)
    return folder


def install(folder: Path, version: str, origin: object = None) -> None:
    """Metadata of a library whose import would fail."""
    [site] = folder.glob("lib/python*/site-packages")
    info = site / f"transformers-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: transformers\nVersion: {version}\n", encoding="utf-8")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    (site / "transformers").mkdir()
    (site / "transformers" / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with 5.10.2."""
    folder = environment(tmp_path_factory.mktemp("one") / "venv")
    install(folder, "5.10.2")
    return folder


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing."""
    return environment(tmp_path_factory.mktemp("empty") / "venv")


def find(python: Path | None = None, own: Path = NOWHERE, **environ: str) -> Installed:
    return find_installed("transformers", python, {"PATH": os.devnull, **environ}, own)


def test_the_active_environment(one: Path, empty: Path) -> None:
    found = find(VIRTUAL_ENV=str(one), PATH=str(empty / "bin"))
    assert (found.version, found.found_by, found.origin) == ("5.10.2", "VIRTUAL_ENV", None)
    assert found.python == one / "bin" / "python"
    assert found.place == next(one.glob("lib/python*/site-packages"))
    assert find(CONDA_PREFIX=str(one)).found_by == "CONDA_PREFIX"


def test_an_active_environment_without_it_is_not_passed_over(one: Path, empty: Path) -> None:
    with pytest.raises(BadInput, match=r"transformers is not installed: looked at \S+/bin/python \(VIRTUAL_ENV\)\. "):
        find(VIRTUAL_ENV=str(empty), PATH=str(one / "bin"))


def test_the_interpreter_that_was_named(one: Path, empty: Path) -> None:
    assert find(one, VIRTUAL_ENV=str(empty)).version == "5.10.2"
    assert find(one / "bin" / "python").found_by == "--python"
    with pytest.raises(BadInput, match=r"--python is .*nowhere, and there is no Python interpreter"):
        find(one / "nowhere")


def test_the_interpreter_that_headwater_was_started_with(one: Path, empty: Path) -> None:
    assert find(own=one / "bin" / "python").found_by == "Headwater was started with it"
    environ = {STARTED_BY: str(one / "bin" / "python"), "PATH": os.devnull}
    assert find_installed("transformers", None, environ, empty / "bin" / "python").version == "5.10.2"


def test_the_first_python_on_path_that_has_it(one: Path, empty: Path) -> None:
    found = find(own=empty / "bin" / "python", PATH=os.pathsep.join([str(empty / "bin"), str(one / "bin")]))
    assert (found.version, found.found_by) == ("5.10.2", "on PATH")
    with pytest.raises(BadInput) as caught:
        find(own=empty / "bin" / "python", PATH=str(empty / "bin"))
    assert f"{empty}/bin/python (Headwater was started with it)" in str(caught.value)
    assert f"{empty}/bin/python3 (on PATH)" in str(caught.value)


@pytest.mark.parametrize("ours", [".headwater/venv", ".nox/audit"])
def test_environments_of_headwater_s_and_nox_s_own_are_not_the_user_s(tmp_path: Path, one: Path, ours: str) -> None:
    own = environment(tmp_path / ours)
    install(own, "5.0.0")
    found = find(own=own / "bin" / "python", VIRTUAL_ENV=str(own), PATH=f"{own}/bin{os.pathsep}{one}/bin")
    assert found.version == "5.10.2"


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (
            {"url": "https://user:hunter2@host/t.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "commit abc of https://***@host/t.git",
        ),
        ({"url": "file:///somewhere/t", "dir_info": {"editable": True}}, "the folder file:///somewhere/t, editable"),
        ({"url": "file:///somewhere/t", "dir_info": {}}, "the folder file:///somewhere/t"),
        ({"url": "file:///t-5.10.2-py3-none-any.whl", "archive_info": {}}, None),
    ],
)
def test_where_it_came_from(tmp_path: Path, origin: object, words: str | None) -> None:
    folder = environment(tmp_path / "venv")
    install(folder, "5.10.2", origin)
    assert find(folder).origin == words


def test_an_editable_one_lies_in_its_checkout(tmp_path: Path) -> None:
    folder = environment(tmp_path / "venv")
    install(folder, "5.10.2", {"url": "file:///srv/my%20clone", "dir_info": {"editable": True}})
    assert find(folder).place == Path("/srv/my clone")


def test_what_is_no_python(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho strange\n", encoding="utf-8")
    script.chmod(0o755)
    with pytest.raises(BadInput, match="cannot be asked what is installed"):
        find(script)
