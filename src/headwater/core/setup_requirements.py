# SPDX-License-Identifier: Apache-2.0
"""What a commit requires, read from its setup.py without running it.

Only what can be told from the text alone is taken: constants, names bound to them once, the list `_deps` and the table
`deps` that setup.py makes of it. Anything else is refused rather than guessed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from headwater.core.errors import EnvironmentUnavailable

# The pattern by which upstream's setup.py makes `deps` of `_deps`.
_NAME = re.compile(r"^(?P<name>[^!=<>~ ]+)(?:[!=<>~ ].*)?$")
_VERSION = re.compile(r"(?m)^__version__\s*=\s*[\"']([^\"']+)[\"']")


class SetupUnreadable(EnvironmentUnavailable):
    """A setup.py does not say what it requires in a way that can be read without running it."""

    kind = "setup.py unreadable"


@dataclass(frozen=True)
class SetupRequirements:
    """What a setup.py requires of an install without extras, and of Python (a PEP 440 specifier, empty for any)."""

    requirements: tuple[Requirement, ...]
    requires_python: str


def stated_version(text: str) -> Version | None:
    """The version that a package's `__init__.py` states; None where it states none."""
    stated = _VERSION.search(text)
    try:
        return Version(stated[1]) if stated else None
    except InvalidVersion:
        return None


