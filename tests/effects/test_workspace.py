# SPDX-License-Identifier: Apache-2.0
"""Which folder is the workspace, and which library it is about."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headwater.core.errors import BadInput
from headwater.effects.workspace import Workspace, find_root


def lay_out(root: Path, *libraries: str) -> Path:
    """A folder with the pins of libraries, of which there are no releases."""
    (root / "upstream").mkdir(parents=True)
    for name in libraries:
        text = f'schema = 1\npackage = "{name}"\nfirst = "1.0"\n'
        (root / "upstream" / f"{name}.toml").write_text(text, encoding="utf-8")
    return root


def test_the_nearest_folder_with_pins_is_the_workspace(tmp_path: Path) -> None:
    root = lay_out(tmp_path / "work", "small")
    inner = root / "tests" / "repro"
    inner.mkdir(parents=True)
    (inner / "upstream").mkdir()  # without pins: no workspace
    assert find_root(inner) == root.resolve()
    nearer = lay_out(inner / "other", "large")
    assert find_root(nearer) == nearer.resolve()


def test_the_environment_names_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = lay_out(tmp_path / "here", "small"), lay_out(tmp_path / "there", "small")
    monkeypatch.setenv("HEADWATER_WORKSPACE", str(there))
    assert find_root(here) == there.resolve()


def test_outside_of_a_workspace_the_next_step_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput) as caught:
        find_root(tmp_path)
    assert f"{tmp_path} and the folders above it holds no upstream/<library>.toml" in str(caught.value)
    assert "`headwater init FOLDER`" in str(caught.value)
    monkeypatch.setenv("HEADWATER_WORKSPACE", str(tmp_path / "gone"))
    with pytest.raises(BadInput, match=r"HEADWATER_WORKSPACE=.*gone holds no"):
        find_root(tmp_path)


def test_pins_and_mirror_are_those_of_the_library(tmp_path: Path) -> None:
    workspace = Workspace(lay_out(tmp_path / "work", "small"))
    assert workspace.pins.package == "small"
    assert workspace.pins.torch is None
    assert workspace.cache.mirror == workspace.upstream / "small.git"


def test_a_workspace_is_about_one_library(tmp_path: Path) -> None:
    workspace = Workspace(lay_out(tmp_path / "work", "small", "large"))
    with pytest.raises(BadInput, match=r"upstream/ holds large\.toml and small\.toml, .* one library; leave one here"):
        _ = workspace.pins


def test_the_file_is_named_by_the_library(tmp_path: Path) -> None:
    root = lay_out(tmp_path / "work", "small")
    (root / "upstream" / "small.toml").rename(root / "upstream" / "other.toml")
    with pytest.raises(BadInput, match=r"upstream/other\.toml has the pins of small; call it small\.toml"):
        _ = Workspace(root).pins


def test_cases_elsewhere_use_every_helper_of_the_workspace(tmp_path: Path, root: Path) -> None:
    """And their own where they have one of that name."""
    cases = tmp_path / "cases"
    cases.mkdir()
    shutil.copy(root / "tests" / "repro" / "early_init.py", cases / "elsewhere.py")
    text = (cases / "elsewhere.py").read_text(encoding="utf-8")
    (cases / "elsewhere.py").write_text(text.replace('id = "early-init"', 'id = "elsewhere"'), encoding="utf-8")
    (cases / "casekit.py").write_text("OWN = True\n", encoding="utf-8")
    workspace = Workspace(root)
    assert sorted(workspace.helpers) == ["casekit.py", "layerkit.py", "modelkit.py"]
    files = workspace.cases(cases)["elsewhere"].files
    assert files["layerkit.py"] == workspace.helpers["layerkit.py"]
    assert files["casekit.py"] == b"OWN = True\n"
