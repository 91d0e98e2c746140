# SPDX-License-Identifier: Apache-2.0
"""The mistakes that the mutants of tests/mutants are made of: each where it belongs, and nowhere else."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from mutations import OPERATORS, Mutant, chosen, mutants

LINES = {
    "return a <= b": {("comparison", "return a < b"), ("return value", "return None")},
    "return a is not b": {("comparison", "return a is b"), ("return value", "return None")},
    "return a + b": {("arithmetic", "return a - b"), ("return value", "return None")},
    "a //= b": {("arithmetic", "a *= b"), ("dropped statement", "pass")},
    "return a[7]": {("off-by-one", "return a[8]"), ("return value", "return None")},
    "return a[-1]": {("dimension", "return a[-2]"), ("return value", "return None")},
    "return a[-3]": {("dimension", "return a[-2]"), ("return value", "return None")},
    "return True": {("flag", "return False"), ("return value", "return None")},
    "return a and b": {("connective", "return a or b"), ("return value", "return None")},
    "return not a": {("negation", "return a"), ("return value", "return None")},
    "a = b if a else b": {("negation", "a = b if not (a) else b"), ("dropped statement", "pass")},
    "a.x = b": {("dropped statement", "pass")},
    "c = b": set(),
    "a.f(a, b)": {("argument swap", "a.f(b, a)"), ("dropped statement", "pass")},
    "isinstance(a, b)": {("dropped statement", "pass")},
    "logger.warning(a, 1 + 2)": set(),
    "raise ValueError(a + b)": {("dropped statement", "pass")},
    "return f'{a + 1}'": {("return value", "return None")},
    "return None": set(),
}


def found(line: str) -> set[tuple[str, str]]:
    """The mutants of a line in a function of two arguments: the operator, and what the line becomes."""
    source = f"def f(a, b):\n    {line}\n".encode()
    return {(one.operator, one.applied(source).decode().splitlines()[1].strip()) for one in mutants(source, {2})}


@pytest.mark.parametrize("line", LINES)
def test_what_becomes_of_a_line(line: str) -> None:
    assert found(line) == LINES[line]


def test_every_operator_is_shown() -> None:
    assert {operator for made in LINES.values() for operator, _after in made} == set(OPERATORS)


SOURCE = b'''\
x = 1


class A:
    """\xc3\xa4 + 1."""

    flag = True

    def f(self, n=1):
        return n + 1  # \xc3\xa4


class B:
    flag = True

    def f(self):
        return 1 + 1
'''


def test_only_lines_that_ran_and_attributes_of_classes_that_ran() -> None:
    made = mutants(SOURCE, {1, 4, 7, 9, 10, 13, 14, 16})
    assert [(one.line, one.function, one.operator) for one in made] == [
        (7, "A", "flag"), (10, "A.f", "return value"), (10, "A.f", "arithmetic"), (10, "A.f", "off-by-one"),
    ]  # fmt: skip
    assert made[-1].applied(SOURCE) == SOURCE.replace(b"n + 1", b"n + 2")
    assert made[-1].words == "line 10, A.f: off-by-one: `1` becomes `2`"


def test_every_mutant_of_a_file_compiles_and_is_another(root: Path) -> None:
    source = (root / "src/headwater/core/matrix.py").read_bytes()
    made = mutants(source, range(1, 10_000))
    trees = {ast.dump(ast.parse(one.applied(source))) for one in made}
    assert len(made) > 40
    assert ast.dump(ast.parse(source)) not in trees


EVERY = [Mutant("flag", "f", n, n, n + 1, f"a{n}", "b") for n in range(50)]


def test_a_seed_says_which() -> None:
    assert chosen(EVERY, 10, 3) == chosen(EVERY, 10, 3) != chosen(EVERY, 10, 4)
    assert [one.line for one in chosen(EVERY, 10, 3)] == sorted(one.line for one in chosen(EVERY, 10, 3))
    assert chosen(EVERY, 99, 3) == EVERY
    assert chosen(EVERY, 0, 3) == []


def test_a_larger_sample_holds_the_smaller() -> None:
    assert set(chosen(EVERY, 10, 3)) < set(chosen(EVERY, 20, 3))


def test_a_sample_outlives_lines_and_operators() -> None:
    moved = [replace(one, line=one.line + 7, start=one.start + 90, end=one.end + 90) for one in EVERY]
    assert [one.before for one in chosen(moved, 10, 3)] == [one.before for one in chosen(EVERY, 10, 3)]
    more = [Mutant("new operator", "f", 1, 0, 1, "a", "c"), *EVERY]
    kept = [one for one in chosen(more, 10, 3) if one.operator == "flag"]
    assert len(kept) >= 9 and set(kept) <= set(chosen(EVERY, 10, 3))


def test_what_stands_twice_in_a_function_is_two() -> None:
    twice = [Mutant("flag", "f", n, n, n + 1, "True", "False") for n in range(40)]
    picked = [one.line for one in chosen(twice, 20, 3)]
    assert len(picked) == 20 and picked != list(range(20))
