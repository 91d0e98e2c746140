# SPDX-License-Identifier: Apache-2.0
"""The pins file: what it says, and that whatever is wrong in it is refused with its line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from packaging.version import Version

from headwater.core.errors import BadInput, EnvironmentUnavailable
from headwater.core.pins import IndexFile, Pins, read_pins

A, B, C, D = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)
TREE = "1" * 40
PINS = f"""\
# SPDX-License-Identifier: Apache-2.0
# The pins. A comment may hold anything: [[release]], version = "0".

schema = 1
package = "transformers"
first = "5.10.1"
torch = "2.9.1"

[[environment]]
name = "old"
first = "5.0.0"
last = "5.10.4"
lock = "locks/old.txt"

[[environment]]
name = "new"
first = "5.16.0"
last = "5.24.0"
lock = "locks/new.txt"

[[release]]
version = "5.10.1"
uploaded = 2026-05-01T10:00:00Z
requires_python = ">=3.10.0"
tree = "{TREE}"
wheel = {{ file = "transformers-5.10.1-py3-none-any.whl", sha256 = "{A}", size = 10 }}
sdist = {{ file = "transformers-5.10.1.tar.gz", sha256 = "{B}", size = 20 }}

[[release]]
version = "5.10.4"
uploaded = 2026-06-01T12:00:00+02:00
requires_python = ">=3.10.1"
yanked = "broken: version = 1"
tree = "{TREE}"
mirror_commit = "{"2" * 40}"
nearest_commit = "{"3" * 40}"
differing_files = 0
wheel = {{ file = "transformers-5.10.4-py3-none-any.whl", sha256 = "{C}", size = 30 }}

