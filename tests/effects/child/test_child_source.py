# SPDX-License-Identifier: Apache-2.0
"""The child's file: standard library only, alone in its folder, its version the hash of what it is."""

from __future__ import annotations

import ast
import hashlib
import sys

from headwater.effects.child import CHILD, CHILD_VERSION, PROTOCOL


def imports_of(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add((node.module or "").partition(".")[0])
    return names


def test_it_imports_the_standard_library_and_torch_inside_functions() -> None:
    module = ast.parse(CHILD.read_bytes())
    assert imports_of(module) - sys.stdlib_module_names <= {"torch"}
    outside = ast.Module([node for node in module.body if not isinstance(node, ast.FunctionDef)], [])
    assert imports_of(outside) <= sys.stdlib_module_names


def test_it_is_alone_in_its_folder() -> None:
    assert [path.name for path in CHILD.parent.iterdir() if path.name != "__pycache__"] == [CHILD.name]


def test_it_speaks_the_callers_protocol_and_its_version_is_its_content() -> None:
    assert f"\nPROTOCOL = {PROTOCOL}\n" in CHILD.read_text(encoding="utf-8")
    assert hashlib.sha256(CHILD.read_bytes()).hexdigest() == CHILD_VERSION


def test_it_runs_on_the_oldest_python() -> None:
    ast.parse(CHILD.read_bytes(), feature_version=(3, 11))
