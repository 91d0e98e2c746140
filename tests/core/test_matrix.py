# SPDX-License-Identifier: Apache-2.0
"""Which cells a matrix has, in what order they run, who runs them, and how revisions are joined."""

from __future__ import annotations

from itertools import groupby, pairwise

from hypothesis import given
from hypothesis import strategies as st

from headwater.core.matrix import Cell, Column, Row, Schedule, cells_of, ranges, span_name, spans
from headwater.core.results import has_accelerator, with_index
from headwater.core.states import PatchState

ROWS = (Row("case", "one"), Row("case", "two"), Row("conformance", "conformance"))
DEVICES = ("cpu", "meta", "cuda", "cuda:0", "cuda:1")


def columns(groups: list[str], patched: list[bool] | None = None) -> list[Column]:
    return [
        Column(f"5.{n}.0", group, patched=bool(patched and patched[n % len(patched)])) for n, group in enumerate(groups)
    ]


some_columns = st.builds(
    columns,
    st.lists(st.sampled_from(["old", "middle", "new"]), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=8),
)
some_devices = st.lists(st.sampled_from(DEVICES), min_size=1, max_size=4, unique=True)


def test_rows_that_run_many_tests() -> None:
    rows = (*ROWS, Row("upstream", "tests/test_a.py"))
    assert [row.is_suite for row in rows] == [False, False, True, True]


@given(some_columns, some_devices)
def test_every_place_once_and_once_more_where_the_series_is_applied(those: list[Column], devices: list[str]) -> None:
    cells = cells_of(those, ROWS, devices, "mend")
    places = {(row, column.revision, device) for row in ROWS for column in those for device in devices}
    plain = [cell for cell in cells if cell.series is None]
    patched = [cell for cell in cells if cell.series == "mend"]
    assert {cell.place for cell in plain} == places and len(plain) == len(places)
    wanted = {place for place in places for column in those if column.patched and place[1] == column.revision}
    assert {cell.place for cell in patched} == wanted and len(patched) == len(wanted)


@given(some_columns, some_devices)
def test_an_environment_is_started_once_and_a_tree_is_done_before_the_next(
    those: list[Column], devices: list[str]
) -> None:
    cells = cells_of(those, ROWS, devices, "mend")
    groups = [group for group, _ in groupby(cells, key=lambda cell: cell.group)]
    trees = [tree for tree, _ in groupby(cells, key=lambda cell: (cell.revision, cell.series))]
    assert len(groups) == len(set(groups))
    assert len(trees) == len(set(trees))


def test_a_patched_cell_leaves_out_what_is_not_needed() -> None:
    column = Column("5.1.0", "g", "c" * 40, (("0002-b.patch", PatchState.FIXED_UPSTREAM),), patched=True)
    before, after = cells_of([column], ROWS[:1], ["cpu"], "mend")
    assert (before.series, before.drop) == (None, ())
    assert (after.series, after.drop, after.tests_at) == ("mend", ("0002-b.patch",), "c" * 40)


def test_why_a_series_is_not_needed() -> None:
    skipped = (("1", PatchState.FIXED_UPSTREAM), ("2", PatchState.ABSENT), ("3", PatchState.ABSENT))
    assert Column("5.1.0", "g", None, skipped).states == (PatchState.ABSENT, PatchState.FIXED_UPSTREAM)
    assert Column("5.1.0", "g", None, skipped[:1], patched=True).states == ()
    assert Column("5.1.0", "g").states == ()


@given(some_columns, some_devices)
def test_one_worker_runs_the_cells_in_their_order(those: list[Column], devices: list[str]) -> None:
    cells = cells_of(those, ROWS, devices, "mend")
    schedule = Schedule(cells)
    seen: list[Cell] = []
    while batch := schedule.take(0):
        assert len({cell.batch for cell in batch}) == 1
        seen += batch
    assert seen == cells
    assert schedule.is_empty


@given(some_columns, some_devices, st.lists(st.integers(0, 2), max_size=60))
def test_several_workers_share_them(those: list[Column], devices: list[str], turns: list[int]) -> None:
    """Whoever is done first, every cell runs once, an accelerator has one worker, and who waits has a reason."""
    cells = cells_of(those, ROWS, devices, "mend")
    schedule = Schedule(cells)
    held: dict[int, str] = {}
    at: dict[int, str] = {}
    seen: list[Cell] = []
    missing = set(cells)
    for worker in [*turns, *[0, 1, 2] * len(cells)]:
        held.pop(worker, None)
        busy = set(held.values())
        batch = schedule.take(worker)
        if not batch:
            assert all(with_index(cell.device) in busy for cell in missing)
            continue
        assert with_index(batch[0].device) not in busy
        if any(cell.group == at.get(worker) and not has_accelerator(cell.device) for cell in missing):
            assert batch[0].group == at[worker]
        at[worker] = batch[0].group
        if has_accelerator(batch[0].device):
            held[worker] = with_index(batch[0].device)
        seen += batch
        missing -= set(batch)
    assert len(seen) == len(cells) and not missing


def test_workers_begin_with_environments_of_their_own() -> None:
    schedule = Schedule(cells_of(columns(["a", "a", "a", "b", "c", "c"]), ROWS, ["cpu"], None))
    assert [schedule.take(worker)[0].group for worker in (0, 1, 2)] == ["a", "b", "c"]
    # The second one is done with its own, and helps where most is left.
    assert schedule.take(1)[0].group == "a"


def test_cells_of_the_cpu_go_on_while_an_accelerator_is_taken() -> None:
    schedule = Schedule(cells_of(columns(["a", "a"]), ROWS, ["cuda", "cpu"], None))
    taken = [schedule.take(worker) for worker in (0, 1, 2, 3)]
    assert [batch[0].device if batch else None for batch in taken] == ["cuda", "cpu", "cpu", None]
    assert not schedule.is_empty
    assert schedule.take(0)[0].device == "cuda"
    assert schedule.is_empty


def test_on_several_machines_each_has_accelerators_of_its_own() -> None:
    schedule = Schedule(cells_of(columns(["a", "a"]), ROWS, ["cuda"], None), one_machine=False)
    assert [[cell.device for cell in schedule.take(worker)][:1] for worker in (0, 1)] == [["cuda"], ["cuda"]]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20))
def test_neighbours_that_look_alike_are_one(looks: list[str]) -> None:
    those = columns(["g"] * len(looks))
    found = spans(those, lambda column: looks[those.index(column)])
    assert [column for span in found for column in span] == those
    names = [{looks[those.index(column)] for column in span} for span in found]
    assert all(len(name) == 1 for name in names)
    assert all(one != other for one, other in pairwise(names))


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_ranges_name_exactly_what_is_in_them(flags: list[bool]) -> None:
    names = [f"5.{n}.0" for n in range(len(flags))]
    chosen = [name for name, flag in zip(names, flags, strict=True) if flag]
    parts = [part.partition("..") for part in ranges(names, chosen).split(", ") if part]
    said = [name for first, _, last in parts for name in names[names.index(first) : names.index(last or first) + 1]]
    assert said == chosen


def test_a_span_is_named_by_its_ends() -> None:
    assert span_name(["5.1.0"]) == "5.1.0"
    assert span_name(["5.1.0", "5.2.0", "5.3.0"]) == "5.1.0..5.3.0"
