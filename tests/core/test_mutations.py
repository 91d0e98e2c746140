# SPDX-License-Identifier: Apache-2.0
"""The mistakes that the mutants of tests/mutants are made of: each where it belongs, and nowhere else."""

from __future__ import annotations

import ast
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


def test_a_seed_says_which() -> None:
    every = [Mutant("flag", "f", n, n, n + 1, "a", "b") for n in range(50)]
    assert chosen(every, 10, 3) == chosen(every, 10, 3) != chosen(every, 10, 4)
    assert [one.line for one in chosen(every, 10, 3)] == sorted(one.line for one in chosen(every, 10, 3))
    assert chosen(every, 99, 3) == every