def read_setup(text: str) -> SetupRequirements:
    """Read a setup.py.

    Raises:
        SetupUnreadable: it is no Python, or its requirements depend on more than its text.
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise SetupUnreadable(f"its setup.py is no Python that this one reads: {error}") from error
    reader = _Reader()
    for statement in module.body:
        reader.read(statement)
    return SetupRequirements(_requirements(reader), _python(reader))


def _requirements(reader: _Reader) -> tuple[Requirement, ...]:
    lines = reader.argument("install_requires")
    texts = [line for line in lines if isinstance(line, str)] if isinstance(lines, list | tuple) else []
    if not isinstance(lines, list | tuple) or len(texts) != len(lines):
        raise SetupUnreadable("its setup.py has no install_requires that can be read without running it")
    try:
        return tuple(Requirement(text) for text in texts)
    except InvalidRequirement as error:
        raise SetupUnreadable(f"its setup.py lists a requirement that is none: {error}") from error


def _python(reader: _Reader) -> str:
    value = reader.argument("python_requires")
    if not isinstance(value, str):
        raise SetupUnreadable("its setup.py has a python_requires that cannot be read without running it")
    try:
        SpecifierSet(value)
    except InvalidSpecifier as error:
        raise SetupUnreadable(f"its setup.py requires Python {value!r}, which is no specifier") from error
    return value


# A tuple cannot be changed: what only reads one leaves it known.
_Value = str | int | list["_Value"] | tuple["_Value", ...] | dict[str, "_Value"]


class _Unknown(Exception):
    """A value that the text alone does not give."""


class _Reader:
    """Walks a module's statements in order and keeps the values that are certain, by name."""

    def __init__(self) -> None:
        self._names: dict[str, _Value] = {}
        self._call: ast.Call | None = None

    def argument(self, name: str) -> _Value | None:
        """The value that setup() is given as `name`, None where it cannot be told; "" for python_requires not given."""
        given = {keyword.arg: keyword.value for keyword in self._call.keywords} if self._call else {}
        if name not in given:
            return "" if name == "python_requires" and self._call else None
        try:
            return self._value(given[name])
        except _Unknown:
            return None

    def read(self, statement: ast.stmt) -> None:
        """Take in one statement."""
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._assign(target, statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._assign(statement.target, statement.value)
        elif isinstance(statement, ast.If) and _is_main(statement.test):
            for inner in statement.body:
                self.read(inner)
        elif isinstance(statement, ast.Expr) and _is_setup(statement.value):
            self._call = statement.value if isinstance(statement.value, ast.Call) else None
        else:
            # Functions and classes of upstream's read `deps`, which nobody changes.
            is_definition = isinstance(statement, ast.FunctionDef | ast.ClassDef)
            self._forget(statement, {"deps"} if is_definition else set())

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        try:
            self._bind(target, self._value(value))
        except _Unknown:
            # `deps` is made of `_deps` by a comprehension: the one expression that is known by heart.
            if isinstance(target, ast.Name) and target.id == "deps" and "_deps" in self._names and _is_table(value):
                self._names["deps"] = _table(self._names["_deps"])
            else:
                self._forget(target)

    def _bind(self, target: ast.expr, value: _Value) -> None:
        if isinstance(target, ast.Name):
            self._names[target.id] = value
        elif isinstance(target, ast.Tuple) and isinstance(value, list | tuple) and len(target.elts) == len(value):
            for part, inner in zip(target.elts, value, strict=True):
                self._bind(part, inner)
        else:
            raise _Unknown

    def _forget(self, node: ast.AST, except_for: Collection[str] = ()) -> None:
        """What a statement that is not understood may have changed is not known any more: the names that it binds, and
        the lists and tables that it mentions, under whatever name."""
        for inner in ast.walk(node):
            name, is_read = _mention(inner)
            if name in self._names and name not in except_for:
                value = self._names[name]
                if isinstance(value, list | dict):
                    self._names = {key: other for key, other in self._names.items() if other is not value}
                elif not is_read:
                    del self._names[name]

    def _value(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=str() | int() as value):
                return value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.List(elts=parts):
                return [self._value(part) for part in parts]
            case ast.Tuple(elts=parts):
                return tuple(self._value(part) for part in parts)
            case ast.Call(func=ast.Name(id="list"), args=[inner], keywords=[]):
                return _as_list(self._value(inner))
            case ast.Call(func=ast.Name(id="deps_list"), args=parts, keywords=[]):
                return [_item(self._names.get("deps"), self._value(part)) for part in parts]
            case ast.Subscript(value=inner, slice=place):
                return _item(self._value(inner), self._value(place))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return [*_as_list(self._value(left)), *_as_list(self._value(right))]
            case ast.JoinedStr(values=parts):
                return "".join(self._text(part) for part in parts)
        raise _Unknown

    def _text(self, node: ast.expr) -> str:
        if isinstance(node, ast.FormattedValue) and node.format_spec is None and node.conversion == -1:
            node = node.value
        value = self._value(node)
        if not isinstance(value, str | int):
            raise _Unknown
        return str(value)


def _mention(node: ast.AST) -> tuple[str, bool]:
    """The name that a node mentions, "" where it mentions none, and whether it only reads it."""
    match node:
        case ast.Name(id=name, ctx=context):
            return name, isinstance(context, ast.Load)
        case ast.alias(name=name, asname=other):
            return other or name.partition(".")[0], False
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name, False
    return "", True


def _as_list(value: _Value) -> list[_Value]:
    if not isinstance(value, list | tuple):
        raise _Unknown
    return list(value)


def _item(value: _Value | None, place: _Value) -> _Value:
    if isinstance(value, dict) and isinstance(place, str) and place in value:
        return value[place]
    if isinstance(value, list | tuple) and isinstance(place, int) and 0 <= place < len(value):
        return value[place]
    raise _Unknown


def _table(lines: _Value) -> dict[str, _Value]:
    """`deps`: the lines of `_deps` by the names they begin with."""
    if not isinstance(lines, list):
        return {}
    named = [(_NAME.match(line), line) for line in lines if isinstance(line, str)]
    return {found["name"]: line for found, line in named if found}


def _is_table(node: ast.expr) -> bool:
    """Whether an expression is a comprehension over `_deps`."""
    return isinstance(node, ast.DictComp) and any(
        isinstance(inner, ast.Name) and inner.id == "_deps" for inner in ast.walk(node)
    )


def _is_main(node: ast.expr) -> bool:
    match node:
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]):
            return True
    return False


def _is_setup(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="setup") | ast.Attribute(attr="setup")):
            return True
    return False
