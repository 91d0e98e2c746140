# SPDX-License-Identifier: Apache-2.0
"""Diffs: what difflib wrote is read as it was written, and what is damaged is refused with file and hunk."""

from __future__ import annotations

import re

import pytest
from diff_texts import NO_NEWLINE, Text, damaged, file_diff, pieces, texts
from hypothesis import assume, example, given
from hypothesis import strategies as st

from headwater.core.diffs import FileChange, Hunk, hunk_at, read_diff
from headwater.core.errors import BadInput

PATH = b"src/transformers/cache_utils.py"
NAME = PATH.decode()
CONTEXT = st.integers(0, 4)


def lines_of(body: bytes) -> list[bytes]:
    """A body's lines with their signs, each with a line feed where its file has one."""
    found: list[bytes] = []
    for line in body.split(b"\n")[:-1]:
        if line.startswith(b"\\"):
            found[-1] = found[-1][:-1]
        else:
            found.append(line + b"\n")
    return found


def replayed(old: Text, hunks: tuple[Hunk, ...]) -> bytes:
    """The text that hunks make of another, each at its very line."""
    kept, at = b"", 0
    for hunk in hunks:
        start = hunk.old_start - (1 if hunk.old_count else 0)
        kept += b"".join(old.lines[at:start])
        at = start
        for line in lines_of(hunk.body):
            if line[:1] in b" -":
                assert old.lines[at] == line[1:]
                at += 1
            if line[:1] in b" +":
                kept += line[1:]
    return kept + b"".join(old.lines[at:])


@given(texts(), texts(), CONTEXT)
def test_a_diff_is_read_as_it_was_written(old: Text, new: Text, context: int) -> None:
    assume(old != new)
    [change] = read_diff(file_diff(PATH, old, new, context) + b"-- \n2.39.5\n\n", "1.patch")
    assert (change.old, change.new, change.binary, change.modes) == (NAME, NAME, False, ("100644",))
    wanted = pieces(old, new, context)
    assert [(hunk.header.encode(), hunk.body) for hunk in change.hunks] == [(one.header, one.body) for one in wanted]
    assert {hunk.section for hunk in change.hunks} == {"section"}
    assert replayed(old, change.hunks) == new.content
    for number, hunk in enumerate(change.hunks, 1):
        if hunk.old_start not in [other.old_start for other in change.hunks[: number - 1]]:
            assert hunk_at((change,), NAME, hunk.old_start) == f"hunk {number} of {NAME} ({hunk.header})"


@given(st.lists(st.tuples(texts(), texts()), min_size=1, max_size=4), CONTEXT)
def test_several_files_are_read_as_each_alone(steps: list[tuple[Text, Text]], context: int) -> None:
    parts = [file_diff(b"f%d.py" % n, old, new, context) for n, (old, new) in enumerate(steps) if old != new]
    alone = tuple(change for part in parts for change in read_diff(part, "1.patch"))
    assert len(alone) == len(parts)
    assert read_diff(b"".join(parts), "1.patch") == alone
    assert read_diff(b"".join(parts) + b"--\n2.39.5\n", "1.patch") == alone


@given(texts(), texts(), CONTEXT, st.data())
def test_a_hunk_cut_short_is_named(old: Text, new: Text, context: int, data: st.DataObject) -> None:
    assume(old != new)
    hunks = pieces(old, new, context)
    last = hunks[-1].body
    counted = len(last) - (len(NO_NEWLINE) if last.endswith(b"\n" + NO_NEWLINE) else 0)
    kept = data.draw(st.integers(0, counted - 1))
    diff = file_diff(PATH, old, new, context)
    place = rf"^1\.patch: {re.escape(NAME)}, hunk {len(hunks)} \({re.escape(hunks[-1].header.decode())} section\) "
    with pytest.raises(BadInput, match=place + "is cut short or damaged: \\d+ lines of the old"):
        read_diff(diff[: len(diff) - len(last) + kept], "1.patch")


@given(texts(), texts(), CONTEXT, st.sampled_from([b"+more\n", b"-more\n", b" more\n"]))
def test_a_line_too_many_is_named(old: Text, new: Text, context: int, line: bytes) -> None:
    assume(old != new)
    with pytest.raises(BadInput, match=rf"^1\.patch: {re.escape(NAME)}, hunk \d+ .*has more lines than its header"):
        read_diff(file_diff(PATH, old, new, context) + line, "1.patch")