[[release]]
version = "5.12.0"
uploaded = 2026-05-20T10:00:00Z
requires_python = ">=3.10.2"
wheel = {{ file = "transformers-5.12.0-py3-none-any.whl", sha256 = "{D}", size = 40 }}
"""
LINES = PINS.splitlines()


@pytest.fixture
def pins() -> Pins:
    return read_pins(PINS, "transformers.toml")


def refuse(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        read_pins(text, "transformers.toml")
    message = str(caught.value)
    assert message.startswith("transformers.toml"), message
    return message


def line_of(part: str, text: str = PINS) -> int:
    assert text.count(part) == 1, f"{part!r} stands once in the text"
    return text[: text.index(part)].count("\n") + 1


def test_what_the_file_says(pins: Pins) -> None:
    assert (pins.package, pins.first, pins.torch) == ("transformers", Version("5.10.1"), "2.9.1")
    assert [str(v) for v in pins.versions] == ["5.10.1", "5.10.4", "5.12.0"]
    one, two, three = pins.releases
    assert one.wheel == IndexFile("transformers-5.10.1-py3-none-any.whl", A, 10)
    assert one.sdist == IndexFile("transformers-5.10.1.tar.gz", B, 20)
    assert (one.yanked, one.mirror_commit, one.nearest_commit, one.differing_files) == (None,) * 4
    assert two.uploaded == datetime(2026, 6, 1, 10, tzinfo=UTC)
    assert (two.yanked, two.sdist, two.requires_python) == ("broken: version = 1", None, ">=3.10.1")
    assert (two.mirror_commit, two.nearest_commit, two.differing_files) == ("2" * 40, "3" * 40, 0)
    assert three.tree is None


def test_find(pins: Pins) -> None:
    assert pins.find("5.10.4") is pins.pin(Version("5.10.4")) is pins.releases[1]
    with pytest.raises(BadInput, match=r"5\.10\.1, 5\.10\.4"):
        pins.find("5.10.3")


def test_release_of_tree_is_the_newest_one(pins: Pins) -> None:
    assert pins.release_of_tree(TREE) == Version("5.10.4")
    assert pins.release_of_tree("9" * 40) is None


@pytest.mark.parametrize(
    ("version", "group"),
    [("5.0.0", "old"), ("5.9.0", "old"), ("5.10.4", "old"), ("5.16.0", "new"), ("5.24.0", "new")],
)
def test_group_of(pins: Pins, version: str, group: str) -> None:
    assert pins.group_of(Version(version)).name == group
    assert pins.is_grouped(Version(version))


@pytest.mark.parametrize("version", ["4.57.6", "5.12.0", "5.25.0"])
def test_a_release_without_a_group(pins: Pins, version: str) -> None:
    with pytest.raises(EnvironmentUnavailable, match=f"no environment group holds {version}.*--locks"):
        pins.group_of(Version(version))
    assert not pins.is_grouped(Version(version))


def test_a_group_of_one_release() -> None:
    assert read_pins(PINS.replace('last = "5.24.0"', 'last = "5.16.0"'), "p.toml").groups[1].lock == "locks/new.txt"


def test_the_least_file() -> None:
    pins = read_pins('schema = 1\npackage = "p"\nfirst = "1"\ntorch = "2"\n', "p.toml")
    assert (pins.groups, pins.releases, pins.versions) == ((), (), ())


@pytest.mark.parametrize("schema", [2, 0])
def test_another_schema_is_refused_by_name(schema: int) -> None:
    message = refuse(PINS.replace("schema = 1", f"schema = {schema}") + "\n[[unheard_of]]\n")
    assert f"line 4: 'schema' is {schema}, and this Headwater reads 1" in message


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('torch = "2.9.1"', 'torch = "2.9.1"\ncolour = 1', "is not a key"),
        ('lock = "locks/new.txt"', 'lock = "x"\ncolour = 1', "is not a key"),
        ('requires_python = ">=3.10.1"', 'requires_python = "x"\ncolour = 1', "is not a key"),
        ("size = 40 }", "size = 40, colour = 1 }", "is not a key"),
        ("size = 20 }", "size = 20, colour = 1 }", "is not a key"),
    ],
)
def test_unknown_keys(old: str, new: str, what: str) -> None:
    text = PINS.replace(old, new)
    assert f"line {line_of('colour', text)}: 'colour'" in (message := refuse(text))
    assert what in message


@pytest.mark.parametrize("table", ["[colours]", "[[colours]]", "[colours.of]"])
def test_unknown_tables(table: str) -> None:
    text = f"{PINS}\n{table}\nred = 1\n"
    assert f"line {len(LINES) + 2}: 'colours' is not a key" in refuse(text)


@pytest.mark.parametrize(
    ("old", "new", "key", "what"),
    [
        ("schema = 1", 'schema = "1"', "schema", "must be a int"),
        ('package = "transformers"', "package = 1", "package", "must be a str"),
        ('name = "new"', "name = 1", "name", "must be a str"),
        ("2026-05-20T10:00:00Z", "2026-05-20T10:00:00", "uploaded", "must name its time zone"),
        ("2026-05-20T10:00:00Z", "2026-05-20", "uploaded", "must be a datetime"),
        ("differing_files = 0", "differing_files = true", "differing_files", "must be a int"),
        ("2" * 40, "2" * 39, "mirror_commit", "must be 40 hexadecimal digits"),
        ("3" * 40, "3" * 41, "nearest_commit", "must be 40 hexadecimal digits"),
        (A, "A" * 64, "sha256", "must be 64 hexadecimal digits"),
        (B, B[:40], "sha256", "must be 64 hexadecimal digits"),
        (C, "x" * 64, "sha256", "must be 64 hexadecimal digits"),
        (D, f"sha256:{D}", "sha256", "must be 64 hexadecimal digits"),
        (f'sha256 = "{A}", ', "", "wheel", "has no sha256"),
        (f'sha256 = "{B}", ', "", "sdist", "has no sha256"),
        (f'sha256 = "{D}", ', "", "wheel", "has no sha256"),
        ("size = 20", "size = true", "size", "must be a int"),
        (", size = 20", "", "size", "is missing"),
        ("size = 40", "size = '40'", "size", "must be a int"),
        ('"transformers-5.10.1.tar', '"https://host/t-5.10.1.tar', "sdist", "must be a bare file name"),
        ('"transformers-5.12.0', '"../t', "wheel", "must be a bare file name"),
        ('"transformers-5.12.0', "'..\\t'#", "wheel", "must be a bare file name"),
    ],
)
def test_wrong_values(old: str, new: str, key: str, what: str) -> None:
    line = line_of(old)
    if "#" in new:  # a literal string, for the backslash
        start = LINES[line - 1].index(old)
        new, old = f"""{new[:-1]}, sha256 = "{D}", size = 40 }}""", LINES[line - 1][start:]
    assert f"line {line}: {key!r}" in (message := refuse(PINS.replace(old, new)))
    assert what in message


@pytest.mark.parametrize(
    ("removed", "head", "key"),
    [
        ('first = "5.10.1"\n', "# SPDX", "first"),
        ('lock = "locks/old.txt"\n', None, "lock"),
        ('requires_python = ">=3.10.1"\n', None, "requires_python"),
        ("uploaded = 2026-05-20T10:00:00Z\n", None, "uploaded"),
        (LINES[-1] + "\n", None, "wheel"),
    ],
)
def test_a_missing_key_is_told_with_the_line_of_its_table(removed: str, head: str | None, key: str) -> None:
    above = PINS[: PINS.index(removed)]
    line = line_of(head) if head else above[: above.rindex("[[")].count("\n") + 1
    assert f"line {line}: {key!r}" in (message := refuse(PINS.replace(removed, "")))
    assert "is missing" in message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('first = "5.10.1"', 'first = "five"'),
        ('first = "5.16.0"', 'first = "five"'),
        ('version = "5.10.4"', 'version = "five"'),
        # Out of order, twice, twice in other words.
        ('version = "5.12.0"', 'version = "5.10.2"'),
        ('version = "5.10.4"', 'version = "5.10.1"'),
        ('version = "5.10.4"', 'version = "5.10.1.0"'),
        # Groups that overlap, in one release or in several, out of order, or hold nothing.
        ('first = "5.16.0"', 'first = "5.10.4"'),
        ('first = "5.16.0"', 'first = "5.0.0"'),
        ('last = "5.24.0"', 'last = "5.15.0"'),
    ],
)
def test_versions_that_are_none_or_out_of_order(old: str, new: str) -> None:
    line = line_of(old)
    table = next(n for n in range(line, 0, -1) if LINES[n - 1].startswith(("[[", "# SPDX")))
    message = refuse(PINS.replace(old, new))
    assert any(f"line {n}:" in message for n in range(table, line + 2)), message


@pytest.mark.parametrize("key", ["environment", "release"])
@pytest.mark.parametrize("value", ["1", "[1]", "['5.10.1']", "{ version = '5.10.1' }"])
def test_tables_that_are_none(key: str, value: str) -> None:
    text = PINS[: PINS.index("[[environment]]")] + f"{key} = {value}\n"
    assert f"line 9: {key!r} must be" in refuse(text)


def test_no_toml() -> None:
    assert "line 4" in refuse(PINS.replace("schema = 1", "schema = "))


def test_a_comment_or_a_string_is_never_mistaken_for_the_key() -> None:
    text = "# schema = 1 is the only one\n" + PINS.replace("schema = 1", "schema = 3")
    assert "line 5: 'schema' is 3" in refuse(text)
    text = PINS.replace("differing_files = 0", "differing_files = 0\nversion_ = 1")
    assert f"line {line_of('version_ =', text)}: 'version_' in [release]" in refuse(text)


def test_what_a_library_need_not_have() -> None:
    head = 'schema = 1\npackage = "small"\nfirst = "1.0"\n'
    pins = read_pins(head, "small.toml")
    assert (pins.torch, pins.repository, pins.tests, pins.sdist_tests) == (None, None, (), ())
    pins = read_pins(head + 'repository = "a/b"\ntests = ["tests/a.py"]\nsdist_tests = ["b.py"]\n', "small.toml")
    assert (pins.repository, pins.tests, pins.sdist_tests) == ("a/b", ("tests/a.py",), ("b.py",))
