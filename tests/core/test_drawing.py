# SPDX-License-Identifier: Apache-2.0
"""Where releases stand in the pictures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.drawing import line_of_hunt, tree_of
from headwater.core.history import parent

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
