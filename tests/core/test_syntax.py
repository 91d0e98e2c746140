# SPDX-License-Identifier: Apache-2.0
"""What compiles, and how a hunk falls into statements and lines."""

from __future__ import annotations

import ast

import pytest
from diff_texts import Text, file_diff
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.changesets import Changeset, Unit, read_changeset, split_lines
from headwater.core.statements import Statements
from headwater.core.syntax import Syntax, compiles, line_layers

OLD = b"""\
import os

def first(x):
    return x

def last(x):
    return x
"""
NEW = b"""\
import os

def first(x, y):
    return (x,
            y)

class Layer:
    '''A layer.'''

    @property
    def size(self):
        # How much it holds.
        return 1

    size_of = size

def last(x):
    if x:
        return 1
    return x
"""


def changed(old: bytes, new: bytes, path: str = "a.py") -> Changeset:
    diff = file_diff(path.encode(), Text(split_lines(old)), Text(split_lines(new)), 0)
    return read_changeset(diff, {path: old}, {path: new})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"x = 1\n", True), (b"", True), (b"x = (\n", False), (b"x = 1\0\n", False), (b"return 1\n", False),
        (b"x = '\xff'\n", False), (b"# -*- coding: latin-1 -*-\nx = '\xff'\n", True), (b"# coding: none\n", False),
        (b"x" + b"+1" * 10, True), (b"(" * 5000, False), (b"x = '\\d'\n", True), (b"\xef\xbb\xbfx = 1\r\n", True),
    ],
)  # fmt: skip
def test_what_compiles(text: bytes, expected: bool) -> None:
    assert compiles(text) is expected


def test_only_files_of_which_a_part_is_taken_are_judged() -> None:
    changes = changed(b"x = 1\ny = 2\n", b"x = (1,\ny = 2\n)\n")
    first, second = changes.units
    syntax = Syntax(changes)
    # The new side does not compile by itself, so nothing can be said of this file.
    assert syntax([first]) and syntax([second]) and syntax([first, second])
    changes = changed(b"x = 1\ny = 2\n", b"x = (1,\n    2)\ny = 2\nz = 3\n")
    one, other = changes.units
    syntax = Syntax(changes)
    assert syntax([]) and syntax([one]) and syntax([other])
    added = changes.lines(one)
    assert not syntax([added[1]]) and syntax([added[0]]) and syntax(added)
    assert Syntax(changed(b"x = 1\ny\n", b"(\ny\n(\n", "a.txt"))([Unit("a.txt", 1)])


def test_a_subset_is_mended_with_what_it_needs_to_compile() -> None:
    changes = changed(b"def f():\n    a\n\n    b\n\nc\n", b"if x:\n  def f():\n    a\n\n    b\n\n  d\n\nc\ne\n")
    units = changes.units
    syntax = Syntax(changes)
    within = frozenset(units)
    for unit in units:
        mended = syntax.mended(frozenset([unit]), within)
        assert unit in mended and syntax(mended)
    assert syntax.mended(frozenset(units[-1:]), within) == frozenset(units[-1:])
    assert syntax.mended(within, within) == within


def test_layers_go_from_what_does_not_run_over_statements_to_lines() -> None:
    changes = changed(b"import os\n", b"import os\n" + NEW[NEW.index(b"class") : NEW.index(b"def last")])
    (unit,) = changes.units
    region = changes.region(unit)
    assert region is not None
    new = changes.by_path["a.py"].new_lines

    def text(group: frozenset[Unit]) -> list[bytes]:
        return [new[region.new_first + line.line - region.removed].strip() for line in sorted(group)]

    layers = line_layers(changes, unit)
    assert len(layers[0]) == 1
    assert set(text(layers[0][0])) == {b"'''A layer.'''", b"", b"# How much it holds."}
    assert [text(group)[0] for group in layers[1]] == [b"class Layer:"]
    assert [text(group)[0] for group in layers[2]] == [b"'''A layer.'''", b"@property", b"size_of = size"]
    assert [text(group) for group in layers[3]] == [[b"return 1"]]
    assert set(layers[-1]) == {frozenset([line]) for line in changes.lines(unit)}


