# SPDX-License-Identifier: Apache-2.0
"""The mirror: the same ids on every machine, checked against the pins, imported once, by however many processes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING

import pytest

from headwater.core.errors import DamagedDownload, HarnessError, NotCached
from headwater.core.pins import IndexFile, Pins
from headwater.core.pins_text import add_releases
from headwater.effects.git import GitDir, GitFailed, shed_git_variables
from headwater.effects.index import Index
from headwater.effects.mirror import SCHEMA, Mirror
from headwater.effects.wheels import WheelRefused
from headwater.effects.workspace import Cache

if TYPE_CHECKING:
    from index_server import IndexServer

FILES = {
    "transformers/__init__.py": b"__version__ = '5.0.0'\n",
    "transformers/cache_utils.py": b"class Cache:\r\n    pass\r\n",
    "transformers/models/run.sh*": b"#!/bin/sh\n",
    "transformers/models/empty.py": b"",
    "transformers/models/naïve name.py": b"\xff\xfe\x00not text",
    "transformers_other/__init__.py": b"",
}
# Of these very files, this upload time and this file name; on whatever machine, with whatever git.
TREE = "97c759abe114ba56819e4fa4b067bbcd352ebfe2"
COMMIT = "c61b413d5e3b602fd0c0a3da30ee504a0d5cb926"

ENSURE = """
import sys
from pathlib import Path
from headwater.core.pins import read_pins
from headwater.effects.index import Index
from headwater.effects.mirror import Mirror
from headwater.effects.workspace import Cache
pins = read_pins(Path(sys.argv[2]).read_text(), "pins")
cache = Cache(Path(sys.argv[1]), "transformers")
print(" ".join(Mirror(cache, pins, Index(pause=0.01)).ensure(pin) for pin in pins.releases))
"""


@pytest.fixture
def wheel_file(index_server: IndexServer) -> IndexFile:
    """The wheel of 5.0.0 in the index."""
    return index_server.add("transformers", "5.0.0", FILES)


def incoming(cache: Cache) -> list[Path]:
    return sorted(cache.incoming.iterdir()) if cache.incoming.is_dir() else []


def test_the_same_ids_everywhere(
    index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], tmp_path: Path
) -> None:
    all_pins = pins({"5.0.0": wheel_file})
    for name in ("one", "two"):
        mirror = Mirror(Cache(tmp_path / name, "transformers"), all_pins, index)
        commit = mirror.ensure(all_pins.releases[0])
        assert (mirror.library_tree(commit), commit) == (TREE, COMMIT)


@pytest.mark.parametrize(
    "settings",
    [
        {"GIT_AUTHOR_NAME": "Somebody", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00+0900", "TZ": "Asia/Tokyo"},
        {"GIT_DEFAULT_HASH": "sha256"},
        {"GIT_DIR": "elsewhere", "GIT_INDEX_FILE": "elsewhere", "GIT_OBJECT_DIRECTORY": "elsewhere"},
        {"GIT_TEMPLATE_DIR": "elsewhere", "GIT_CEILING_DIRECTORIES": "/", "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1"},
        {"LC_ALL": "C", "LANG": "de_DE.UTF-8"},
    ],
    ids=["identity", "other hash", "other repository", "templates", "language"],
)
def test_the_same_ids_whatever_the_machine_is_set_to(
    index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache, monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
) -> None:  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    shed_git_variables()
    all_pins = pins({"5.0.0": wheel_file})
    assert Mirror(cache, all_pins, index).ensure(all_pins.releases[0]) == COMMIT


def test_the_commit_holds_the_package_under_src(
    index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache
) -> None:
    all_pins = pins({"5.0.0": wheel_file})
    mirror = Mirror(cache, all_pins, index)
    commit = mirror.ensure(all_pins.releases[0])
    listed = mirror.git("-c", "core.quotePath=false", "ls-tree", "-r", "--format=%(objectmode) %(path)", commit)
    assert listed.splitlines() == [
        "100644 src/transformers/__init__.py",
        "100644 src/transformers/cache_utils.py",
        "100644 src/transformers/models/empty.py",
        "100644 src/transformers/models/naïve name.py",
        "100755 src/transformers/models/run.sh",
    ]
    content = mirror.git.raw("cat-file", "blob", f"{commit}:src/transformers/cache_utils.py")
    assert content == FILES["transformers/cache_utils.py"]
    who = mirror.git("log", "-1", "--format=%an <%ae> %aI %cn %cI %s", commit)
    date = "2026-05-01T10:00:00+00:00"
    assert who == f"Headwater <headwater@invalid.example> {date} Headwater {date} transformers 5.0.0"
    mirror.git("fsck", "--strict", "--full")


def test_what_is_there_is_not_downloaded_again(
    index_server: IndexServer, index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache
) -> None:
    all_pins = pins({"5.0.0": wheel_file})
    assert Mirror(cache, all_pins, index).imported() == []
    Mirror(cache, all_pins, index).ensure(all_pins.releases[0])
    index_server.requests.clear()
    (cache.wheels / wheel_file.file).unlink()
    again = Mirror(cache, all_pins, Index(offline=True))
    assert again.ensure(all_pins.releases[0]) == COMMIT
    assert again.imported() == ["5.0.0"]
    assert index_server.requests == []
    assert incoming(cache) == []


def test_offline_says_what_is_missing(wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache) -> None:
    all_pins = pins({"5.0.0": wheel_file})
    with pytest.raises(NotCached, match=wheel_file.file):
        Mirror(cache, all_pins, Index(offline=True)).ensure(all_pins.releases[0])


@pytest.mark.parametrize("kind", ["tree", "commit"])
def test_another_id_than_the_pins_say_is_refused_and_nothing_is_kept(
    index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache,
    refs: Callable[[GitDir], dict[str, str]], kind: str,
) -> None:  # fmt: skip
    wrong = pins({"5.0.0": wheel_file}, **{f"{kind}s": {"5.0.0": "1" * 40}})
    mirror = Mirror(cache, wrong, index)
    with pytest.raises(HarnessError, match=rf"the {kind} of transformers 5\.0\.0 is [0-9a-f]{{40}}.* say {'1' * 40}"):
        mirror.ensure(wrong.releases[0])
    assert refs(mirror.git) == {}
    assert mirror.imported() == []
    assert incoming(cache) == []
    right = pins({"5.0.0": wheel_file}, trees={"5.0.0": TREE}, commits={"5.0.0": COMMIT})
    assert Mirror(cache, right, index).ensure(right.releases[0]) == COMMIT


def test_what_is_there_is_checked_against_the_pins_too(
    index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache
) -> None:
    all_pins = pins({"5.0.0": wheel_file})
    Mirror(cache, all_pins, index).ensure(all_pins.releases[0])
    wrong = replace(all_pins.releases[0], tree="1" * 40)
    with pytest.raises(HarnessError, match="the mirror or the pins are damaged"):
        Mirror(cache, all_pins, index).ensure(wrong)


def test_a_wheel_that_cannot_be_trusted_leaves_nothing(
    index_server: IndexServer, index: Index, pins: Callable[..., Pins], cache: Cache,
    refs: Callable[[GitDir], dict[str, str]],
) -> None:  # fmt: skip
    good, bad = index_server.add("transformers", "5.0.0", FILES), io.BytesIO()
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("transformers/a.py", b"")
        archive.writestr("transformers/../../x.py", b"")
    evil = index_server.add_file("transformers", "transformers-5.1.0-py3-none-any.whl", bad.getvalue())
    empty = index_server.add("transformers", "5.2.0", {"other/__init__.py": b""})
    all_pins = pins({"5.0.0": good, "5.1.0": evil, "5.2.0": empty})
    mirror = Mirror(cache, all_pins, index)
    first, second, third = all_pins.releases
    with pytest.raises(WheelRefused, match="leads out of its root"):
        mirror.ensure(second)
    with pytest.raises(HarnessError, match="holds no folder transformers/"):
        mirror.ensure(third)
    assert refs(mirror.git) == {}
    assert incoming(cache) == []
    assert mirror.ensure(first) == COMMIT


# Changed, removed, back again, executable, under another name.
HISTORY: dict[str, dict[str, bytes]] = {
    "5.0.0": FILES,
    "5.1.0": {**FILES, "transformers/cache_utils.py": b"class Cache: pass\n", "transformers/new.py": b""},
    "5.2.0": {name: content for name, content in FILES.items() if name != "transformers/cache_utils.py"},
    "5.3.0": {**FILES, "transformers/cache_utils.py*": FILES["transformers/cache_utils.py"]},
    "5.4.0": {"transformers/__init__.py": b"", "transformers/renamed.py": FILES["transformers/cache_utils.py"]},
    "5.5.0": FILES,
}
del HISTORY["5.3.0"]["transformers/cache_utils.py"]


def test_several_releases_in_one_go_are_the_same_as_one_by_one(
    index_server: IndexServer, index: Index, pins: Callable[..., Pins], tmp_path: Path,
    refs: Callable[[GitDir], dict[str, str]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    wheels = {version: index_server.add("transformers", version, files) for version, files in HISTORY.items()}
    all_pins = pins(wheels)
    one = Mirror(Cache(tmp_path / "one", "transformers"), all_pins, index)
    commits = [one.ensure(pin) for pin in all_pins.releases]
    assert commits[0] == COMMIT
    for name, at_once in (("all", 64), ("two", 2)):
        monkeypatch.setattr("headwater.effects.mirror._AT_ONCE", at_once)
        mirror = Mirror(Cache(tmp_path / name, "transformers"), all_pins, index)
        assert mirror.ensure(all_pins.releases[2]) == commits[2]
        index_server.requests.clear()
        assert mirror.ensure_all(all_pins.releases) == commits
        assert refs(mirror.git) == refs(one.git)
        assert [index_server.fetched(file.file) for file in wheels.values()] == [1, 1, 0, 1, 1, 1]
        mirror.git("fsck", "--strict", "--full")
        mirror.repack(anew=True)
        assert mirror.ensure_all(all_pins.releases[::-1]) == commits[::-1]


@pytest.mark.parametrize("fault", ["tree", "commit", "path", "empty"])
def test_one_of_several_that_cannot_be_trusted_leaves_nothing_of_them(
    index_server: IndexServer, index: Index, pins: Callable[..., Pins], cache: Cache,
    refs: Callable[[GitDir], dict[str, str]], fault: str,
) -> None:  # fmt: skip
    bad = {"path": {"transformers/a.py": b"", "transformers/../../x.py": b""}, "empty": {"other/__init__.py": b""}}
    releases = {"5.0.0": FILES, "5.1.0": bad.get(fault, HISTORY["5.1.0"]), "5.2.0": FILES}
    wheels = {version: index_server.add("transformers", version, files) for version, files in releases.items()}
    said = {f"{fault}s": {"5.1.0": "1" * 40}} if fault in ("tree", "commit") else {}
    all_pins = pins(wheels, **said)
    mirror = Mirror(cache, all_pins, index)
    with pytest.raises(HarnessError, match=r"5\.1\.0"):
        mirror.ensure_all(all_pins.releases)
    assert refs(mirror.git) == {}
    assert mirror.imported() == []
    assert incoming(cache) == []
    assert mirror.ensure(all_pins.releases[0]) == COMMIT


def test_a_damaged_download_leaves_the_mirror_as_it_was(
    index_server: IndexServer, index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache
) -> None:
    all_pins = pins({"5.0.0": wheel_file})
    index_server.fault = "wrong"
    mirror = Mirror(cache, all_pins, index)
    with pytest.raises(DamagedDownload):
        mirror.ensure(all_pins.releases[0])
    assert mirror.imported() == []
    index_server.fault = None
    assert mirror.ensure(all_pins.releases[0]) == COMMIT


@pytest.mark.parametrize("imported", [False, True])
def test_a_mirror_of_another_schema_is_refused_by_name(
    index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache, imported: bool
) -> None:
    all_pins = pins({"5.0.0": wheel_file})
    mirror = Mirror(cache, all_pins, index)
    mirror.ensure(all_pins.releases[0]) if imported else mirror.prepare()
    (cache.mirror / "description").write_text("headwater mirror 99\n", encoding="utf-8")
    with pytest.raises(HarnessError, match=rf"{cache.mirror} is 'headwater mirror 99'.*{SCHEMA}.*cache clean"):
        Mirror(cache, all_pins, index).ensure(all_pins.releases[0])


def test_a_folder_in_the_mirrors_place_that_is_none_is_refused_by_name(
    index: Index, wheel_file: IndexFile, pins: Callable[..., Pins], cache: Cache
) -> None:
    cache.mirror.mkdir(parents=True)
    all_pins = pins({"5.0.0": wheel_file})
    with pytest.raises(HarnessError, match=str(cache.mirror)):
        Mirror(cache, all_pins, index).ensure(all_pins.releases[0])


def test_a_subtree_that_is_not_there(mirror_of: Callable[..., tuple[Mirror, list[str]]]) -> None:
    mirror, _commits = mirror_of({"5.0.0": FILES})
    with pytest.raises(GitFailed):
        mirror.library_tree("refs/headwater/releases/9.9.9")


def test_several_processes_at_once(
    index_server: IndexServer, index: Index, pins: Callable[..., Pins], tmp_path: Path, cache: Cache,
    start_python: Callable[..., Popen[str]], refs: Callable[[GitDir], dict[str, str]],
) -> None:  # fmt: skip
    versions = ("5.0.0", "5.1.0", "5.2.0")
    wheels = {v: index_server.add("transformers", v, {**FILES, "transformers/v.py": v.encode()}) for v in versions}
    all_pins = pins(wheels)
    head = 'schema = 1\npackage = "transformers"\nfirst = "5.0.0"\ntorch = "2.9.1"\n'
    (tmp_path / "pins.toml").write_text(add_releases(head, all_pins.releases), encoding="utf-8")
    processes = [start_python(ENSURE, cache.root, tmp_path / "pins.toml") for _ in range(4)]
    answers = set()
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        answers.add(out)
    assert len(answers) == 1
    mirror = Mirror(cache, all_pins, index)
    assert refs(mirror.git) == {
        f"refs/headwater/releases/{version}": commit
        for version, commit in zip(versions, answers.pop().split(), strict=True)
    }
    mirror.git("fsck", "--strict", "--full")
    assert [index_server.fetched(file.file) for file in wheels.values()] == [1, 1, 1]
    assert incoming(cache) == []
