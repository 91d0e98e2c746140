# SPDX-License-Identifier: Apache-2.0
"""Writing wheels as the stream that `git fast-import` reads (see git-fast-import(1), "Input format").

Every version of a file follows the one of the release before, so that git stores it as a difference to that; a file
that did not change is neither unpacked nor written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from headwater.core.errors import HarnessError
from headwater.core.pins import Pin
from headwater.effects.wheels import Wheel

IDENTITY = "Headwater <headwater@invalid.example>"


@dataclass
class _Commit:
    """The lines that lay out one release's files, by path."""

    pin: Pin
    ref: str
    lines: dict[str, bytes] = field(default_factory=dict)


def write_stream(out: IO[bytes], package: str, releases: Sequence[tuple[Pin, Path, str]]) -> None:
    """Write one commit for each of `releases`: its pin, its wheel, and the ref that shall name the commit.

    Raises:
        HarnessError: a wheel holds no folder `package`, or cannot be trusted.
    """
    with ExitStack() as stack:
        wheels = [stack.enter_context(Wheel.open(path, package)) for _pin, path, _ref in releases]
        commits = [_Commit(pin, ref) for pin, _path, ref in releases]
        mark = 0
        for path in sorted({path for wheel in wheels for path in wheel.files}):
            before: tuple[int, int] | None = None
            for wheel, commit in zip(wheels, commits, strict=True):
                info = wheel.files.get(path)
                if info is None:
                    continue
                # Checksum and size only save unpacking what most likely is the same: the tree ids, which the pins
                # have, are what is relied upon.
                if (info.CRC, info.file_size) != before:
                    mark += 1
                    content = wheel.read(info)
                    out.write(b"blob\nmark :%d\ndata %d\n" % (mark, len(content)) + content + b"\n")
                    before = (info.CRC, info.file_size)
                mode = "100755" if wheel.is_executable(info) else "100644"
                commit.lines[path] = f"M {mode} :{mark} src/{path}\n".encode()
        for commit in commits:
            _write_commit(out, package, commit)
    out.write(b"done\n")


def _write_commit(out: IO[bytes], package: str, commit: _Commit) -> None:
    pin = commit.pin
    if not commit.lines:
        raise HarnessError(f"{pin.wheel.file} holds no folder {package}/")
    when = f"{int(pin.uploaded.timestamp())} +0000"
    message = f"{package} {pin.version}\n\nThe files of {pin.wheel.file}.\n".encode()
    out.write(f"commit {commit.ref}\nauthor {IDENTITY} {when}\ncommitter {IDENTITY} {when}\n".encode())
    out.write(b"data %d\n" % len(message) + message + b"\ndeleteall\n")
    for path in sorted(commit.lines):
        out.write(commit.lines[path])
    out.write(b"\n")
