# SPDX-License-Identifier: Apache-2.0
"""Where releases stand in the pictures."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.answers import ReductionStep
from headwater.core.drawing import fall_of, line_of_hunt, tree_of
from headwater.core.history import parent
from headwater.core.verdicts import Verdict

VERSIONS = st.builds(lambda a, b, c: Version(f"{a}.{b}.{c}"), st.integers(4, 5), st.integers(0, 4), st.integers(0, 3))


def versions(text: str) -> list[Version]:
    return [Version(word) for word in text.split()]


def test_the_main_line_runs_along_the_top_and_maintenance_lines_hang_down() -> None:
    tree = tree_of(versions("5.1.0 5.0.0 5.0.1 5.2.0 5.1.2 5.1.1"))
    assert tree.columns == ("5.0", "5.1", "5.2")
    assert [(str(n.release), n.column, n.row) for n in tree.nodes] == [
        ("5.0.0", 0, 0), ("5.0.1", 0, 1), ("5.1.0", 1, 0), ("5.1.1", 1, 1), ("5.1.2", 1, 2), ("5.2.0", 2, 0),
    ]  # fmt: skip
    assert tree.edges == ((0, 1), (0, 2), (2, 3), (3, 4), (2, 5))
    assert tree.rows == 3


def test_a_line_whose_beginning_is_not_known_hangs_below_the_main_line() -> None:
    tree = tree_of(versions("5.0.0 5.1.2 5.1.3 5.2.0"))
    assert [(node.column, node.row) for node in tree.nodes] == [(0, 0), (1, 1), (1, 2), (2, 0)]
    assert tree.edges == ((1, 2), (0, 3))


@given(st.lists(VERSIONS, unique=True))
def test_no_two_stand_in_one_place_and_edges_are_the_history(known: list[Version]) -> None:
    tree = tree_of(known)
    assert [node.release for node in tree.nodes] == sorted(known)
    assert len({(node.column, node.row) for node in tree.nodes}) == len(known)
    before = {tree.nodes[new].release: tree.nodes[old].release for old, new in tree.edges}
    assert before == {v: parent(v, known) for v in known if parent(v, known) is not None}


@given(st.lists(VERSIONS, unique=True, min_size=1), st.lists(VERSIONS, unique=True))
def test_the_line_of_a_hunt_has_what_was_probed_and_the_main_line_between(
    probed: list[Version], known: list[Version]
) -> None:
    line = line_of_hunt(probed, known)
    assert line == sorted({*line}) and {*probed} <= {*line}
    assert {*line} - {*probed} == {
        v for v in known if v.micro == 0 and min(probed) < v < max(probed) and v not in probed
    }


def step(stage: str, hunks: int, left: int) -> ReductionStep:
    return ReductionStep(stage, hunks, "stays", Verdict.BAD, left)


def test_a_reduction_falls_from_all_hunks_to_those_that_are_left() -> None:
    fall = fall_of([step("kept", 100, 100), step("core", 10, 10), step("core", 1, 10)], 1000)
    assert (fall.width, fall.height) == (615, 150)
    assert fall.ticks == ((1, 150.0), (10, 100.0), (100, 50.0), (1000, 0.0))
    assert fall.stages == (("kept", 102.5), ("core", 307.5))
    assert fall.places == ((102.5, 50.0), (307.5, 100.0), (512.5, 150.0))
    assert [y for _, y in fall.left] == [0.0, 0.0, 50.0, 50.0, 100.0, 100.0, 100.0, 100.0]
    assert fall.left[-1] == (615.0, 100.0)
    assert [tick for tick, _ in fall_of([step("kept", 3, 3)], 1100).ticks] == [1, 10, 100, 1100]


STAGES = st.sampled_from(["kept", "core", "one by one"])


@given(st.lists(st.tuples(STAGES, st.integers(1, 500)), min_size=1, max_size=60), st.integers(1, 5000))
def test_whatever_was_probed_stands_inside_the_picture(parts: list[tuple[str, int]], more: int) -> None:
    left, steps = 500 + more, []
    for stage, hunks in parts:
        left = min(left, hunks)
        steps.append(step(stage, hunks, left))
    fall = fall_of(steps, 500 + more)
    assert len(fall.places) == len(steps)
    assert all(0 < x < fall.width and 0 <= y <= fall.height for x, y in fall.places)
    assert fall.places == tuple(sorted(fall.places, key=lambda place: place[0]))
    heights = [y for _, y in fall.left]
    assert heights == sorted(heights)
    for (one, x), (_, after) in pairwise(fall.stages):
        assert after - x >= 6 * len(one)
