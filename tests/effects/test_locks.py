# SPDX-License-Identifier: Apache-2.0
"""Locks, resolved by uv against an index of our own: groups as long as possible, hashed, without torch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from headwater.core.errors import HarnessError
from headwater.core.events import Event, Finished, Started
from headwater.core.grouping import locked_versions
from headwater.core.pins import EnvironmentGroup, Pins
from headwater.effects.index import Index
from headwater.effects.locks import Lock, LockMaker
from headwater.effects.proc import ProcessFailed

if TYPE_CHECKING:
    from index_server import IndexServer

World = Callable[[Mapping[str, Sequence[str]]], tuple[LockMaker, Pins]]
V = Version


@pytest.fixture
def world(
    index_server: IndexServer, index: Index, events: list[Event], pins: Callable[..., Pins], tmp_path: Path
) -> World:
    """An index with hubs 1.0, 1.5 and 2.0, and releases with the given requirements."""

    def make(releases: Mapping[str, Sequence[str]]) -> tuple[LockMaker, Pins]:
        for version in ("1.0", "1.5", "2.0"):
            index_server.add("hub", version, requires=["only-linux; sys_platform == 'linux'"])
        for name in ("only-linux", "only-windows", "hypothesis", "pytest", "filelock", "old-library"):
            index_server.add(name, "1.0")
        index_server.add("torch", "2.9.1", requires=["filelock", "cuda-bindings==1.0", "nvidia-blas==1", "triton==3"])
        files = {v: index_server.add("transformers", v, requires=wanted) for v, wanted in releases.items()}
        return LockMaker("transformers", "2.9.1", index, tmp_path / "wheels", events.append), pins(files)

    return make


def test_consecutive_releases_share_a_lock_as_long_as_it_resolves(world: World, events: list[Event]) -> None:
    maker, pins = world(
        {"5.0.0": ["hub>=1.0,<2"], "5.1.0": ["hub>=1.5,<2", "old-library"], "5.2.0": ["hub>=2"], "5.2.1": ["hub>=2"]}
    )
    locks = maker.from_scratch(pins.releases)
    assert [lock.group for lock in locks] == [
        EnvironmentGroup("5.0-5.1", V("5.0.0"), V("5.1.0"), "locks/5.0-5.1.txt"),
        EnvironmentGroup("5.2-5.2", V("5.2.0"), V("5.2.1"), "locks/5.2-5.2.txt"),
    ]
    assert locked_versions(locks[0].text)["hub"] == V("1.5")
    assert locked_versions(locks[1].text)["hub"] == V("2.0")
    assert "old-library" not in locked_versions(locks[1].text)
    assert maker.check(pins.releases, lambda pin: locks[0 if pin.version < V("5.2.0") else 1].text) == []
    started, finished = ({e.key for e in events if isinstance(e, kind)} for kind in (Started, Finished))
    assert started == finished != set()


def test_a_lock_is_hashed_for_every_platform_and_without_torch(
    world: World, index_server: IndexServer, home: Path
) -> None:
    maker, pins = world({"5.0.0": ["hub", "torch>=2; extra == 'torch'", "only-windows; sys_platform == 'win32'"]})
    [lock] = maker.from_scratch(pins.releases)
    names = {"hub", "only-linux", "only-windows", "hypothesis", "pytest", "filelock"}
    assert set(locked_versions(lock.text)) == names
    assert re.findall(r"(?m)^only-windows==1\.0 ; (.*) \\$", lock.text) == ["sys_platform == 'win32'"]
    for file in index_server.files.values():
        if file.package in names and "-1.0-" in str(file.entry["filename"]) and file.package != "hub":
            hashes = file.entry["hashes"]
            assert isinstance(hashes, dict)
            assert f"--hash=sha256:{hashes['sha256']}" in lock.text
    assert lock.text.startswith("# The packages that transformers 5.0.0 to 5.0.0 run with, without torch.")
    for private in ("127.0.0.1", "http", str(home), "index-url"):
        assert private not in lock.text
    assert not any(path.endswith(".whl") for path in index_server.requests)


def test_a_library_without_torch_gets_none_of_what_torch_requires(
    world: World, index_server: IndexServer, index: Index, tmp_path: Path
) -> None:
    _maker, pins = world({"5.0.0": ["hub"]})
    [lock] = LockMaker("transformers", None, index, tmp_path / "wheels").from_scratch(pins.releases)
    assert set(locked_versions(lock.text)) == {"hub", "only-linux", "hypothesis", "pytest"}
    assert lock.text.startswith("# The packages that transformers 5.0.0 to 5.0.0 run with. Hashed")
    assert not any("torch" in path for path in index_server.requests)


def test_a_lock_that_satisfies_a_new_release_stays_as_it_is(world: World) -> None:
    maker, pins = world({"5.0.0": ["hub<2"], "5.1.0": ["hub>=1.2"], "5.2.0": ["hub>=1.5"], "5.3.0": ["hub>=2"]})
    [first] = maker.from_scratch(pins.releases[:1])
    before = EnvironmentGroup("4.0-4.1", V("4.0"), V("4.1"), "locks/4.0-4.1.txt")
    texts = {before.lock: "hub==1.0\n", first.group.lock: first.text}
    extended = maker.extend([before, first.group], texts.__getitem__, pins.releases[1:])
    assert extended[0] == Lock(before, "hub==1.0\n")
    assert [(lock.group.first, lock.group.last) for lock in extended[1:]] == [
        (V("5.0.0"), V("5.2.0")),
        (V("5.3.0"), V("5.3.0")),
    ]
    assert extended[1].text == first.text
    assert extended[1].group.lock == first.group.lock
    assert locked_versions(extended[2].text)["hub"] == V("2.0")


def test_releases_that_come_late_find_their_place_between_the_groups(world: World) -> None:
    maker, pins = world(
        {"4.9.0": ["hub<2"], "5.0.1": ["hub<2"], "5.0.9": ["old-library"], "5.1.1": ["hub<2"], "5.3.1": ["hub>=2"]}
    )
    low = EnvironmentGroup("5.0-5.1", V("5.0.0"), V("5.1.0"), "locks/5.0-5.1.txt")
    high = EnvironmentGroup("5.3-5.4", V("5.3.0"), V("5.4.0"), "locks/5.3-5.4.txt")
    texts = {low.lock: "hub==1.5\n", high.lock: "hub==2.0\n"}
    fitting = [pin for pin in pins.releases if pin.version != V("5.0.9")]
    extended = maker.extend([low, high], texts.__getitem__, fitting)
    assert [(lock.group.first, lock.group.last) for lock in extended] == [
        (V("4.9.0"), V("4.9.0")), (V("5.0.0"), V("5.1.1")), (V("5.3.0"), V("5.4.0")),
    ]  # fmt: skip
    assert [lock.text for lock in extended[1:]] == list(texts.values())
    assert locked_versions(extended[0].text)["hub"] == V("1.5")
    with pytest.raises(HarnessError, match=r"5\.0\.9 stands inside the group 5\.0-5\.1.*old-library.*--locks"):
        maker.extend([low, high], texts.__getitem__, [p for p in pins.releases if p not in fitting])


def test_no_two_groups_share_a_lock_file(world: World) -> None:
    maker, pins = world({"5.2.0": ["hub<1.2"], "5.2.1": ["hub>=2"], "5.2.2": ["hub<2,>1.2"]})
    made = maker.from_scratch(pins.releases)
    added = maker.extend([made[0].group], lambda _lock: made[0].text, pins.releases[1:])
    for locks in (made, added):
        assert [lock.group.name for lock in locks] == ["5.2-5.2", "5.2.1-5.2.1", "5.2.2-5.2.2"]
        assert len({lock.group.lock for lock in locks}) == 3
        assert [locked_versions(lock.text)["hub"] for lock in locks] == [V("1.0"), V("2.0"), V("1.5")]


def test_what_a_lock_does_not_satisfy_is_named(world: World) -> None:
    maker, pins = world({"5.0.0": ["hub<2"], "5.1.0": ["hub>=2", "old-library"]})
    [lock] = maker.from_scratch(pins.releases[:1])
    assert maker.check(pins.releases, lambda _pin: lock.text) == [
        "5.1.0: its lock does not satisfy hub>=2, old-library"
    ]


def test_a_release_that_does_not_resolve_at_all_is_refused_in_uvs_words(world: World) -> None:
    maker, pins = world({"5.0.0": ["hub"], "5.1.0": ["hub>=99"]})
    with pytest.raises(ProcessFailed, match="hub>=99"):
        maker.from_scratch(pins.releases)


def test_an_index_that_fails_is_no_reason_to_split_a_group(world: World, index_server: IndexServer) -> None:
    maker, pins = world({"5.0.0": ["hub"], "5.1.0": ["hub>=1.5"]})
    index_server.status, index_server.broken = 503, "/simple/hub/"
    with pytest.raises(ProcessFailed, match="503"):
        maker.from_scratch(pins.releases)
    index_server.status = None
    assert len(maker.from_scratch(pins.releases)) == 1


def test_what_the_index_lists_must_be_requirements(world: World) -> None:
    maker, pins = world({"5.0.0": ["hub >= = 3"]})
    with pytest.raises(HarnessError, match="hub >= = 3"):
        maker.from_scratch(pins.releases)
