# SPDX-License-Identifier: Apache-2.0
"""What can be hunted: telling a script, an executable, tests and a case apart, and what travels with each."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from headwater.core.cases import metadata_block
from headwater.core.errors import BadInput
from headwater.core.verdicts import End

Kind = Literal["case", "script", "executable", "tests"]

# The exit statuses of `git bisect run`: 0 is good, this one cannot tell, from the other one on stop; the rest are bad.
CANNOT_TELL, STOP = 125, 128
_PYTHON = re.compile(rb"#!.*\bpython[0-9.]*\b")
_BINARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")


def end_of_status(status: int) -> End:
    """How a process ended that speaks the exit statuses of `git bisect run`."""
    if status == 0:
        return "returned"
    if status == CANNOT_TELL:
        return "skipped"
    return "aborted" if status >= STOP else "raised"


@dataclass(frozen=True)
class Word:
    """WHAT, taken apart: a path, or a case's id; and the part of a pytest node id behind the file, `` without one."""

    path: str
    node: str = ""


def take_apart(word: str) -> Word:
    """Take WHAT apart.

    Raises:
        BadInput: it is empty, or a node id without a file.
    """
    path, separator, node = word.partition("::")
    if not path or (separator and not (path.endswith(".py") and node)):
        raise BadInput(f"{word!r} is no case id, no file, and no test id such as tests/test_x.py::TestX::test_y")
    return Word(path, node)


def kind_of(file: str, content: bytes, executable: bool) -> Kind:
    """What a user's file is, by its name, its first bytes and whether it may be executed.

    Raises:
        BadInput: it can be run in no way that is known.
    """
    if file.endswith(".py") or _PYTHON.match(content):
        source = python_source(file, content)
        if metadata_block(source) is not None:
            return "case"
        return "tests" if _holds_tests_only(file, source) else "script"
    if not content.startswith((b"#!", *_BINARIES)):
        raise BadInput(f"{file} is no python file, and begins with no `#!` line that says what runs it")
    if not executable:
        raise BadInput(f"{file} is not executable; `chmod +x {file}` makes it so")
    return "executable"


def python_source(file: str, content: bytes) -> str:
    """The text of a python file.

    Raises:
        BadInput: it is not UTF-8, or no Python.
    """
    try:
        source = content.decode("utf-8-sig")
        ast.parse(source, file)
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: not UTF-8 at byte {error.start}") from error
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{file}: not valid Python: {error}") from error
    return source


def _holds_tests_only(file: str, source: str) -> bool:
    """Whether a file is for pytest: named so, with tests in it, and doing nothing when it is run."""
    if not _TEST_FILE.fullmatch(posixpath.basename(file)):
        return False
    body = ast.parse(source).body
    named = [n.name for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    does = any(isinstance(n, ast.Expr) and not isinstance(n.value, ast.Constant) for n in body)
    return any(name.startswith(("test", "Test")) for name in named) and not does and "__main__" not in source


def named_files(source: bytes, names: Collection[str]) -> list[str]:
    """Those of the files beside a script, by name, that it names: it may read or run them."""
    text = source.decode("utf-8", "replace")
    found = []
    for name in sorted(names):
        # `./name` and `/name` name it as well; `other-name` and `name.bak` do not.
        if "." in name and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text):
            found.append(name)
    return found


def upstream_closure(path: str, read: Callable[[str], bytes | None]) -> Mapping[str, bytes]:
    """A test file of the upstream checkout, and the other files below its first folder that it imports, directly or
    through another; by path. `read` gives the content of a path of the checkout, or None.

    Raises:
        BadInput: there is no such file, or one is no Python.
    """
    first = read(path)
    if first is None:
        raise BadInput(f"there is no file {path}, neither here nor in the upstream checkout")
    found = {path: first}
    waiting = [path]
    while waiting:
        importer = waiting.pop()
        for module in _imported_modules(importer, found[importer], path.partition("/")[0]):
            for candidate in (f"{module}.py", f"{module}/__init__.py"):
                if candidate not in found and (content := read(candidate)) is not None:
                    found[candidate] = content
                    waiting.append(candidate)
    return found


def _imported_modules(path: str, content: bytes, top: str) -> set[str]:
    """The modules below the folder `top` that a file may import, as paths without suffix."""
    folder = posixpath.dirname(path).split("/")
    modules: set[str] = set()
    for node in ast.walk(ast.parse(python_source(path, content))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            modules.add(base)
            modules.update(f"{base}.{alias.name}" for alias in node.names)
    return {module.replace(".", "/") for module in modules if module.partition(".")[0] == top}
