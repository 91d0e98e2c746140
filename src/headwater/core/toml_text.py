# SPDX-License-Identifier: Apache-2.0
"""Reading TOML that people write: unknown keys and wrong types are refused with the line number."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater.core.errors import BadInput


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
    """The 1-based line of `key` in `text`: in the `index`-th table called `header`, else above all tables.

    Falls back to the table's own line where the key stands inside an inline table written over several lines.
    """
    lines = text.splitlines()
    start, end = 0, len(lines)
    if header is not None:
        heads = [n for n, line in enumerate(lines) if re.match(rf"\s*\[+\s*{re.escape(header)}\s*\]+", line)]
        start = heads[index] if index < len(heads) else 0
        end = next((n for n in range(start + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
    pattern = re.compile(rf"(^|[\s{{,\[]){re.escape(key)}\s*[=\]]")
    return next((n + 1 for n in range(start, end) if pattern.search(lines[n])), start + 1)


class Table:
    """One table of a TOML text, read key by key; `close()` refuses what nobody asked for."""

    def __init__(
        self, values: Mapping[str, Any], text: str, origin: str, header: str | None = None, index: int = 0
    ) -> None:
        self._values = dict(values)
        self._text, self._origin, self._header, self._index = text, origin, header, index

    def error(self, key: str, what: str) -> BadInput:
        """An error about `key`, with its line."""
        line = line_of(self._text, key, self._header, self._index)
        place = f" in [{self._header}]" if self._header else ""
        return BadInput(f"{self._origin}, line {line}: {key!r}{place} {what}")

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """Take the value of `key`, which must be a `kind`; without `default` it must be there."""
        if key not in self._values:
            if default is ...:
                raise self.error(key, "is missing")
            return default
        value = self._values.pop(key)
        wrong_bool = isinstance(value, bool) and kind is int
        if not isinstance(value, kind) or wrong_bool:
            names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise self.error(key, f"must be a {names}, not {value!r}")
        return value

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def table(self, key: str) -> Table:
        """Take a table inside this one (an inline table, as a rule); its errors name its key's line."""
        return Table(self.take(key, dict), self._text, self._origin, self._header, self._index)

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
