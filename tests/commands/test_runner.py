# SPDX-License-Identifier: Apache-2.0
"""From cells to verdicts, with everything around stood in for: what is looked up once, and not for every cell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from headwater.commands.context import Context
from headwater.commands.hand import Hand
from headwater.commands.matrix.runner import CellRunner
from headwater.core.matrix import Cell, Row


class World:
    """A workspace and subjects that count how often they are asked; a hand that says what it was given."""

    def __init__(self) -> None:
        self.read = self.named = 0
        self.pins = SimpleNamespace(pin=str)

    def cases(self, extra: object) -> dict[str, Any]:
        self.read += 1
        return {"one": "case one", "two": "case two"}

    def release(self, pin: str) -> str:
        self.named += 1
        return f"tree of {pin}"

    def probe(self, subject: str, case: str, device: str) -> tuple[str, str, str]:
        return subject, case, device


def test_cases_are_read_once_and_releases_named_once() -> None:
    world = World()
    runner = CellRunner(cast(Context, SimpleNamespace(workspace=world, subjects=world)), None, None)
    cells = [Cell(Row("case", case), release, "cpu", "g") for release in ("5.0.0", "5.1.0") for case in ("one", "two")]
    said = [cast(Any, runner.run(cell, cast(Hand, world))) for cell in cells]
    assert said[1] == ("tree of 5.0.0", "case two", "cpu")
    assert (world.read, world.named) == (1, 2)


def test_cases_that_are_given_are_not_looked_for() -> None:
    world = World()
    context = cast(Context, SimpleNamespace(workspace=world, subjects=world))
    runner = CellRunner(context, None, None, cast(Any, {"one": "another case"}))
    said = cast(Any, runner.run(Cell(Row("case", "one"), "5.0.0", "cpu", "g"), cast(Hand, world)))
    assert said == ("tree of 5.0.0", "another case", "cpu")
    assert world.read == 0
