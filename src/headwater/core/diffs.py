# SPDX-License-Identifier: Apache-2.0
"""What a git diff says, file by file and hunk by hunk, without applying it.

The form is that of git-diff(1), "Generating patch text with -p": extended headers, then unified hunks or a binary
patch. Contents stay bytes; only paths are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from headwater.core.errors import BadInput

# Nine digits are enough for any file, and no more than Python reads as a number.
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')
_PLAIN = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_RENAMED = re.compile(rb"(?:rename|copy) (from|to) (.+)")
_MODE = re.compile(rb"(new file|deleted file|old|new) mode ([0-7]+)")
# The mode stands behind the ids where it stays.
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: ([0-7]+))?")
# How the ids of no file and of an empty one begin, in SHA-1 and SHA-256.
_NOTHING = {b"0000000", b"e69de29", b"473a0f4"}
# A line that may stand between `diff --git` and the first hunk.
_HEADER = re.compile(
    rb"index |--- |\+\+\+ |(?:new file|deleted file|old|new) mode |(?:rename|copy) (?:from|to) |"
    rb"(?:dis)?similarity index |GIT binary patch|Binary files "
)
# What a symbolic link and a submodule have for a mode in git.
_NOT_FILES = ("120000", "160000")


@dataclass(frozen=True)
class Hunk:
    """One hunk: its place on either side (first line and number of lines) and its text with the signs in front."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    body: bytes

    @property
    def header(self) -> str:
        """The hunk's header, as git writes it without the section."""
        return f"@@ -{_span(self.old_start, self.old_count)} +{_span(self.new_start, self.new_count)} @@"


