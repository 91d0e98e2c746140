# SPDX-License-Identifier: Apache-2.0
"""The child's files: standard library only, alone in their folder, their version the hash of them and of what
starts them."""

from __future__ import annotations

import ast
import hashlib
import sys
from pathlib import Path

import pytest

from headwater.effects import child_process
from headwater.effects.child_process import CHILD, CHILD_VERSION, PROTOCOL, SERVER
from headwater.effects.recordings import RECORDER

FILES = [CHILD, SERVER, CHILD.with_name("tree_code.py"), RECORDER]


def outside_of_functions(node: ast.AST) -> ast.Module:
    """Everything that runs on import: functions, and the methods of classes, do not."""
    kept: list[ast.stmt] = []
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.ClassDef):
            kept += outside_of_functions(part).body
        elif isinstance(part, ast.stmt) and not isinstance(part, ast.FunctionDef):
            kept.append(part)
    return ast.Module(kept, [])


def imports_of(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("file", FILES)
def test_they_import_the_standard_library_and_torch_inside_functions(file: Path) -> None:
    module = ast.parse(file.read_bytes())
    assert imports_of(module) - sys.stdlib_module_names <= {"torch"}
    assert imports_of(outside_of_functions(module)) <= sys.stdlib_module_names


def test_they_are_alone_in_their_folder() -> None:
    files = {path.name for path in CHILD.parent.iterdir() if path.name != "__pycache__"}
    assert files == {file.name for file in FILES}


def test_they_speak_the_callers_protocol_and_their_version_is_the_content_of_both_ends() -> None:
    assert f"\nPROTOCOL = {PROTOCOL}\n" in CHILD.read_text(encoding="utf-8")
    ends = [file for file in FILES if file != RECORDER] + [Path(child_process.__file__)]
    both = b"".join(file.read_bytes() for file in ends)
    assert hashlib.sha256(both).hexdigest() == CHILD_VERSION


@pytest.mark.parametrize("file", FILES)
def test_they_run_on_the_oldest_python(file: Path) -> None:
    ast.parse(file.read_bytes(), feature_version=(3, 11))
