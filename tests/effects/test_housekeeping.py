# SPDX-License-Identifier: Apache-2.0
"""Pruning and cleaning: what is in use stays, leftovers of the dead go, verdicts and checkouts go only by name."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING

import pytest

from headwater.core.pins import Pins
from headwater.core.verdicts import Evidence, Outcome
from headwater.effects.blobs import blob_id
from headwater.effects.files import size_of
from headwater.effects.housekeeping import clean, prune, survey
from headwater.effects.index import Index
from headwater.effects.mirror import Mirror
from headwater.effects.recordings import RECORDER_VERSION
from headwater.effects.store import Store
from headwater.effects.trees import Trees
from headwater.effects.workspace import Cache

if TYPE_CHECKING:
    from index_server import IndexServer

BUILDER = """
import sys, time
from pathlib import Path
from headwater.effects.workspace import Cache
with Cache(Path(sys.argv[1]), "transformers").building("tree") as folder:
    (folder / "work").mkdir()
    (folder / "work" / "file").write_text("x")
    print(folder, flush=True)
    sys.stdin.readline()
"""
DOWNLOAD = """
import sys
from pathlib import Path
from headwater.core.pins import IndexFile
from headwater.effects.index import Index
name, sha256, size, folder = sys.argv[1:]
Index(pause=0.01).download("transformers", IndexFile(name, sha256, int(size)), Path(folder))
"""


@pytest.fixture
def empty_pins(index_server: IndexServer, pins: Callable[..., Pins]) -> Pins:
    """Pins of one release that nothing was done with."""
    return pins({"5.0.0": index_server.add("transformers", "5.0.0")})


def fill(folder: Path, content: bytes = b"x") -> Path:
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(content)
    return folder


def test_what_a_living_process_builds_stays_and_goes_with_its_death(
    cache: Cache, empty_pins: Pins, start_python: Callable[..., Popen[str]]
) -> None:
    builder = start_python(BUILDER, cache.root)
    assert builder.stdout is not None
    folder = Path(builder.stdout.readline().strip())
    assert prune(cache, empty_pins, [], []) == []
    assert (folder / "work" / "file").read_text() == "x"
    builder.kill()
    builder.wait()
    [line] = prune(cache, empty_pins, [], [])
    assert line.startswith(f"{folder} (")
    assert list(cache.incoming.iterdir()) == []
    assert prune(cache, empty_pins, [], []) == []


def test_a_build_that_ends_leaves_nothing(cache: Cache) -> None:
    with cache.building("tree") as folder:
        fill(folder / "work")
    with pytest.raises(RuntimeError), cache.building("tree") as other:
        fill(other / "work")
        raise RuntimeError
    assert list(cache.incoming.iterdir()) == []


@pytest.mark.parametrize("name", ["tree-4194999-abc", "stray", "tree-x-abc", ".removed-tree-1-x"])
def test_leftovers_go(cache: Cache, empty_pins: Pins, name: str) -> None:
    folder = fill(cache.incoming / name)
    assert len(prune(cache, empty_pins, [], [])) == 1
    assert not folder.exists()


def test_what_is_not_needed_goes_and_the_rest_stays(
    cache: Cache, index_server: IndexServer, index: Index, pins: Callable[..., Pins]
) -> None:
    wheels = {v: index_server.add("transformers", v) for v in ("5.0.0", "5.1.0")}
    bare = pins(wheels)
    mirror = Mirror(cache, bare, index)
    trees_by_version = {str(p.version): mirror.library_tree(mirror.ensure(p)) for p in bare.releases}
    all_pins = pins(wheels, trees=trees_by_version)
    for tree in trees_by_version.values():
        Trees(cache, mirror.git, "transformers").ensure(tree)
    patched, old, current = (
        fill(cache.trees / ("a" * 40)), fill(cache.environments / "old"), fill(cache.environments / "current")
    )  # fmt: skip
    known, other, older = (
        fill(cache.recordings / version / tree)
        for version, tree in (
            (RECORDER_VERSION, trees_by_version["5.0.0"]), (RECORDER_VERSION, "a" * 40), ("older", "a" * 40)
        )
    )  # fmt: skip
    foreign = cache.wheels / "somebody-elses.whl"
    foreign.write_bytes(b"x")
    removed = prune(cache, all_pins, imported=["5.0.0"], current=[current])
    assert sorted(line.partition(" (")[0] for line in removed) == sorted(
        map(str, [cache.wheels / wheels["5.0.0"].file, patched, old, other, older.parent])
    )
    assert (known / "file").exists()
    assert sorted(path.name for path in cache.trees.iterdir()) == sorted(trees_by_version.values())
    assert sorted(path.name for path in cache.wheels.iterdir()) == sorted([wheels["5.1.0"].file, foreign.name])
    assert (current / "file").read_bytes() == b"x"
    assert mirror.imported() == ["5.0.0", "5.1.0"]


def test_files_that_no_tree_holds_any_more_go_with_their_byte_code(
    cache: Cache, mirror_of: Callable[..., tuple[Mirror, list[str]]], empty_pins: Pins
) -> None:
    files = {
        "transformers/__init__.py": b"",
        "transformers/both.py": b"both = 1\n",
        "transformers/run.sh*": b"#!/bin/sh\n",
    }
    other = {**files, "transformers/run.sh": b"#!/bin/sh\n", "transformers/new.py": b"new = 1\n"}
    del other["transformers/run.sh*"]
    mirror, commits = mirror_of({"5.0.0": files, "5.1.0": other})
    trees = Trees(cache, mirror.git, "transformers")
    kept, gone = (trees.ensure(mirror.library_tree(commit)) for commit in commits)
    code = [cache.code / "cpython-311" / name[:2] / name for name in map(blob_id, {*files.values(), *other.values()})]
    for path in code:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    pinned = replace(empty_pins.releases[0], tree=kept.id)
    known = replace(empty_pins, releases=(pinned,))
    removed = prune(cache, known, [], [])
    assert [line.partition(" (")[0] for line in removed] == [
        str(gone.path.parent), f"2 files in {cache.blobs}", f"1 entries of byte code in {cache.code}"
    ]  # fmt: skip
    left = sorted(path.name for path in cache.blobs.glob("*/*"))
    assert left == sorted([blob_id(b""), blob_id(b"both = 1\n"), blob_id(b"#!/bin/sh\n") + ".x"])
    assert [path for path in code if not path.exists()] == [path for path in code if path.name == blob_id(b"new = 1\n")]
    assert trees.whole(kept.id) is not None
    assert trees.whole(gone.id) is None
    assert trees.ensure(gone.id) == gone
    assert (gone.path / "transformers" / "new.py").read_bytes() == b"new = 1\n"
    assert prune(cache, replace(known, releases=(pinned, replace(pinned, tree=gone.id))), [], []) == []


def test_what_a_killed_download_left_goes(
    cache: Cache, index_server: IndexServer, index: Index, pins: Callable[..., Pins],
    start_python: Callable[..., Popen[str]],
) -> None:  # fmt: skip
    file = index_server.add("transformers", "5.0.0")
    index_server.gate = threading.Barrier(2)
    process = start_python(DOWNLOAD, file.file, file.sha256, file.size, cache.wheels)
    while not index_server.fetched(file.file):
        assert process.poll() is None
    all_pins = pins({"5.0.0": file})
    prune(cache, all_pins, [], [])
    assert len(list(cache.wheels.iterdir())) == 1, "what a living process downloads stays"
    process.kill()
    process.wait()
    index_server.gate.abort()
    prune(cache, all_pins, [], [])
    assert list(cache.wheels.iterdir()) == []


@pytest.fixture
def full_cache(cache: Cache, mirror_of: Callable[..., tuple[Mirror, list[str]]]) -> Cache:
    """A cache with something on every shelf, and a checkout beside them."""
    mirror, [commit] = mirror_of({"5.0.0": {"transformers/__init__.py": b"", "transformers/x.py": b"x"}})
    Trees(cache, mirror.git, "transformers").ensure(mirror.library_tree(commit))
    fill(cache.environments / "key")
    (cache.environments / "key.preload.json").write_bytes(b"{}")
    fill(cache.code / "cpython-311" / "ab")
    fill(cache.recordings / RECORDER_VERSION / ("a" * 40))
    fill(cache.answers / "early-init")
    Store(cache.store).record(
        "key", Outcome("returned", "run", Evidence(), 1.0), case="c", revision="r", tree="t", environment="e",
        device="cpu", output="",
    )  # fmt: skip
    fill(cache.remotes / "clone-0123456789ab.git")
    fill(cache.root / "checkouts" / "5.0.0")
    return cache


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("keep_mirror", [False, True])
def test_clean_keeps_verdicts_unless_asked_and_checkouts_always(
    full_cache: Cache, store: bool, keep_mirror: bool
) -> None:
    removed = clean(full_cache, store=store, keep_mirror=keep_mirror)
    left = sorted(path.name for path in full_cache.root.iterdir() if not path.name.endswith(".lock"))
    wanted = ["checkouts", *(["store.sqlite3"] if not store else []), *(["transformers.git"] if keep_mirror else [])]
    assert [name for name in left if not name.startswith("store.sqlite3-")] == sorted(wanted)
    assert not store or not list(full_cache.root.glob("store*"))
    assert len(removed) >= 6
    assert Store(full_cache.store).count() == (0 if store else 1)
    assert len(clean(full_cache, store=False, keep_mirror=True)) == 0


def test_clean_takes_damaged_stores_only_with_the_store(full_cache: Cache) -> None:
    full_cache.store.write_bytes(b"this is no database\n" * 300)
    Store(full_cache.store)
    [aside] = full_cache.root.glob("store.sqlite3.damaged-*")
    before = {shelf.name: shelf.bytes for shelf in survey(full_cache)}["store"]
    assert before >= 6000 + full_cache.store.stat().st_size
    clean(full_cache, store=False, keep_mirror=False)
    assert aside.exists()
    clean(full_cache, store=True, keep_mirror=False)
    assert not aside.exists()


def test_clean_after_a_clean_that_was_killed(full_cache: Cache) -> None:
    fill(full_cache.root / ".removed-trees")
    fill(full_cache.root / ".removed-transformers.git")
    clean(full_cache, store=False, keep_mirror=False)
    assert not full_cache.trees.exists() and not full_cache.mirror.exists()
    assert list(full_cache.root.glob(".removed-*")) == []


def test_the_survey_counts_and_measures(full_cache: Cache) -> None:
    shelves = {shelf.name: shelf for shelf in survey(full_cache)}
    counts: Mapping[str, int] = {name: shelf.count for name, shelf in shelves.items()}
    assert counts == {
        "mirror": 1, "wheels": 1, "trees": 1, "files of trees": 2, "byte code": 1, "recordings": 1, "environments": 1,
        "answers": 1, "left over": 0, "store": 1, "git remotes": 1, "locks by day": 0,
    }  # fmt: skip
    before = shelves["environments"].bytes
    fill(full_cache.environments / "other", b"x" * 100_000)
    after = {shelf.name: shelf for shelf in survey(full_cache)}["environments"]
    assert after.count == 2
    assert 100_000 <= after.bytes - before <= 130_000
    assert shelves["mirror"].path == full_cache.mirror and shelves["mirror"].bytes > 0
    assert shelves["store"].bytes >= full_cache.store.stat().st_size


def test_the_survey_of_nothing(cache: Cache) -> None:
    assert {(shelf.count, shelf.bytes) for shelf in survey(cache)} == {(0, 0)}
    assert not cache.root.exists()


def test_a_file_that_is_linked_twice_counts_once(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.write_bytes(b"x" * 50_000)
    once = size_of(tmp_path)
    (tmp_path / "second").hardlink_to(first)
    (tmp_path / "third").symlink_to(first)
    assert once >= 50_000
    assert size_of(tmp_path) - once < 8192
    assert size_of(tmp_path / "missing") == 0


def test_what_goes_while_it_is_measured_counts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a file that another run renames into its place."""
    (tmp_path / "stays").write_bytes(b"x" * 50_000)
    before, walk = size_of(tmp_path), os.walk
    monkeypatch.setattr(
        os, "walk", lambda path: [(place, folders, [*files, "gone"]) for place, folders, files in walk(path)]
    )
    assert size_of(tmp_path) == before >= 50_000
