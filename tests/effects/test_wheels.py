# SPDX-License-Identifier: Apache-2.0
"""Wheels that no honest tool makes are refused, naming the member; honest ones are read as they are."""

from __future__ import annotations

import stat
import struct
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from headwater.effects import wheels
from headwater.effects.wheels import Wheel, WheelRefused, metadata_of

NAME = "transformers-5.0.0-py3-none-any.whl"
METADATA = ("transformers-5.0.0.dist-info/METADATA", b"Name: transformers\n")


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    """Write a zip of (name, content) pairs; `mode`: the file mode of each."""

    def write(*pairs: tuple[str, bytes], mode: int = 0o100644, form: int = zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / NAME
        with zipfile.ZipFile(path, "w", form) as out, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zipfile warns of duplicate names
            for name, content in pairs:
                info = zipfile.ZipInfo("placeholder")
                info.filename = info.orig_filename = name  # ZipInfo's own constructor would mend some names
                info.external_attr = mode << 16
                info.compress_type = form
                out.writestr(info, content)
        return path

    return write


def read(path: Path) -> list[tuple[str, bool, bytes]]:
    with Wheel.open(path, "transformers") as wheel:
        return [(name, wheel.is_executable(info), wheel.read(info)) for name, info in wheel.files.items()]


def metadata(path: Path) -> str:
    return metadata_of(path, "transformers")


def test_members_of_the_package_in_name_order(archive: Callable[..., Path]) -> None:
    path = archive(
        ("transformers/b.py", b"b"), ("transformers/__init__.py", b""), ("transformers/models/x.py", b"x\r\n"),
        ("transformers/models/", b""), ("transformers_extra/c.py", b"c"), ("transformers.py", b"d"), METADATA,
    )  # fmt: skip
    assert read(path) == [
        ("transformers/__init__.py", False, b""),
        ("transformers/b.py", False, b"b"),
        ("transformers/models/x.py", False, b"x\r\n"),
    ]
    assert metadata(path) == "Name: transformers\n"


@pytest.mark.parametrize(
    ("mode", "executable"),
    [(0o100755, True), (0o100644, False), (0o100700, True), (0o755, True), (0, False), (0o104644, False)],
)
def test_the_executable_bit(archive: Callable[..., Path], mode: int, executable: bool) -> None:
    path = archive(("transformers/run.sh", b"#!/bin/sh\n"), mode=mode)
    assert read(path) == [("transformers/run.sh", executable, b"#!/bin/sh\n")]


@pytest.mark.parametrize(
    "name",
    [
        "../x.py", "transformers/../../x.py", "transformers/..", "/x.py", "//x.py", "a\\..\\b.py", "..\\x.py", "C:x.py",
        "C:\\x.py", "transformers/x.py:stream", ".git/config", "transformers/.git/hooks/post-checkout",
        "transformers/.GIT/config", "transformers/.git",
    ],
)  # fmt: skip
@pytest.mark.parametrize("reader", [read, metadata])
def test_names_that_lead_elsewhere(archive: Callable[..., Path], name: str, reader: Callable[[Path], object]) -> None:
    path = archive(("transformers/__init__.py", b""), (name, b"x"), METADATA)
    with pytest.raises(WheelRefused) as caught:
        reader(path)
    assert NAME in str(caught.value)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    "name", ["transformers/./x.py", "transformers//x.py", "./transformers/x.py", "transformers/x.py/."]
)
def test_names_that_are_not_in_their_plain_form(archive: Callable[..., Path], name: str) -> None:
    path = archive(("transformers/__init__.py", b""), (name, b"x"))
    with pytest.raises(WheelRefused) as caught:
        read(path)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    "name", ["transformers/a.py\ndata 0\nM 100644 inline src/evil.py", "transformers/a\n.py", "transformers/a\r.py"]
)
def test_a_line_feed_in_a_name_cannot_become_a_command_of_the_import(archive: Callable[..., Path], name: str) -> None:
    path = archive(("transformers/__init__.py", b""), (name, b"x"))
    with pytest.raises(WheelRefused) as caught:
        read(path)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
