# SPDX-License-Identifier: Apache-2.0
"""A reduction of real texts: judged by executing what a subset makes, with what ran as the plan."""

from __future__ import annotations

import random

import pytest
from diff_texts import Text, file_diff
from reductions import drive

from headwater.core.changesets import Changeset, Unit, read_changeset, split_lines
from headwater.core.likely import Recorded, judge_units
from headwater.core.narrowing import PartOutcome
from headwater.core.reduction import Reduction
from headwater.core.syntax import Syntax, line_layers

Texts = dict[str, bytes]


def module(number: int, side: str, rng: random.Random) -> bytes:
    """A module whose sides differ in a value, in a name and its use, and in a statement of several lines."""
    name = f"helper_{side}"
    lines = [f"value = {0 if side == 'old' else 1}", "", f"def {name}():", "    return 1", ""]
    lines += [f"constant_{n} = {rng.randint(0, 9)}" for n in range(4)]
    lines += [f"used = {name}()", "", "table = [", f"    {number},"]
    lines += ["    101,", "    102,"] if side == "new" else []
    lines += ["]", "", "def run():"]
    lines += ["    # why", "    if value:", "        return 1", "    other = 2"] if side == "new" else []
    lines += ["    return 0", "", "def never():", f"    return '{side}'"]
    return "\n".join(lines).encode() + b"\n"


def judged(texts: Texts, causes: list[str]) -> PartOutcome:
    """Execute all modules: the verdict flips where `run` of every cause does."""
    try:
        spaces: dict[str, dict[str, object]] = {path: {} for path in texts}
        for path, text in texts.items():
            exec(compile(text, path, "exec"), spaces[path])
        results = [eval("run()", spaces[path]) for path in causes]
    except NameError:
        return PartOutcome.UNJUDGED
    return PartOutcome.FLIPS if all(results) else PartOutcome.STAYS


def lines_run(text: bytes) -> frozenset[int]:
    """All but the function that nobody calls."""
    lines = split_lines(text)
    return frozenset(range(1, lines.index(b"def never():\n") + 2))


def world(seed: int) -> tuple[Changeset, Texts, Texts]:
    rng = random.Random(seed)
    numbers = range(rng.randint(1, 8))
    old, new = ({f"m{n}.py": module(n, side, random.Random(n)) for n in numbers} for side in ("old", "new"))
    parts = [file_diff(p.encode(), Text(split_lines(old[p])), Text(split_lines(new[p])), 0) for p in old]
    rng.shuffle(parts)
    return read_changeset(b"".join(parts), old, new), old, new


@pytest.mark.parametrize("seed", range(12))
def test_the_lines_that_make_the_difference_are_found(seed: int) -> None:
    changes, old, new = world(seed)
    rng = random.Random(seed)
    causes = rng.sample(sorted(old), rng.randint(1, min(2, len(old))))
    loaded = frozenset({*causes, *rng.sample(sorted(old), len(old) // 2)})
    runs = [Recorded(loaded, {p: lines_run(side[p]) for p in loaded}) for side in (old, new)]
    syntax = Syntax(changes)

    def judge(subset: frozenset[Unit]) -> PartOutcome:
        assert syntax(subset), "what does not compile is not tested"
        made = {path: file.content for path, file in changes.applied(subset).items() if file}
        return judged({**old, **made}, causes)

    likely = judge_units(changes, runs[0], runs[1], syntax)
    reduction = Reduction(
        likely,
        split=lambda unit: line_layers(changes, unit, runs[1].executed.get(unit.path)),
        valid=syntax,
        key=changes.key,
        size=changes.size,
    )
    drive(reduction, judge, rng.randint(1, 4), seed)
    assert len({changes.key(each.subset) for each in reduction.log}) == len(reduction.log), "no content is tested twice"
    answer = reduction.answer()
    assert answer.minimal and answer.pair_minimal and answer.line_minimal
    assert judge(answer.subset) is PartOutcome.FLIPS
    for path in causes:
        made = changes.made(path, frozenset(unit for unit in answer.subset if unit.path == path))
        assert made is not None
        # The value or its own line, and the check, with the body that it needs; neither names nor tables.
        assert b"    if value:\n        return 1\n" in made.content and b"value = 1\n" in made.content
        assert b"helper_new" not in made.content and b"    102,\n" not in made.content and b"# why" not in made.content
    assert {unit.path for unit in answer.subset} == set(causes)