def _span(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


@dataclass(frozen=True)
class FileChange:
    """What a diff does to one file. `old` is None where it is created, `new` where it is deleted; `binary` where its
    content is no text; `modes` are the file modes that the diff names (octal)."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]
    binary: bool
    modes: tuple[str, ...]

    @property
    def path(self) -> str:
        """The name it has afterwards, or had before it was deleted."""
        return self.new or self.old or ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Both names, where it is renamed."""
        return tuple(dict.fromkeys(name for name in (self.old, self.new) if name))


def read_diff(diff: bytes, origin: str) -> tuple[FileChange, ...]:
    """Read a diff. What follows its last hunk (a mail's signature) is passed over.

    Raises:
        BadInput: naming `origin`, file and hunk: it is cut short or says more than its headers do, a path leads out of
            the tree or into `.git`, a file is a link or a submodule.
    """
    lines = diff.split(b"\n")
    # No line of a hunk begins so: each has its sign in front.
    starts = [number for number, line in enumerate(lines) if line.startswith(b"diff --git ")]
    changes: list[FileChange] = []
    passed = 0
    for start in starts:
        _refuse_more(lines[passed:start], origin, changes)
        change, passed = _read_file(lines, start, origin)
        changes.append(change)
    _refuse_more(lines[passed:], origin, changes)
    return tuple(changes)


def _refuse_more(rest: list[bytes], origin: str, before: list[FileChange]) -> None:
    """Refuse lines behind a file's last hunk that git would drop, or apply, without a word."""
    if not before:
        return
    place = f"{origin}: {before[-1].path}, hunk {len(before[-1].hunks)}"
    if before[-1].hunks and rest and rest[0][:1] in (b"+", b"-", b" ") and rest[0].rstrip() != b"--":
        raise BadInput(f"{place} ({before[-1].hunks[-1].header}) has more lines than its header says: {_show(rest[0])}")
    for line in rest:
        if line.startswith(b"@@"):
            raise BadInput(f"{place} is followed by a damaged or stray header: {_show(line)}")


def _show(line: bytes) -> str:
    return repr(line.decode(errors="replace"))


def _read_file(lines: list[bytes], start: int, origin: str) -> tuple[FileChange, int]:
    change, complete, at = _read_headers(lines, start)
    label = change.path or lines[start].decode(errors="replace")
    hunks: list[Hunk] = []
    while at < len(lines) and (header := _HUNK.match(lines[at])):
        hunk, at = _read_hunk(lines, at, header, f"{origin}: {label}, hunk {len(hunks) + 1}")
        hunks.append(hunk)
    if not (hunks or complete):
        found = _show(lines[at]) if any(lines[at:]) else "the end"
        raise BadInput(f"{origin}: {label}, hunk 1 is cut short or damaged: {found} stands where it should begin")
    change = replace(change, hunks=tuple(hunks))
    _refuse_unsafe(change, origin)
    return change, at


def _read_headers(lines: list[bytes], start: int) -> tuple[FileChange, bool, int]:
    """A file without its hunks; whether it needs none; and the line behind its headers."""
    old, new = _header_names(lines[start])
    modes: list[bytes] = []
    binary = complete = content = False
    at = start + 1
    for line in lines[at:]:
        # As for git, the first line that is no header ends them.
        if not _HEADER.match(line):
            break
        at += 1
        if line.startswith((b"GIT binary patch", b"Binary files ")):
            binary = True
            break
        if line.startswith(b"--- "):
            old, content = _side_name(line[4:]), True
        elif line.startswith(b"+++ "):
            new, content = _side_name(line[4:]), True
            break
        elif named := _RENAMED.match(line):
            old, new = (_name(named[2]), new) if named[1] == b"from" else (old, _name(named[2]))
            complete = True
        elif index := _INDEX.match(line):
            content = not {index[1][:7], index[2][:7]} <= _NOTHING
            modes += [index[3]] if index[3] else []
        elif mode := _MODE.match(line):
            old, new = None if mode[1] == b"new file" else old, None if mode[1] == b"deleted file" else new
            modes.append(mode[2])
            complete = True
    change = FileChange(old, new, (), binary, tuple(mode.decode() for mode in modes))
    return change, binary or (complete and not content), at


def _read_hunk(lines: list[bytes], at: int, header: re.Match[bytes], place: str) -> tuple[Hunk, int]:
    old_start, old_count, new_start, new_count = (1 if part is None else int(part) for part in header.groups()[:4])
    old_left, new_left = old_count, new_count
    first = at + 1
    at = first
    while old_left > 0 or new_left > 0:
        # The piece behind the last line feed is no line.
        line = lines[at] if at < len(lines) - 1 else None
        sign = line[:1] if line else b" " if line == b"" else b""
        if sign not in (b" ", b"-", b"+", b"\\"):
            raise BadInput(
                f"{place} ({lines[first - 1].decode(errors='replace')}) is cut short or damaged: {old_left} lines of "
                f"the old and {new_left} of the new side are missing"
            )
        old_left -= sign in (b" ", b"-")
        new_left -= sign in (b" ", b"+")
        at += 1
    if old_left < 0 or new_left < 0:
        raise BadInput(f"{place} ({lines[first - 1].decode(errors='replace')}) has more lines than its header says")
    if at < len(lines) and lines[at].startswith(b"\\"):
        at += 1
    body = b"\n".join(lines[first:at]) + b"\n"
    section = header.group(5).decode(errors="replace").strip()
    return Hunk(old_start, old_count, new_start, new_count, section, body), at


def _header_names(line: bytes) -> tuple[str | None, str | None]:
    """The names in a `diff --git` line. They count only where nothing below names the file: then both are equal."""
    rest = line.removeprefix(b"diff --git ").rstrip(b"\r")
    if quoted := _QUOTED.match(rest):
        return _side_name(quoted[0]), _side_name(rest[quoted.end() :].strip())
    middle = len(rest) // 2
    return _side_name(rest[:middle]), _side_name(rest[middle + 1 :])


def _side_name(name: bytes) -> str | None:
    """A name with `a/` or `b/` in front; None for /dev/null. Without such a letter it is taken as it is, so that an
    absolute path is seen as one."""
    text = _name(name)
    if text == "/dev/null":
        return None
    return text[2:] if text[:2] in ("a/", "b/") else text


def _name(name: bytes) -> str:
    name = name.rstrip(b"\r").removesuffix(b"\t")
    if len(name) > 1 and name.startswith(b'"') and name.endswith(b'"'):
        name = _ESCAPE.sub(_unescape, name[1:-1])
    return name.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    word = match.group(1)
    return bytes([int(word, 8) if len(word) == 3 else _PLAIN[word[0]]])


def _refuse_unsafe(change: FileChange, origin: str) -> None:
    for path in change.paths:
        parts = path.split("/")
        if path.startswith("/") or any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
            where = f", hunk 1 ({change.hunks[0].header})" if change.hunks else ""
            raise BadInput(f"{origin}: the path {path!r}{where} does not lie inside the tree")
        if "\n" in path or "\0" in path:
            raise BadInput(f"{origin}: the path {path!r} holds a line feed or a null")
    for mode in change.modes:
        if mode in _NOT_FILES:
            kind = "a symbolic link" if mode == _NOT_FILES[0] else "a submodule"
            raise BadInput(f"{origin}: {change.path} is {kind}; a series changes files only")


def hunk_at(changes: Iterator[FileChange] | tuple[FileChange, ...], path: str, line: int) -> str:
    """Words for the hunk of `path` whose old side begins at `line`, as git names the place where a patch fails."""
    for change in changes:
        if path not in change.paths:
            continue
        for number, hunk in enumerate(change.hunks, 1):
            if hunk.old_start == line:
                return f"hunk {number} of {path} ({hunk.header})"
    return f"{path}, line {line}"
