# SPDX-License-Identifier: Apache-2.0
"""The list of what probes import: an environment that is built with it has the byte code of that alone."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from hunting_ground import Ground
from index_server import IndexServer

from headwater.effects.bytecode import compile_files, modules_in, site_packages
from headwater.effects.proc import ProcessFailed

LIST = "upstream/locks/imports.txt"


def environments(ground: Ground) -> list[Path]:
    """The environments of the ground, by what their hub is: 1.0 and 1.5."""
    found = [path for path in (ground.cache / "envs").iterdir() if path.is_dir()]
    return sorted(found, key=lambda path: (site_packages(path) / "hub" / "__init__.py").read_text(encoding="utf-8"))


def compiled(environment: Path) -> set[str]:
    """The packages of an environment that have byte code."""
    site = site_packages(environment)
    return {path.relative_to(site).parts[0] for path in site.rglob("*.pyc")} - {"__pycache__"}


def known(environment: Path) -> list[str]:
    """What a server of an environment imports ahead."""
    text = environment.with_suffix(".preload.json").read_text(encoding="utf-8")
    names: list[str] = json.loads(text)["modules"]
    return names


def test_an_environment_is_built_with_the_byte_code_of_what_probes_import(
    ground: Ground, index_server: IndexServer, tmp_path: Path
) -> None:
    ground.environ = {
        "PIP_INDEX_URL": index_server.url(), "NO_PROXY": "127.0.0.1", "UV_CACHE_DIR": str(tmp_path / "uv"),
        # For an index that knows nothing of a package uv looks for a password.
        "UV_CREDENTIALS_DIR": str(tmp_path / "credentials"),
    }  # fmt: skip
    assert {"hub", "torch", "pytest", "_pytest"} <= compiled(environments(ground)[1]), "without a list: of everything"
    assert ground.run("repro", "5.7.0", "--case", "packages").status == 1
    done = ground.run("pins", "imports")
    assert (done.status, done.err) == (0, "")
    names = [line for line in (ground.root / LIST).read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert "hub" in names and not {"json", "pytest", "transformers"} & set(names)
    assert f"{len(names)} modules are recorded in {LIST}" in done.out

    shutil.rmtree(ground.cache / "envs")
    assert ground.run("repro", "5.7.0", "--case", "packages", "--fresh").status == 1
    [built] = environments(ground)
    assert compiled(built) == {name.partition(".")[0] for name in names}
    assert known(built)[: len(names)] == names
    again = ground.run("pins", "imports")
    assert again.status == 0 and "what is recorded of 5.0-5.3 stays" in again.out
    assert set(names) <= set((ground.root / LIST).read_text(encoding="utf-8").splitlines())


def test_before_any_probe_there_is_nothing_to_record(ground: Ground) -> None:
    shutil.rmtree(ground.cache / "envs")
    done = ground.run("pins", "imports")
    assert done.status == 5
    assert "no environment here has imported a package for a probe" in done.err and "headwater repro" in done.err
    assert not (ground.root / LIST).exists()


def test_the_modules_that_an_environment_has_are_found_in_the_order_of_the_list(tmp_path: Path) -> None:
    for place in ("b/__init__.py", "b/c.py", "a.py", "d/x.txt"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
    found = modules_in(tmp_path, ["b.c", "d", "json", "a", "b", "b.missing"])
    assert list(found.items()) == [
        ("b.c", tmp_path / "b/c.py"),
        ("a", tmp_path / "a.py"),
        ("b", tmp_path / "b/__init__.py"),
    ]


def test_what_cannot_be_compiled_is_said(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("X = 1\n", encoding="utf-8")
    (tmp_path / "bad.py").write_text("X = (\n", encoding="utf-8")
    with pytest.raises(ProcessFailed):
        compile_files(Path(sys.executable), [tmp_path / "good.py", tmp_path / "bad.py"], tmp_path)
    assert [path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")] == ["good"]