@pytest.mark.parametrize("name", ["transformers/link.py", "elsewhere/link.py"])
def test_links_and_special_files(archive: Callable[..., Path], kind: int, name: str) -> None:
    path = archive((name, b"/etc/passwd"), mode=kind | 0o644)
    with pytest.raises(WheelRefused, match=f"{NAME} holds '{name}', which is a link or a special file"):
        read(path)


def test_a_name_that_stands_there_twice(archive: Callable[..., Path]) -> None:
    path = archive(("transformers/x.py", b"1"), ("transformers/y.py", b""), ("transformers/x.py", b"2"))
    with pytest.raises(WheelRefused, match=r"holds 'transformers/x\.py' twice"):
        read(path)


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        ("MAX_MEMBER", 999, "holds 'transformers/x.py' of 1000 bytes, more than 999"),
        ("MAX_TOTAL", 1009, "unpacks to 1010 bytes, more than 1009"),
        ("MAX_MEMBERS", 1, "has 2 members, more than 1"),
    ],
)
def test_absurd_sizes(
    archive: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, limit: str, value: int, words: str
) -> None:
    path = archive(("transformers/x.py", b"\0" * 1000), ("transformers/y.py", b"\0" * 10))
    monkeypatch.setattr(wheels, limit, value + 1)
    assert len(read(path)) == 2
    monkeypatch.setattr(wheels, limit, value)
    with pytest.raises(WheelRefused, match=words):
        read(path)


def directory_entry(path: Path) -> int:
    """Where the last entry of a zip's directory begins."""
    return path.read_bytes().rindex(b"PK\x01\x02")


def patch(path: Path, position: int, content: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[position : position + len(content)] = content
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("claimed", [0, 1, 999, 1001, 5000])
@pytest.mark.parametrize("form", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_sizes_that_lie(archive: Callable[..., Path], claimed: int, form: int) -> None:
    path = archive(("transformers/x.py", b"x" * 1000), form=form)
    patch(path, directory_entry(path) + 24, struct.pack("<I", claimed))
    with pytest.raises(WheelRefused, match=r"transformers/x\.py"):
        read(path)


def flip_bit(path: Path) -> None:
    """Spoil the content of the last member."""
    content = path.read_bytes()
    patch(path, content.index(b"transformers/x.py") + 20, b"\xff\xff\xff")


def encrypt(path: Path) -> None:
    patch(path, directory_entry(path) + 8, struct.pack("<H", 1))
    patch(path, path.read_bytes().index(b"PK\x03\x04") + 6, struct.pack("<H", 1))


def unknown_compression(path: Path) -> None:
    patch(path, directory_entry(path) + 10, struct.pack("<H", 98))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def other_name_inside(path: Path) -> None:
    patch(path, path.read_bytes().index(b"transformers/x.py"), b"transformers/z.py")


@pytest.mark.parametrize("damage", [flip_bit, encrypt, unknown_compression, cut, other_name_inside])
def test_damaged_members(archive: Callable[..., Path], damage: Callable[[Path], None]) -> None:
    path = archive(("transformers/x.py", bytes(range(256)) * 10))
    damage(path)
    with pytest.raises(WheelRefused, match=NAME):
        read(path)


@pytest.mark.parametrize("content", [b"", b"<html>Not found</html>", b"PK\x05\x06", b"\0" * 5000])
@pytest.mark.parametrize("reader", [read, metadata])
def test_no_zip_file(tmp_path: Path, content: bytes, reader: Callable[[Path], Sequence[object]]) -> None:
    path = tmp_path / NAME
    path.write_bytes(content)
    with pytest.raises(WheelRefused, match=f"{NAME} is damaged"):
        reader(path)


def test_no_metadata(archive: Callable[..., Path]) -> None:
    with pytest.raises(WheelRefused, match=f"{NAME} has no METADATA"):
        metadata(archive(("transformers/METADATA", b"")))
