# SPDX-License-Identifier: Apache-2.0
"""TOML that people write: what is wrong is refused with the line on which it stands."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.core.errors import BadInput
from headwater.core.toml_text import Table, line_of, parse

TEXT = """\
# first = "in a comment"
title = "in a string, first = 0"

first_of_all = 1
list = [
  "a",
]
first = 2 # the one
'quoted key' = 1
dotted.key = 1

[[entry]]
first = 3
file = { name = "n", size = 1 }

# [[entry]] in a comment
[[ entry ]] # the second
  first=4
"key" = "value"

[[entries]]
first = 5
last = 6
"""


@pytest.mark.parametrize(
    ("key", "header", "index", "line"),
    [
        ("title", None, 0, 2),
        ("first_of_all", None, 0, 4),
        ("list", None, 0, 5),
        ("first", None, 0, 8),
        ("quoted key", None, 0, 9),
        ("dotted", None, 0, 10),
        ("entry", None, 0, 12),
        ("entries", None, 0, 21),
        ("first", "entry", 0, 13),
        ("size", "entry", 0, 14),
        ("first", "entry", 1, 18),
        ("key", "entry", 1, 19),
        ("first", "entries", 0, 22),
    ],
)
def test_line_of(key: str, header: str | None, index: int, line: int) -> None:
    assert parse(TEXT, "x")
    assert line_of(TEXT, key, header, index) == line


@pytest.mark.parametrize(
    ("key", "header", "index", "line"),
    [("last", None, 0, 1), ("last", "entry", 0, 12), ("last", "entry", 1, 17), ("of_all", "entries", 0, 21)],
)
def test_a_missing_key_is_told_with_the_line_of_its_own_table(
    key: str, header: str | None, index: int, line: int
) -> None:
    assert line_of(TEXT, key, header, index) == line


def test_only_newlines_end_a_line() -> None:
    assert line_of('title = "a\N{LINE SEPARATOR}b"\nfirst = 1\n', "first") == 2


def test_no_toml() -> None:
    with pytest.raises(BadInput, match=r"^my\.toml: not valid TOML: .*line 2"):
        parse("a = 1\nb = \n", "my.toml")


def read(text: str) -> Table:
    return Table(parse(text, "my.toml"), text, "my.toml")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("k = 1", int, 1),
        ("k = true", bool, True),
        ("k = 'a'", (int, str), "a"),
        ("k = 1.5", (int, float), 1.5),
        ("k = []", list, []),
    ],
)
def test_take(text: str, kind: type | tuple[type, ...], value: object) -> None:
    table = read(text)
    assert "k" in table
    assert table.take("k", kind) == value
    assert "k" not in table
    table.close()


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("k = '1'", int, "must be a int, not '1'"),
        ("k = true", int, "must be a int, not True"),
        ("k = true", (int, float), "must be a int or float, not True"),
        ("k = 1", bool, "must be a bool, not 1"),
        ("k = 1.0", int, "must be a int, not 1.0"),
        ("k = 1", (str, list), "must be a str or list, not 1"),
        ("", int, "is missing"),
    ],
)
def test_take_refuses(text: str, kind: type | tuple[type, ...], message: str) -> None:
    with pytest.raises(BadInput, match=rf"^my\.toml, line 1: 'k' {message}$"):
        read(text).take("k", kind)


def test_defaults() -> None:
    table = read("")
    assert table.take("a", int, None) is None
    assert table.text("b", "x") == "x"
    assert table.texts("c", None) is None
    assert table.texts("d", ()) == ()


def test_texts() -> None:
    assert read("k = ['a', 'b']").texts("k") == ("a", "b")
    assert read("k = []").texts("k", None) == ()
    for bad in ("['a', 1]", "'a'"):
        with pytest.raises(BadInput, match="line 1: 'k' must be a list"):
            read(f"k = {bad}").texts("k")


def test_time() -> None:
    assert read("k = 2026-05-01T10:00:00Z").time("k") == datetime(2026, 5, 1, 10, tzinfo=UTC)
    with pytest.raises(BadInput, match=r"must name its time zone, e\.g\. 2026-05-01T10:00:00Z"):
        read("k = 2026-05-01T10:00:00").time("k")
    for bad in ("2026-05-01", "'2026-05-01T10:00:00Z'"):
        with pytest.raises(BadInput, match="line 1: 'k' must be a datetime"):
            read(f"k = {bad}").time("k")


def test_close_names_the_first_key_that_nobody_took() -> None:
    values: dict[str, Any] = parse(TEXT, "my.toml")["entry"][0]
    table = Table(values, TEXT, "my.toml", "entry", 0)
    assert table.take("first", int) == 3
    with pytest.raises(BadInput, match=r"^my\.toml, line 14: 'file' in \[entry\] is not a key"):
        table.close()


def test_an_inline_table_is_told_with_the_line_of_its_key() -> None:
    text = "# size = 0\none = { size = 1 }\ntwo = { size = 'x', more = 1 }\n"
    two = read(text).table("two")
    with pytest.raises(BadInput, match="line 3: 'size' must be a int"):
        two.take("size", int)
    with pytest.raises(BadInput, match="line 3: 'name' is missing"):
        two.text("name")
    with pytest.raises(BadInput, match="line 3: 'more' is not a key"):
        two.close()
    with pytest.raises(BadInput, match="line 2: 'one' must be a str"):
        read(text).text("one")
    with pytest.raises(BadInput, match="line 1: 'k' must be a dict"):
        read("k = 1").table("k")
