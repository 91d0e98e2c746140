# SPDX-License-Identifier: Apache-2.0
"""Reading a wheel's members without trusting it: no path out of its root, no links, no absurd sizes."""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from headwater.core.errors import HarnessError

# What zipfile raises for members that are damaged, encrypted, or compressed in ways that it does not know.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)
MAX_MEMBER = 64 << 20
MAX_TOTAL = 1 << 30
MAX_MEMBERS = 100_000


class WheelRefused(HarnessError):
    """A wheel holds something that no wheel of a Python library should."""


@dataclass(frozen=True)
class Wheel:
    """An open wheel, every member of which was looked at. `files` are those of the package, by path."""

    name: str
    archive: zipfile.ZipFile
    files: Mapping[str, zipfile.ZipInfo]
    others: Mapping[str, zipfile.ZipInfo]

    @classmethod
    @contextmanager
    def open(cls, path: Path, package: str) -> Iterator[Wheel]:
        """Open a wheel.

        Raises:
            WheelRefused: not a zip file, or a member escapes the root, is a link, stands there twice, or is too large.
        """
        try:
            archive = zipfile.ZipFile(path)
        except _DAMAGE as error:
            raise WheelRefused(f"{path.name} is damaged: {error}") from error
        with archive:
            infos = {info.filename: info for info in _checked(archive, path.name) if not info.is_dir()}
            files = {name: info for name, info in infos.items() if name.startswith(f"{package}/")}
            others = {name: info for name, info in infos.items() if name not in files}
            yield cls(path.name, archive, files, others)

    def read(self, info: zipfile.ZipInfo) -> bytes:
        """A member's content.

        Raises:
            WheelRefused: it is damaged, or not as long as the directory says.
        """
        # The size in the directory may lie: never read past it. zipfile checks the CRC at the member's end.
        try:
            with self.archive.open(info) as stream:
                content = stream.read(info.file_size + 1)
        except _DAMAGE as error:
            raise WheelRefused(f"{self.name} is damaged: {error}") from error
        if len(content) != info.file_size:
            raise WheelRefused(f"{self.name}: {info.filename!r} is not as long as the directory says")
        return content

    @staticmethod
    def is_executable(info: zipfile.ZipInfo) -> bool:
        """Whether a member's mode has an executable bit."""
        return bool((info.external_attr >> 16) & 0o111)


def metadata_of(path: Path, package: str) -> str:
    """The text of a wheel's METADATA file.

    Raises:
        WheelRefused: it has none, or the wheel cannot be trusted.
    """
    with Wheel.open(path, package) as wheel:
        for name, info in wheel.others.items():
            if name.endswith(".dist-info/METADATA"):
                return wheel.read(info).decode("utf-8", "replace")
    raise WheelRefused(f"{path.name} has no METADATA")


def _checked(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    infos = sorted(archive.infolist(), key=lambda info: info.filename)
    if len(infos) > MAX_MEMBERS:
        raise WheelRefused(f"{name} has {len(infos)} members, more than {MAX_MEMBERS}")
    total = sum(info.file_size for info in infos)
    if total > MAX_TOTAL:
        raise WheelRefused(f"{name} unpacks to {total} bytes, more than {MAX_TOTAL}")
    seen: set[str] = set()
    for info in infos:
        _check(info, name)
        if info.filename in seen:
            raise WheelRefused(f"{name} holds {info.filename!r} twice")
        seen.add(info.filename)
    return infos


def _check(info: zipfile.ZipInfo, name: str) -> None:
    raw = info.orig_filename
    path = PurePosixPath(raw)
    if any(ord(char) < 32 for char in raw):
        # A line feed would end a line of what `git fast-import` reads.
        raise WheelRefused(f"{name} holds {raw!r}, which has control characters in its name")
    is_plain = str(path) == raw.removesuffix("/")
    if not is_plain or path.is_absolute() or ".." in path.parts or "\\" in raw or ":" in raw:
        raise WheelRefused(f"{name} holds {raw!r}, which leads out of its root or is not in its plain form")
    if any(part.lower() == ".git" for part in path.parts):
        raise WheelRefused(f"{name} holds {raw!r}, a name that git keeps for itself")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise WheelRefused(f"{name} holds {raw!r}, which is a link or a special file")
    if info.file_size > MAX_MEMBER:
        raise WheelRefused(f"{name} holds {raw!r} of {info.file_size} bytes, more than {MAX_MEMBER}")
