# SPDX-License-Identifier: Apache-2.0
"""Diffs in git's form, made by difflib instead of git: what they say is known beforehand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from hypothesis import strategies as st

NO_NEWLINE = b"\\ No newline at end of file\n"
# Lines that look like a part of a diff or of a mail, and lines with other ends.
_ODD = [
    b"diff --git a/x b/x", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"-- ", b"--", b"\\ No newline at end of file", b"",
    b"\r", b"text\r", b"\xff\xfe", b"\x0c", b" ", b"rename from x", b"From nobody", b"GIT binary patch",
]  # fmt: skip
LINE = st.sampled_from(_ODD) | st.sampled_from([b"a", b"b", b"c", b"d"])


@dataclass(frozen=True)
class Text:
    """A text as its lines; the last one may lack its line feed."""

    lines: tuple[bytes, ...]

    @property
    def content(self) -> bytes:
        """The text."""
        return b"".join(self.lines)


@st.composite
def texts(draw: st.DrawFn) -> Text:
    """A text of up to twelve lines."""
    lines = [line + b"\n" for line in draw(st.lists(LINE, max_size=12))]
    if lines and len(lines[-1]) > 1 and draw(st.booleans()):
        lines[-1] = lines[-1][:-1]
    return Text(tuple(lines))


@dataclass(frozen=True)
class Piece:
    """One hunk: its header without the section, and its body."""

    header: bytes
    body: bytes


def pieces(old: Text, new: Text, context: int) -> list[Piece]:
    """The hunks between two texts, as `git diff -U<context>` writes them."""
    found = []
    for group in SequenceMatcher(None, old.lines, new.lines, autojunk=False).get_grouped_opcodes(context):
        body = b""
        for tag, first, last, start, end in group:
            body += _signed(b" " if tag == "equal" else b"-", old.lines[first:last])
            body += _signed(b"+", new.lines[start:end]) if tag != "equal" else b""
        sides = _span(group[0][1], group[-1][2]), _span(group[0][3], group[-1][4])
        found.append(Piece(b"@@ -%s +%s @@" % sides, body))
    return found


def _signed(sign: bytes, lines: Sequence[bytes]) -> bytes:
    return b"".join(sign + (line if line.endswith(b"\n") else line + b"\n" + NO_NEWLINE) for line in lines)


def _span(first: int, last: int) -> bytes:
    count = last - first
    start = first + 1 if count else first
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def file_diff(path: bytes, old: Text, new: Text, context: int) -> bytes:
    """The diff of one file that stays; none where the texts are equal."""
    hunks = b"".join(piece.header + b" section\n" + piece.body for piece in pieces(old, new, context))
    head = b"diff --git a/%s b/%s\nindex 1111111..2222222 100644\n--- a/%s\n+++ b/%s\n" % (path, path, path, path)
    return head + hunks if hunks else b""


_DAMAGE = [
    b'diff --git "a/x b/x\n', b'diff --git "a/\\777" "b/\\777"\n', b"diff --git a/x b/x\n", b"diff --git \n",
    b"--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", b"--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+x\n",
    b"@@ -1 +1 @@\n", b"@@ -a,b +c @@\n", b"@@@ -1 -1 +1 @@@\n", b"new file mode 120000\n", b"rename from x\n",
    b"rename to ../y\n", b"GIT binary patch\n", b"\\ No newline at end of file\n", b"\n", b"-- \n",
]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A diff of two files in which a few bytes or lines were changed."""
    parts = [
        file_diff(path, draw(texts()), draw(texts()), draw(st.integers(0, 4)))
        for path in (b"src/transformers/cache_utils.py", b"tests/test_x.py")
    ]
    diff = b"".join(parts)
    for _ in range(draw(st.integers(1, 3))):
        lines = diff.splitlines(keepends=True) or [b""]
        at = draw(st.integers(0, len(lines) - 1))
        odd = draw(st.binary(max_size=8) | st.sampled_from([*_DAMAGE, *lines]))
        kind = draw(st.sampled_from(["drop", "insert", "replace", "cut", "number"]))
        if kind == "drop":
            del lines[at]
        elif kind == "insert":
            lines.insert(at, odd)
        elif kind == "replace":
            lines[at] = odd
        elif kind == "cut":
            lines[at] = lines[at][: len(lines[at]) // 2]
        else:
            lines[at] = re.sub(rb"\d+", b"%d" % draw(st.integers(0, 10**30)), lines[at], count=draw(st.integers(0, 3)))
        diff = b"".join(lines)
    return diff
