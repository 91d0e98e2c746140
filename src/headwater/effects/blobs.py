# SPDX-License-Identifier: Apache-2.0
"""Files of trees by their git blob id, each on disk once however many trees hold it: trees are links to them."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.core.errors import HarnessError
from headwater.effects.git import GitDir


@dataclass(frozen=True)
class Entry:
    """A file of a tree: its path below the tree, its blob id, whether it is executable."""

    path: str
    blob: str
    executable: bool


class DamagedObject(HarnessError):
    """The mirror gave, under an id, something else than what the id names."""


class Blobs:
    """The files under `folder`, filled from a repository."""

    def __init__(self, folder: Path, git: GitDir) -> None:
        self._folder, self._git = folder, git

    def entries(self, tree: str) -> list[Entry]:
        """The files of a git tree.

        Raises:
            DamagedObject: it holds a link or a submodule, which no wheel and no folder that was read has.
        """
        found = []
        for line in self._git("ls-tree", "-r", "-z", "--full-tree", tree).split("\0"):
            if line:
                head, _, path = line.partition("\t")
                mode, kind, blob = head.split()
                if kind != "blob" or mode == "120000":
                    raise DamagedObject(f"tree {tree} holds {path!r}, a {kind} of mode {mode}")
                found.append(Entry(path, blob, mode == "100755"))
        return found

    def bring(self, entries: Sequence[Entry], check: bool) -> None:
        """Have every entry's file here; with `check` each one that is here already is read, and replaced if damaged."""
        self._folder.mkdir(parents=True, exist_ok=True)
        wanted = {entry.blob: entry for entry in entries if not self._is_here(entry, check)}
        if wanted:
            for blob, content in self._read(list(wanted)):
                for executable in {entry.executable for entry in entries if entry.blob == blob}:
                    self._write(self._place(Entry("", blob, executable)), content, executable)

    def link(self, entry: Entry, target: Path) -> None:
        """Put an entry's file at `target`, sharing its content; a copy where there are too many links."""
        place = self._place(entry)
        try:
            target.hardlink_to(place)
        except OSError as error:
            if error.errno not in (errno.EMLINK, errno.EXDEV, errno.EPERM):
                raise
            shutil.copy2(place, target)

    def _place(self, entry: Entry) -> Path:
        return self._folder / entry.blob[:2] / (entry.blob + (".x" if entry.executable else ""))

    def _is_here(self, entry: Entry, check: bool) -> bool:
        place = self._place(entry)
        if not check:
            return place.exists()
        try:
            return blob_id(place.read_bytes()) == entry.blob
        except FileNotFoundError:
            return False

    def _read(self, blobs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Contents out of the mirror, each checked against its id; see git-cat-file(1), "Batch output"."""
        with tempfile.TemporaryFile() as names:
            names.write("".join(f"{blob}\n" for blob in blobs).encode())
            names.seek(0)
            answer = self._git.raw("cat-file", "--batch", stdin=names)
        at = 0
        for blob in blobs:
            head_end = answer.index(b"\n", at)
            head = answer[at:head_end].split()
            if len(head) != 3 or head[1] != b"blob":
                raise DamagedObject(
                    f"the mirror has no whole object {blob}: {answer[at:head_end].decode(errors='replace')}"
                )
            begin = head_end + 1
            at = begin + int(head[2])
            content = answer[begin:at]
            if blob_id(content) != blob:
                raise DamagedObject(f"the mirror's object {blob} is damaged")
            yield blob, content
            at += 1

    def _write(self, place: Path, content: bytes, executable: bool) -> None:
        place.parent.mkdir(exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", dir=place.parent)
        with os.fdopen(handle, "wb") as out:
            out.write(content)
        part = Path(name)
        # Nobody should write to a file that other trees share; root can, and that is noticed.
        part.chmod(0o555 if executable else 0o444)
        part.replace(place)


def blob_id(content: bytes) -> str:
    """The id that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
