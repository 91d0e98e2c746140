# SPDX-License-Identifier: Apache-2.0
"""The store: what is recorded stays, across kills and between processes; what is damaged is kept aside; what cannot be
used is refused by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwater.core.errors import HarnessError
from headwater.core.events import Event, Note
from headwater.core.test_results import OneTest
from headwater.core.verdicts import End, Evidence, Outcome
from headwater.effects.store import SCHEMA, Store

GOOD = Outcome("returned", "run", Evidence(), 1.5)
BAD = Outcome("raised", "run", Evidence("RuntimeError", "The size of tensor a (8)", "transformers/x.py:1 in f"), 0.25)

WRITER = """
import sys
from pathlib import Path
from headwater.core.verdicts import Evidence, Outcome
from headwater.effects.store import Store
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.read(1)
store = Store(path)
for number in range(count):
    outcome = Outcome("raised", "run", Evidence("E", f"{name} {number}"), 0.5)
    store.record(f"{name}-{number}", outcome, case="c", revision="5.0.0", tree="t", environment="e", device="cpu",
                 output="x" * 3000)
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store lies; neither it nor its folder is there yet."""
    return tmp_path / "cache" / "store.sqlite3"


@pytest.fixture
def record() -> Callable[[Store, str, Outcome], None]:
    """Record an outcome under a key."""

    def write(store: Store, key: str, outcome: Outcome) -> None:
        store.record(
            key, outcome, case="c", revision="5.0.0", tree="t", environment="e", device="cpu", output="out\0put"
        )

    return write


Record = Callable[[Store, str, Outcome], None]


def let_go(writers: Sequence[Popen[str]]) -> None:
    """Have all of them begin at once, when the last one is ready."""
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("g")
        writer.stdin.flush()


TESTS = (OneTest("t.py::test[a]", "failed", "E: \u00e9 first line"), OneTest("t.py::test[b]", "passed"))
OUTCOMES = [
    GOOD,
    BAD,
    Outcome("raised", "library", Evidence("ImportError", ""), 0.0, True),
    Outcome("raised", "run", Evidence("TestsFailed", "1 of 2"), 0.5, tests=TESTS),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_is_recorded_is_recalled_by_key(path: Path, record: Record, outcome: Outcome) -> None:
    record(Store(path), "key", outcome)
    assert Store(path).recall("key") == outcome
    assert Store(path).recall("other") is None
    assert Store(path).count() == 1


@pytest.mark.parametrize("end", ["harness", "time-limit"])
def test_what_the_machine_may_be_to_blame_for_is_recorded_and_never_recalled(
    path: Path, record: Record, end: End
) -> None:
    store = Store(path)
    record(store, "key", Outcome(end, "run", Evidence("TimeLimit", "no end within 2 s"), 2.0))
    assert store.count() == 1
    assert store.recall("key") is None
    record(store, "key", BAD)
    record(store, "key", Outcome(end, "run", Evidence(), 2.0))
    assert store.recall("key") == BAD
    assert store.count() == 3


def test_the_latest_record_wins(path: Path, record: Record) -> None:
    store = Store(path)
    for outcome in (GOOD, BAD, GOOD, BAD):
        record(store, "key", outcome)
        assert store.recall("key") == outcome
    assert store.count() == 4


@settings(max_examples=40, deadline=None)
@example("caf\udce9")
@given(st.text(st.characters(codec=None), max_size=50))
def test_any_message_can_be_recorded(tmp_path_factory: pytest.TempPathFactory, message: str) -> None:
    store = Store(tmp_path_factory.mktemp("any") / "store.sqlite3")
    store.record(
        "key", Outcome("raised", "run", Evidence("E", message), 0.0), case="c", revision="r", tree="t",
        environment="e", device="cpu", output=message,
    )  # fmt: skip
    recalled = store.recall("key")
    assert recalled is not None and recalled.evidence.message is not None
    if message.isprintable():
        assert recalled.evidence.message == message


def test_a_killed_writer_leaves_what_it_had_recorded(path: Path, start_python: Callable[..., Popen[str]]) -> None:
    writer = start_python(WRITER, path, "w", 100_000)
    let_go([writer])
    assert writer.stdout is not None
    last = 0
    while last < 25:
        line = writer.stdout.readline()
        assert line, writer.stderr and writer.stderr.read()
        last = int(line)
    writer.kill()
    writer.wait()
    rest = writer.stdout.read().split()
    last = max([last, *map(int, rest[:-1])])
    store = Store(path)
    for number in range(last + 1):
        recalled = store.recall(f"w-{number}")
        assert recalled is not None and recalled.evidence.message == f"w {number}"
    # At most the one that was being written when the end came.
    assert last + 1 <= store.count() <= last + 3
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_eight_processes_at_once_on_a_fresh_store(path: Path, start_python: Callable[..., Popen[str]]) -> None:
    count = 25
    writers = [start_python(WRITER, path, f"w{n}", count) for n in range(8)]
    let_go(writers)
    for writer in writers:
        _out, err = writer.communicate(timeout=100)
        assert writer.returncode == 0, err
    store = Store(path)
    assert store.count() == 8 * count
    for n in range(8):
        for number in range(count):
            recalled = store.recall(f"w{n}-{number}")
            assert recalled is not None and recalled.evidence.message == f"w{n} {number}"


def make_schema_1(path: Path) -> None:
    """Take away what came with schema 2."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE probes DROP COLUMN tests")
        connection.execute("PRAGMA user_version = 1")


