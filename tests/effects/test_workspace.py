# SPDX-License-Identifier: Apache-2.0
"""Which folder is the workspace, and which library it is about."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from case_files import write_case

from headwater.core.errors import BadInput, HarnessError
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


def with_cases(tmp_path: Path, *names: str) -> Workspace:
    """A workspace with cases of these names."""
    root = lay_out(tmp_path / "work", "small")
    (root / "tests" / "repro").mkdir(parents=True)
    for name in names:
        write_case(root / "tests" / "repro", name, "pass")
    return Workspace(root)


def test_two_cases_of_one_name_are_both_named(tmp_path: Path) -> None:
    workspace = with_cases(tmp_path, "one", "two")
    assert list(workspace.cases()) == ["one", "two"]
    folder = workspace.root / "tests" / "repro"
    shutil.copy(folder / "one.py", folder / "other.py")
    with pytest.raises(BadInput, match=r"two cases are called one: \S+/one\.py and \S+/other\.py"):
        workspace.cases()


def test_an_atlas_of_a_case_that_is_gone(tmp_path: Path) -> None:
    workspace = with_cases(tmp_path, "one")
    entry = '[[entry]]\ncase = "gone"\nverdict = "bad"\nfirst = "1.0"\nlast = "1.0"\n'
    (workspace.root / "tests" / "repro" / "atlas.toml").write_text(f"schema = 1\n\n{entry}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"atlas\.toml has entries of gone, and there is no such case"):
        workspace.cases()


def test_a_conformance_suite_is_tests_of_names_of_their_own(tmp_path: Path) -> None:
    workspace = with_cases(tmp_path)
    assert workspace.conformance() is None
    assert workspace.known_failures() is None
    folder = workspace.root / "tests" / "conformance"
    folder.mkdir()
    with pytest.raises(BadInput, match=r"tests/conformance holds no test_\*\.py; remove it, or restore the suite"):
        workspace.conformance()
    (folder / "test_small.py").write_text("def test(): pass\n", encoding="utf-8")
    suite = workspace.conformance()
    assert suite is not None
    assert suite.files["test_small.py"] == b"def test(): pass\n"
    taken = sorted(suite.files.keys() - {"test_small.py"})[0]
    (folder / taken).touch()
    with pytest.raises(BadInput, match=rf"a test file is called {taken}, as one that Headwater puts beside it; rename"):
        workspace.conformance()


def test_what_is_missing_is_named_with_what_makes_it(tmp_path: Path) -> None:
    workspace = Workspace(lay_out(tmp_path / "work", "small"))
    with pytest.raises(BadInput, match=r"upstream/locks/1\.txt, which small\.toml names, is missing; .*--locks"):
        workspace.lock_text("locks/1.txt")
    with pytest.raises(HarnessError, match=r"a test needs about \d+ MB, and \d+ MB are free in .*; make room"):
        workspace.cache.require_space(10**18, "a test")