def test_functions_that_nobody_called_go_together() -> None:
    new = (
        b"class C:\n    x = 1\n\n    @a\n    def used(self):\n        return 1\n\n"
        b"    @a\n    def unused(self):\n        return 2\n"
    )
    changes = changed(b"", new)
    (unit,) = changes.units
    idle, unused = line_layers(changes, unit, frozenset({1, 2, 4, 5, 6, 8, 9}))[0]
    assert sorted(line.line for line in idle) == [2, 6]
    assert sorted(line.line for line in unused) == [7, 8, 9]
    assert len(line_layers(changes, unit)[0]) == 1
    # What ran on the new side says nothing of lines that are removed.
    gone = changed(new, b"")
    assert len(line_layers(gone, gone.units[0], frozenset())[0]) == 1


def test_a_text_that_is_all_of_a_body_is_not_left_out_with_the_others() -> None:
    changes = changed(b"", b"def f():\n    'why'\n    return 1\n\ndef g():\n    'why'\n")
    (idle,) = line_layers(changes, changes.units[0])[0]
    assert sorted(line.line for line in idle) == [1, 3]
    assert Syntax(changes)(frozenset(changes.lines(changes.units[0])) - idle)


@given(st.data())
def test_layers_hold_lines_of_the_hunk_only(data: st.DataObject) -> None:
    pool = [
        b"x = 1\n",
        b"def f():\n",
        b"    return 1\n",
        b"\n",
        b"# a\n",
        b"if x:\n",
        b"    y = (1,\n",
        b"    2)\n",
        b"\xff\n",
    ]
    old, new = (b"".join(data.draw(st.lists(st.sampled_from(pool), max_size=12))) for _ in range(2))
    changes = changed(old, new)
    for unit in changes.units:
        lines = set(changes.lines(unit))
        layers = line_layers(changes, unit, data.draw(st.none() | st.frozensets(st.integers(1, 12))))
        assert bool(layers) == (len(lines) > 1)
        assert all(group and group <= lines for layer in layers for group in layer)
        assert not layers or {line for group in layers[-1] for line in group} == lines


def test_the_place_of_a_line() -> None:
    statements = Statements(NEW)
    lines = dict(enumerate(split_lines(NEW), 1))
    number = {line.strip(): n for n, line in lines.items()}
    place = statements.at(number[b"y)"])
    assert place is not None and isinstance(place.block, ast.Return)
    assert place.own == {4, 5} and place.runs_when_called and not place.is_header
    assert place.scope is place.around[-1]
    header = statements.at(number[b"@property"])
    assert header is not None and header.is_header and not header.runs_when_called
    assert header.own == {number[b"@property"], number[b"def size(self):"], number[b"# How much it holds."]}
    attribute = statements.at(number[b"size_of = size"])
    assert attribute is not None and not attribute.is_header and not attribute.runs_when_called
    assert statements.at(number[b"# How much it holds."]) is None
    assert statements.at(2) is None and statements.at(999) is None
    module = statements.at(1)
    assert module is not None and module.is_header and module.around == ()


def test_clauses_of_statements_have_their_own_lines() -> None:
    text = b"try:\n    a\nexcept E:\n    b\nelse:\n    c\nmatch x:\n    case 1:\n        d\n"
    statements = Statements(text)
    owns = {line: place.own for line in range(1, 10) if (place := statements.at(line)) is not None}
    assert owns == {
        1: {1, 5}, 2: {2}, 3: {3}, 4: {4}, 5: {1, 5}, 6: {6}, 7: {7}, 8: {8}, 9: {9},
    }  # fmt: skip


def test_what_is_no_python_falls_into_lines_alone() -> None:
    changes = changed(b"", b"# A title\nif x:\n    y\n", "README.md")
    (unit,) = changes.units
    assert line_layers(changes, unit) == (tuple(frozenset([line]) for line in changes.lines(unit)),)
