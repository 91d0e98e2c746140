# SPDX-License-Identifier: Apache-2.0
"""Dataclasses as plain data for JSON and back: a file that somebody may have edited is read strictly.

Known are str, int, bool, None, enums, literals, unions of these, tuples of one kind, mappings by str, and dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from headwater.core.errors import BadInput

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """What JSON can hold of a dataclass, and of what lies in it; fields in their order."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [to_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(one) for key, one in value.items()}
    return value


def from_plain(kind: type[T], data: object, where: str) -> T:
    """The dataclass `kind` of what `to_plain` made.

    Raises:
        BadInput: something is missing, unknown or of another kind; `where` and the path there are named.
    """
    made: T = _read(kind, data, where)
    return made


def _read(kind: Any, data: object, where: str) -> Any:
    if is_dataclass(kind):
        return _read_dataclass(kind, data, where)
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _read_union(kind, data, where)
    if origin is Literal:
        return data if data in get_args(kind) else _refuse(data, where, f"one of {', '.join(get_args(kind))}")
    if origin is tuple:
        if not isinstance(data, list):
            return _refuse(data, where, "a list")
        return tuple(_read(get_args(kind)[0], one, f"{where}[{n}]") for n, one in enumerate(data))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(data, dict):
            return _refuse(data, where, "an object")
        return {key: _read(get_args(kind)[1], one, f"{where}.{key}") for key, one in data.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        known = {one.value: one for one in kind}
        is_known = isinstance(data, str) and data in known
        return known[data] if is_known else _refuse(data, where, f"one of {', '.join(map(str, known))}")
    # A bool is an int for Python, and none for whoever reads the file.
    return data if type(data) is kind else _refuse(data, where, getattr(kind, "__name__", str(kind)))


def _read_dataclass(kind: Any, data: object, where: str) -> Any:
    if not isinstance(data, dict):
        return _refuse(data, where, "an object")
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    for name in data:
        if name not in names:
            raise BadInput(f"{where}: there is no key {name!r}; there are {', '.join(names)}")
    for name in names:
        if name not in data:
            raise BadInput(f"{where}: the key {name!r} is missing")
    return kind(**{name: _read(hints[name], data[name], f"{where}.{name}") for name in names})


def _read_union(kind: Any, data: object, where: str) -> Any:
    """A value or None: there are no other unions."""
    if data is None and type(None) in get_args(kind):
        return None
    [inner] = [one for one in get_args(kind) if one is not type(None)]
    return _read(inner, data, where)


def _refuse(data: object, where: str, wanted: str) -> Any:
    raise BadInput(f"{where}: {data!r:.80} is not {wanted}")


def flatten(data: object, where: str = "") -> dict[str, object]:
    """Every scalar of plain data by its path, such as `patches[0].sha256`. Empty lists and objects are scalars; entries
    that have a `name`, a `file` or a `what` are known by these instead of by their place."""
    if isinstance(data, dict) and data:
        inner = {f"{where}.{key}" if where else key: one for key, one in data.items()}
    elif isinstance(data, list) and data:
        inner = {f"{where}[{_label(one, n, data)}]": one for n, one in enumerate(data)}
    else:
        return {where: data}
    return {path: value for place, one in inner.items() for path, value in flatten(one, place).items()}


def _label(entry: object, number: int, entries: list[object]) -> str:
    if not isinstance(entry, dict):
        return str(number)
    keys = [key for key in ("name", "file", "what", "revision", "device") if isinstance(entry.get(key), str)]
    label = " ".join(str(entry[key]) for key in keys)
    same = [one for one in entries if isinstance(one, dict) and all(one.get(key) == entry[key] for key in keys)]
    return label if label and len(same) == 1 else str(number)
