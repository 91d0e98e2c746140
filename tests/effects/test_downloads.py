# SPDX-License-Identifier: Apache-2.0
"""Downloads from an index that fails in every way: a clear error, nothing kept, and the next run completes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING

import pytest

from headwater.core.errors import DamagedDownload, HarnessError, NotCached
from headwater.core.events import Event, Finished, Note, Started
from headwater.effects.index import Index

if TYPE_CHECKING:
    from index_server import IndexServer

ATTEMPTS = 4
SECRET = "hunter2-%40-secret"

DOWNLOAD = """
import sys
from pathlib import Path
from headwater.core.pins import IndexFile
from headwater.effects.index import Index
name, sha256, size, folder = sys.argv[1:]
Index(pause=0.01).download("transformers", IndexFile(name, sha256, int(size)), Path(folder))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where wheels go; it is not there yet."""
    return tmp_path / "wheels"


def notes(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Note)]


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_file_arrives_whole_and_is_not_asked_for_again(
    index_server: IndexServer, index: Index, events: list[Event], folder: Path
) -> None:
    file = index_server.add("transformers", "5.0.0", {"transformers/big.py": b"x = 1\n" * 200_000})
    path = index.download("transformers", file, folder)
    assert path.read_bytes() == index_server.files[file.file].content
    assert path.stat().st_mode & 0o777 == 0o644
    assert left_in(folder) == [file.file]
    assert [type(event) for event in events if not isinstance(event, Note)][:1] == [Started]
    assert events[-1] == Finished(file.file, "")
    index_server.requests.clear()
    assert index.download("transformers", file, folder) == path
    assert Index(pause=0.01).download("transformers", file, folder) == path
    assert index_server.requests == []


@pytest.mark.parametrize("failures", [1, 2, ATTEMPTS - 1])
def test_an_index_that_recovers_is_tried_again(
    index_server: IndexServer, index: Index, events: list[Event], folder: Path, failures: int
) -> None:
    file = index_server.add("transformers", "5.0.0")
    index.releases("transformers")
    index_server.fail_first = failures
    index.download("transformers", file, folder)
    assert index_server.fetched(file.file) == failures + 1
    assert len(notes(events)) == failures
    assert all("500" in note and "trying again" in note for note in notes(events))
    assert left_in(folder) == [file.file]


@pytest.mark.parametrize("failures", [1, ATTEMPTS - 1])
def test_a_list_that_fails_at_first_is_tried_again(index_server: IndexServer, index: Index, failures: int) -> None:
    index_server.add("transformers", "5.0.0")
    index_server.fail_first = failures
    assert [str(release.version) for release in index.releases("transformers")] == ["5.0.0"]
    assert index_server.requests == ["/simple/transformers/"] * (failures + 1)


@pytest.mark.parametrize(
    ("status", "attempts"), [(500, ATTEMPTS), (503, ATTEMPTS), (429, ATTEMPTS), (403, 1), (404, 1), (410, 1)]
)
def test_an_index_that_keeps_failing_is_a_clear_error(
    index_server: IndexServer, index: Index, folder: Path, status: int, attempts: int
) -> None:
    file = index_server.add("transformers", "5.0.0")
    index.releases("transformers")
    index_server.status = status
    with pytest.raises(HarnessError) as caught:
        index.download("transformers", file, folder)
    for word in (file.file, index.name, f"{attempts} attempts", str(status)):
        assert word in str(caught.value)
    assert index_server.fetched(file.file) == attempts
    assert left_in(folder) == []
    index_server.status = None
    index.download("transformers", file, folder)
    assert left_in(folder) == [file.file]


@pytest.mark.parametrize(
    ("fault", "error", "attempts", "words"),
    [
        ("cut", HarnessError, ATTEMPTS, "4 attempts"),
        ("cut without a length", HarnessError, ATTEMPTS, "cut off after"),
        ("hang-up", HarnessError, ATTEMPTS, "4 attempts"),
        ("wrong", DamagedDownload, 1, "nothing was kept"),
        ("longer", DamagedDownload, 1, "is longer than"),
    ],
)
def test_a_spoilt_body_is_a_clear_error_and_nothing_is_kept(
    index_server: IndexServer, index: Index, events: list[Event], folder: Path, fault: str,
    error: type[HarnessError], attempts: int, words: str,
) -> None:  # fmt: skip
    file = index_server.add("transformers", "5.0.0", {"transformers/a.py": b"x = 1\n" * 1000})
    index_server.fault = fault
    with pytest.raises(error) as caught:
        index.download("transformers", file, folder)
    assert type(caught.value) is error
    assert file.file in str(caught.value)
    assert words in str(caught.value)
    assert index_server.fetched(file.file) == attempts
    assert left_in(folder) == []
    started = [event for event in events if isinstance(event, Started) and event.key == file.file]
    assert [e for e in events if isinstance(e, Finished)] == [Finished(file.file, "failed")] * len(started)
    index_server.fault = None
    path = Index(pause=0.01).download("transformers", file, folder)
    assert path.read_bytes() == index_server.files[file.file].content
    assert left_in(folder) == [file.file]


def test_what_the_index_gives_must_be_what_the_pins_name(index_server: IndexServer, index: Index, folder: Path) -> None:
    file = index_server.add("transformers", "5.0.0")
    pinned = replace(file, sha256="0" * 64)
    with pytest.raises(DamagedDownload, match=f"{file.sha256}, and the pins say {'0' * 64}"):
        index.download("transformers", pinned, folder)
    assert left_in(folder) == []


def test_a_cached_damaged_file_is_named_and_fetched_anew(
    index_server: IndexServer, index: Index, events: list[Event], folder: Path
) -> None:
    file = index_server.add("transformers", "5.0.0")
    path = index.download("transformers", file, folder)
    path.write_bytes(b"\0" + path.read_bytes()[1:])
    events.clear()
    index.download("transformers", file, folder)
    warnings = [event for event in events if isinstance(event, Note)]
    assert len(warnings) == 1 and warnings[0].warning and file.file in warnings[0].text
    assert path.read_bytes() == index_server.files[file.file].content
    assert index_server.fetched(file.file) == 2


def test_a_file_that_the_index_dropped_is_named(index_server: IndexServer, index: Index, folder: Path) -> None:
    file = index_server.add("transformers", "5.0.0")
    index_server.add("transformers", "5.1.0")
    del index_server.files[file.file]
    with pytest.raises(HarnessError, match=f"no longer lists {file.file}"):
        index.download("transformers", file, folder)


def test_offline_takes_what_is_there_and_says_what_is_missing(
    index_server: IndexServer, index: Index, folder: Path
) -> None:
    here, missing = index_server.add("transformers", "5.0.0"), index_server.add("transformers", "5.1.0")
    index.download("transformers", here, folder)
    index_server.requests.clear()
    offline = Index(offline=True, pause=0.01)
    assert offline.download("transformers", here, folder).is_file()
    for attempt in (
        lambda: offline.download("transformers", missing, folder),
        lambda: offline.requirements("transformers", missing, folder),
    ):
        with pytest.raises(NotCached, match=f"{missing.file}.*--offline"):
            attempt()
    with pytest.raises(NotCached, match=r"transformers.*--offline"):
        offline.releases("transformers")
    assert index_server.requests == []
    assert left_in(folder) == [here.file]


@pytest.mark.parametrize("absolute", [False, True], ids=["relative addresses", "absolute addresses"])
def test_credentials_in_the_address_open_the_index(
    index_server: IndexServer, folder: Path, monkeypatch: pytest.MonkeyPatch, absolute: bool
) -> None:
    file = index_server.add("transformers", "5.0.0", requires=["numpy"])
    index_server.credentials, index_server.absolute = "user:hunter2-@-secret", absolute
    monkeypatch.setenv("PIP_INDEX_URL", index_server.url(f"user:{SECRET}"))
    index = Index(pause=0.01)
    assert index.requirements("transformers", file, folder) == ["numpy"]
    assert index.download("transformers", file, folder).is_file()


@pytest.mark.parametrize("status", [403, 500])
@pytest.mark.parametrize("fault", [None, "cut", "hang-up", "wrong", "longer"])
def test_credentials_show_nowhere(
    index_server: IndexServer, folder: Path, events: list[Event], monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture, fault: str | None, status: int,
) -> None:  # fmt: skip
    caplog.set_level("INFO")
    file = index_server.add("transformers", "5.0.0")
    monkeypatch.setenv("PIP_INDEX_URL", index_server.url(f"user:{SECRET}"))
    index = Index(events.append, pause=0.001)
    index.releases("transformers")
    index_server.fault = fault
    index_server.status = None if fault else status
    texts = [index.name]
    for attempt in (
        lambda: index.download("transformers", file, folder),
        lambda: Index(events.append, pause=0.001).releases("missing"),
        lambda: index.any_wheel("transformers", "9.9.9"),
    ):
        with pytest.raises(HarnessError) as caught:
            attempt()
        texts.append(str(caught.value))
    shown = "\n".join([*texts, *map(str, events), caplog.text])
    assert "127.0.0.1" in shown
    assert "hunter2" not in shown


def test_an_index_that_is_not_there_is_named_without_credentials(
    index_server: IndexServer, monkeypatch: pytest.MonkeyPatch, events: list[Event]
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"http://user:{SECRET}@127.0.0.1:1/simple/")
    with pytest.raises(
        HarnessError, match=r"the list of transformers cannot be had from http://\*\*\*@127\.0\.0\.1:1/"
    ):
        Index(events.append, pause=0.001).releases("transformers")
    assert len(notes(events)) == ATTEMPTS - 1
    assert "hunter2" not in str(events)


def test_two_processes_at_once_both_get_a_whole_file(
    index_server: IndexServer, index: Index, folder: Path, start_python: Callable[..., Popen[str]]
) -> None:
    file = index_server.add("transformers", "5.0.0", {"transformers/big.py": b"x = 1\n" * 300_000})
    # Both bodies are sent at the same moment, and both processes write them.
    index_server.gate = threading.Barrier(2)
    processes = [start_python(DOWNLOAD, file.file, file.sha256, file.size, folder) for _ in range(2)]
    for process in processes:
        _out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert index_server.fetched(file.file) == 2
    assert left_in(folder) == [file.file]
    assert (folder / file.file).read_bytes() == index_server.files[file.file].content


def test_a_killed_download_leaves_no_file_under_the_final_name(
    index_server: IndexServer, folder: Path, index: Index, start_python: Callable[..., Popen[str]]
) -> None:
    file = index_server.add("transformers", "5.0.0")
    index_server.gate = threading.Barrier(2)
    process = start_python(DOWNLOAD, file.file, file.sha256, file.size, folder)
    while not index_server.fetched(file.file):
        assert process.poll() is None
    process.kill()
    process.wait()
    index_server.gate.abort()
    assert file.file not in left_in(folder)
    index_server.gate = None
    assert index.download("transformers", file, folder).read_bytes() == index_server.files[file.file].content
