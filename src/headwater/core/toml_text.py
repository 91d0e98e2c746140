# SPDX-License-Identifier: Apache-2.0
"""Reading TOML that people write: unknown keys and wrong types are refused with the line number."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.releases import parse_version


def parse(text: str, origin: str) -> dict[str, Any]:
    """Parse `text`; `origin` is the name that an error gives it.

    Raises:
        BadInput: the text is no TOML; the message carries tomllib's line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{origin}: not valid TOML: {error}") from error


def line_of(text: str, key: str, header: str | None = None, index: int = 0) -> int:
    """The 1-based line of `key` in `text`: in the `index`-th table called `header`, else above all tables or as the
    name of one. Falls back to the table's own line. Strings and comments are not looked at.
    """
    lines = [_STRING.sub(_without_value, line).partition("#")[0] for line in text.split("\n")]
    heads = [n for n, line in enumerate(lines) if _HEAD.match(line)]
    name = r"[\"']?" + re.escape(key) + r"[\"']?"
    start, key_or_head = 0, rf"(^|[{{,])\s*{name}\s*[.=]"
    if header is not None:
        own = [n for n in heads if re.match(rf"\s*\[+\s*{re.escape(header)}\s*\]", lines[n])]
        start = own[index] if index < len(own) else 0
    end = next((n for n in heads if n > start), len(lines)) if header is not None else min(heads, default=len(lines))
    found = [n for n in range(start, end) if re.search(key_or_head, lines[n])]
    if header is None:
        found += [n for n in heads if re.match(rf"\s*\[+\s*{name}\s*[.\]]", lines[n])]
    return found[0] + 1 if found else start + 1


# A string on one line, and what tells that it is a key.
_STRING = re.compile(r"(\"(?:\\.|[^\"\\])*\"|'[^']*')(\s*[.=\]])?")
_HEAD = re.compile(r"\s*\[\[?[^\[\],]+\]\]?\s*$")


def _without_value(string: re.Match[str]) -> str:
    return string[0] if string[2] else '""'


class Table:
    """One table of a TOML text, read key by key; `close()` refuses what nobody asked for."""

    def __init__(
        self,
        values: Mapping[str, Any],
        text: str,
        origin: str,
        header: str | None = None,
        index: int = 0,
        inside: str | None = None,
    ) -> None:
        self._values, self._inside = dict(values), inside
        self._text, self._origin, self._header, self._index = text, origin, header, index

    def error(self, key: str, what: str) -> BadInput:
        """An error about `key`, with its line."""
        line = line_of(self._text, self._inside or key, self._header, self._index)
        place = f" in [{self._header}]" if self._header else ""
        return BadInput(f"{self._origin}, line {line}: {key!r}{place} {what}")

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """Take the value of `key`, which must be a `kind`; without `default` it must be there."""
        if key not in self._values:
            if default is ...:
                raise self.error(key, "is missing")
            return default
        value = self._values.pop(key)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(k.__name__ for k in kinds)
            raise self.error(key, f"must be a {names}, not {value!r}")
        return value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def table(self, key: str) -> Table:
        """Take a table inside this one (an inline table, as a rule); its errors name its key's line."""
        return Table(self.take(key, dict), self._text, self._origin, self._header, self._index, self._inside or key)

    def tables(self, key: str, default: Any = ...) -> list[Table]:
        """Take the tables of an array, `[[key]]`."""
        values = self.take(key, list, default)
        if not all(isinstance(value, dict) for value in values):
            raise self.error(key, f"must be a list of tables, [[{key}]], not {values!r}")
        return [Table(value, self._text, self._origin, key, n) for n, value in enumerate(values)]

    def text(self, key: str, default: Any = ...) -> Any:
        """Take a string."""
        return self.take(key, str, default)

    def texts(self, key: str, default: Any = ...) -> Any:
        """Take a list of strings, as a tuple."""
        values = self.take(key, list, default)
        if values is default:
            return default
        if not all(isinstance(v, str) for v in values):
            raise self.error(key, f"must be a list of strings, not {values!r}")
        return tuple(values)

    def version(self, key: str) -> Version:
        """Take a version by PEP 440."""
        text = self.text(key)
        try:
            return parse_version(text)
        except BadInput as error:
            raise self.error(key, f"must be a version: {error}") from error

    def time(self, key: str) -> datetime:
        """Take a date and time that names its zone."""
        value: datetime = self.take(key, datetime)
        if value.tzinfo is None:
            raise self.error(key, f"must name its time zone, e.g. {value.isoformat()}Z")
        return value

    def close(self) -> None:
        """Refuse the keys that were not taken.

        Raises:
            BadInput: naming the first unknown key and its line.
        """
        for key in self._values:
            raise self.error(key, "is not a key that Headwater knows; remove it or correct its spelling")