def test_an_older_schema_is_migrated_with_what_it_holds(path: Path, record: Record) -> None:
    record(Store(path), "old", BAD)
    make_schema_1(path)
    assert Store(path).recall("old") == BAD
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
    record(Store(path), "new", OUTCOMES[-1])
    assert Store(path).recall("new") == OUTCOMES[-1]
    assert Store(path).recall("old") == BAD


def test_a_newer_schema_is_refused_by_name(path: Path, record: Record) -> None:
    record(Store(path), "key", GOOD)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(HarnessError, match=rf"{path} has schema {SCHEMA + 1}, and this Headwater reads {SCHEMA}"):
        Store(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM probes").fetchone() == (1,)


def all_of_it(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 300)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:2000])


def inside(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(bytes(content))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def another_programs(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE probes (something_else)")


def no_longer_listed(path: Path) -> None:
    """Take a page that is in use into the list of free ones as well: every query answers as before."""
    content = bytearray(path.read_bytes())
    content[32:40] = (3).to_bytes(4, "big") + (1).to_bytes(4, "big")
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("damage", [all_of_it, cut_off, inside, no_longer_listed])
def test_a_damaged_store_is_named_and_set_aside_and_a_new_one_begun(
    path: Path, record: Record, events: list[Event], damage: Callable[[Path], None]
) -> None:
    store = Store(path)
    for number in range(50):
        record(store, f"key-{number}", BAD)
    damage(path)
    damaged = path.read_bytes()
    store = Store(path, events.append)
    [note] = events
    assert isinstance(note, Note) and note.warning
    [aside] = path.parent.glob(f"{path.name}.damaged-*")
    assert str(path) in note.text and "is damaged" in note.text and aside.name in note.text
    assert aside.read_bytes() == damaged
    assert (store.count(), store.recall("key-7")) == (0, None)
    record(store, "key-7", GOOD)
    assert Store(path, events.append).recall("key-7") == GOOD
    assert events == [note]


def test_the_second_damaged_store_does_not_take_the_firsts_place(path: Path, record: Record) -> None:
    contents = {}
    for number in range(3):
        record(Store(path), f"key-{number}", BAD)
        path.write_bytes(b"damaged, %d\n" % number * 300)
        contents[number] = path.read_bytes()
        assert Store(path).count() == 0
    kept = [aside.read_bytes() for aside in path.parent.glob(f"{path.name}.damaged-*")]
    assert sorted(kept) == sorted(contents.values())


def test_several_processes_find_a_damaged_store_and_one_sets_it_aside(
    path: Path, record: Record, start_python: Callable[..., Popen[str]]
) -> None:
    record(Store(path), "key", BAD)
    all_of_it(path)
    damaged = path.read_bytes()
    writers = [start_python(WRITER, path, f"w{n}", 5) for n in range(6)]
    let_go(writers)
    for writer in writers:
        _out, err = writer.communicate(timeout=100)
        assert writer.returncode == 0, err
    assert Store(path).count() == 6 * 5
    assert [aside.read_bytes() for aside in path.parent.glob(f"{path.name}.damaged-*")] == [damaged]


def test_a_store_that_is_damaged_while_it_is_used_is_named(path: Path, record: Record) -> None:
    store = Store(path)
    for number in range(50):
        record(store, f"key-{number}", BAD)
    inside(path)
    with pytest.raises(HarnessError, match=f"{path} is damaged"):
        for number in range(50):
            store.recall(f"key-{number}")


@pytest.mark.parametrize("damage", [a_folder, another_programs])
def test_a_store_that_cannot_be_used_is_named_with_the_next_step(
    path: Path, record: Record, damage: Callable[[Path], None]
) -> None:
    store = Store(path)
    for number in range(50):
        record(store, f"key-{number}", BAD)
    damage(path)
    with pytest.raises(HarnessError) as caught:
        Store(path).recall("key-7")
    assert str(path) in str(caught.value)
    assert "headwater cache clean --store" in str(caught.value)


def test_a_store_that_is_removed_meanwhile_is_named(path: Path, record: Record) -> None:
    store = Store(path)
    path.unlink()
    with pytest.raises(HarnessError, match=str(path)):
        record(store, "key", GOOD)


def test_the_latest_of_each_key_is_listed_for_the_cases_that_are_asked_for(path: Path) -> None:
    store = Store(path)
    late = Outcome("time-limit", "run", Evidence("TimeLimit"), 2.0)
    for key, case, outcome in [
        ("k1", "one", GOOD), ("k2", "one", GOOD), ("k3", "two", GOOD), ("k1", "one", BAD), ("k2", "one", late),
    ]:  # fmt: skip
        store.record(key, outcome, case=case, revision="5.0.0", tree="t", environment="e", device="meta", output="")
    found = store.latest({"one", "three"})
    assert [(row.key, row.case, row.outcome) for row in found] == [("k2", "one", GOOD), ("k1", "one", BAD)]
    assert {(row.revision, row.tree, row.environment, row.device) for row in found} == {("5.0.0", "t", "e", "meta")}
    assert store.latest(set()) == []