@given(damaged())
@example(b'diff --git "a/x b/x\nnew file mode 100644\n')
@example(b'diff --git "a/x\\777" "b/x\\777"\nnew file mode 100644\n')
@example(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -" + b"9" * 5000 + b" +1 @@\n")
def test_damage_is_read_or_refused_by_name(diff: bytes) -> None:
    try:
        changes = read_diff(diff, "0001-x.patch")
    except BadInput as error:
        assert str(error).startswith("0001-x.patch: ")
    else:
        for change in changes:
            assert not any(path.startswith("/") or ".." in path.split("/") for path in change.paths)


NAMES = st.text(st.characters(exclude_characters="/\n\0", codec="utf-8"), min_size=1, max_size=12)


def quoted(path: str) -> bytes:
    """A path as git writes it in a diff, with its letter in front (core.quotePath=true)."""
    plain = {7: "a", 8: "b", 9: "t", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
    text = "".join(
        f"\\{plain[byte]}" if byte in plain else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
        for byte in path.encode()
    )
    return f'"{text}"'.encode()


@given(st.lists(NAMES, min_size=1, max_size=3))
@example(["Zoë", "a b", 'quote" and \\'])
@example(["ends in a backslash\\"])
def test_quoted_paths(parts: list[str]) -> None:
    assume(not any(part in (".", "..") or part.lower() == ".git" for part in parts))
    path = "/".join(parts)
    old, new = quoted(f"a/{path}"), quoted(f"b/{path}")
    head = b"diff --git %s %s\n" % (old, new)
    body = b"--- %s\n+++ %s\n@@ -1 +1 @@\n-a\n+b\n" % (old, new)
    for diff in (head + body, head + b"old mode 100644\nnew mode 100755\n"):
        [change] = read_diff(diff, "1.patch")
        assert (change.old, change.new) == (path, path)
    [made] = read_diff(head + b"new file mode 100644\nindex 0000000..e69de29\n", "1.patch")
    assert (made.old, made.new, made.path) == (None, path, path)
    [moved] = read_diff(head + b"similarity index 100%%\nrename from %s\nrename to x\n" % quoted(path), "1.patch")
    assert (moved.old, moved.new, moved.paths) == (path, "x", tuple(dict.fromkeys([path, "x"])))


ONE = b"@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("body", "old", "new", "hunks", "binary", "modes"),
    [
        (b"index 1..2 100644\n--- a/x\n+++ b/x\n" + ONE, "x", "x", 1, False, ("100644",)),
        (b"new file mode 100755\nindex 0000000..2222222\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", None, "x", 1,
         False, ("100755",)),
        (b"new file mode 100644\nindex 0000000..e69de29\n", None, "x", 0, False, ("100644",)),
        (b"deleted file mode 100644\nindex 2222222..0000000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", "x", None, 1,
         False, ("100644",)),
        (b"deleted file mode 100644\nindex e69de29..0000000\n", "x", None, 0, False, ("100644",)),
        (b"old mode 100644\nnew mode 100755\n", "x", "x", 0, False, ("100644", "100755")),
        (b"old mode 100644\nnew mode 100755\nindex 1..2\n--- a/x\n+++ b/x\n" + ONE, "x", "x", 1, False,
         ("100644", "100755")),
        (b"similarity index 100%\nrename from x\nrename to d/y\n", "x", "d/y", 0, False, ()),
        (b"similarity index 90%\nrename from x\nrename to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n" + ONE, "x", "y", 1,
         False, ("100644",)),
        (b"similarity index 100%\ncopy from x\ncopy to y\n", "x", "y", 0, False, ()),
        (b"index 1..2 100644\nGIT binary patch\nliteral 1\nIcmZQ#\n\nliteral 1\nIcmZQz\n\n", "x", "x", 0, True,
         ("100644",)),
        (b"index 1..2 100644\nBinary files a/x and b/x differ\n", "x", "x", 0, True, ("100644",)),
        (b"--- a/x\t\n+++ b/x\t\n@@ -1,2 +1 @@\n-a\n--- 9\n+b\n", "x", "x", 1, False, ()),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n", "x", "x", 1, False, ()),
        (b"--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+diff --git a/y b/y\n+deleted file mode 120000\n", "x", "x", 1, False,
         ()),
    ],
)  # fmt: skip
def test_kinds_of_change(
    body: bytes, old: str | None, new: str | None, hunks: int, binary: bool, modes: tuple[str, ...]
) -> None:
    for tail in (b"", b"-- \n2.39.5\n\n", b"--\n2.39.5\n"):
        [change] = read_diff(b"diff --git a/x b/x\n" + body + tail, "1.patch")
        assert change == FileChange(old, new, change.hunks, binary, modes)
        assert len(change.hunks) == hunks
        assert not any(line.startswith(b"-- ") for hunk in change.hunks for line in hunk.body.split(b"\n"))


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../x", "a/../../x", "/etc/x", "./x", "a//x", "a/", ".git/config", "a/.GIT/hooks/x", "a/./x", ".."],
)  # fmt: skip
@pytest.mark.parametrize("side", ["header", "new", "old", "rename", "quoted"])
def test_a_path_that_leads_out_is_refused(path: str, side: str) -> None:
    name = path.encode()
    in_hunk = b"diff --git a/x b/x\n--- %s\n+++ %s\n" + ONE
    # An absolute path stands without a letter.
    lettered = path if path.startswith("/") else f"b/{path}"
    diff = {
        "header": b"diff --git a/%s b/%s\nnew file mode 100644\n" % (name, name),
        "new": in_hunk % (b"a/x", lettered.encode()),
        "old": in_hunk % (lettered.encode(), b"b/x"),
        "rename": b"diff --git a/x b/y\nsimilarity index 100%%\nrename from x\nrename to %s\n" % name,
        "quoted": in_hunk % (b"a/x", quoted(lettered)),
    }[side]
    with pytest.raises(BadInput, match=r"^0001-x\.patch: the path .* does not lie inside the tree") as caught:
        read_diff(diff, "0001-x.patch")
    assert repr(path) in str(caught.value) or side == "header"
    if side in ("new", "old", "quoted"):
        assert "hunk 1 (@@ -1 +1 @@)" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"new file mode 120000\nindex 0000000..1111111\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n", "is a symbolic"),
        (b"new file mode 160000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+Subproject commit 1\n", "x is a submodule"),
        (b"old mode 100644\nnew mode 120000\n", "x is a symbolic link"),
        (b"index 1111111..2222222 120000\n--- a/x\n+++ b/x\n" + ONE, "x is a symbolic link"),
        (b"index 1111111..2222222 160000\n--- a/x\n+++ b/x\n" + ONE, "x is a submodule"),
        (b"", "x, hunk 1 is cut short or damaged: the end stands where"),
        (b"index 1..2 100644\n", "x, hunk 1 is cut short"),
        (b"index 1..2 100644\n--- a/x\n", "x, hunk 1 is cut short"),
        (b"--- a/x\n+++ b/x\n", "x, hunk 1 is cut short"),
        (b"--- a/x\n+++ b/x\n-a\n+b\n", "x, hunk 1 is cut short or damaged: '-a'"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1\n-a\n+b\n", r"x, hunk 1 is cut short or damaged: '@@ -1 \+1'"),
        (b"--- a/x\n+++ b/x\n@@ -1 +one @@\n-a\n+b\n", "x, hunk 1 is cut short or damaged: '@@"),
        (b"new file mode 100644\nindex 0000000..1111111\n", "x, hunk 1 is cut short"),
        (b"new file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/x\n", "x, hunk 1 is cut short"),
        (b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n", r"hunk 1 \(@@ -1,2 \+1,2 @@\) is cut short or damaged"),
        (b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n*b\n", r"x, hunk 1 \(@@ -1,2 \+1 @@\) is cut short or damaged"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n+b\n", r"x, hunk 1 \(@@ -1 \+1 @@\) has more lines .*: '\+b'"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n+a\n b\n c\n", r"x, hunk 1 \(@@ -1 \+1,2 @@\) has more lines .*: ' c'"),
        (b"--- a/x\n+++ b/x\n" + ONE + b"@@ -5 +5 @\n-a\n+b\n", "x, hunk 1 is followed by a damaged or stray header"),
        (b"--- a/x\n+++ b/x\n" + ONE + b"\n--- a/y\n+++ b/y\n" + ONE, "x, hunk 1 is followed by a damaged or stray"),
        (b"--- a/x\n+++ b/x\n" + ONE + b"--- a/y\n+++ b/y\n" + ONE, "x, hunk 1 .*has more lines"),
        (b'--- a/x\n+++ "b/x\\ny"\n' + ONE, "holds a line feed"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_names_file_and_hunk(body: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=rf"^0001-x\.patch: .*{words}"):
        read_diff(b"diff --git a/x b/x\n" + body, "0001-x.patch")


def test_the_place_of_a_line_that_no_hunk_begins_at() -> None:
    changes = read_diff(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3 +3 @@\n-a\n+b\n", "1.patch")
    assert hunk_at(changes, "x", 4) == "x, line 4"
    assert hunk_at(changes, "y", 3) == "y, line 3"


def test_a_hunk_with_more_lines_than_its_header_says_is_refused() -> None:
    with pytest.raises(BadInput, match="has more lines than its header says"):
        read_diff(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n+c\n-d\n", "1.patch")
