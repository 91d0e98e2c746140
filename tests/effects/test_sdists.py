# SPDX-License-Identifier: Apache-2.0
"""Test files out of a release's sdist: found by their place, and never unpacked."""

from __future__ import annotations

import hashlib
import io
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from packaging.version import Version

from headwater.core.errors import HarnessError
from headwater.core.pins import IndexFile, Pin
from headwater.effects import sdists
from headwater.effects.index import Index
from headwater.effects.sdists import sdist_file

NAME = "transformers-5.1.0.tar.gz"


def pin_of(folder: Path, files: dict[str, bytes], cut: int | None = None) -> Pin:
    """A release whose sdist lies in the folder already."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("transformers-5.1.0/tests/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        tar.addfile(link)
    content = made.getvalue()[:cut]
    (folder / NAME).write_bytes(content)
    wheel = IndexFile("w", "0" * 64, 1)
    sdist = IndexFile(NAME, hashlib.sha256(content).hexdigest(), len(content))
    return Pin(Version("5.1.0"), datetime(2026, 1, 1, tzinfo=UTC), ">=3.10", None, wheel, sdist)


FILES = {"transformers-5.1.0/tests/test_a.py": b"one = 1\n", "transformers-5.1.0/README.md": b"# hm\n"}


def look(folder: Path, pin: Pin, path: str) -> bytes | None:
    return sdist_file(Index(offline=True), folder, "transformers", pin, path)


def test_by_its_place(tmp_path: Path) -> None:
    pin = pin_of(tmp_path, FILES)
    assert look(tmp_path, pin, "tests/test_a.py") == b"one = 1\n"
    assert look(tmp_path, pin, "tests/utils/test_a.py") is None
    assert look(tmp_path, pin, "tests/link.py") is None
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_release_without_one(tmp_path: Path) -> None:
    pin = pin_of(tmp_path, FILES)
    bare = Pin(pin.version, pin.uploaded, pin.requires_python, None, pin.wheel, None)
    assert look(tmp_path, bare, "tests/test_a.py") is None


def test_a_damaged_one_is_named(tmp_path: Path) -> None:
    pin = pin_of(tmp_path, FILES, cut=120)
    with pytest.raises(HarnessError, match=f"{NAME} is damaged"):
        look(tmp_path, pin, "tests/test_z.py")


def test_an_absurd_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdists, "_LARGEST", 3)
    with pytest.raises(HarnessError, match="has 8 bytes, more than 3"):
        look(tmp_path, pin_of(tmp_path, FILES), "tests/test_a.py")
