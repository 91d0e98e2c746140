# SPDX-License-Identifier: Apache-2.0
"""Changesets: none of the units is the old tree, all are the new one, and what lies between is as it should be."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from diff_texts import Text, file_diff, pieces, texts
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.changesets import Changeset, TreeFile, Unit, read_changeset, split_lines
from headwater.core.errors import BadInput, HarnessError

PATHS = ("src/a.py", "src/b.py", "src/ü.txt")
Contents = Mapping[str, bytes]


def created(path: str, text: Text) -> bytes:
    """The diff of a file that comes."""
    name = path.encode()
    index = b"e69de29" if not text.content else b"1111111"
    head = b"diff --git a/%s b/%s\nnew file mode 100755\nindex 0000000..%s\n" % (name, name, index)
    hunks = b"".join(piece.header + b"\n" + piece.body for piece in pieces(Text(()), text, 0))
    return head + (b"--- /dev/null\n+++ b/%s\n" % name + hunks if hunks else b"")


def deleted(path: str, text: Text) -> bytes:
    """The diff of a file that goes."""
    name = path.encode()
    index = b"e69de29" if not text.content else b"1111111"
    head = b"diff --git a/%s b/%s\ndeleted file mode 100644\nindex %s..0000000\n" % (name, name, index)
    hunks = b"".join(piece.header + b"\n" + piece.body for piece in pieces(text, Text(()), 0))
    return head + (b"--- a/%s\n+++ /dev/null\n" % name + hunks if hunks else b"")


@st.composite
def changesets(draw: st.DrawFn) -> tuple[Changeset, Contents, Contents]:
    """A changeset, and the two trees."""
    parts, old, new = [], {}, {}
    for path in draw(st.permutations(PATHS)):
        before, after = draw(texts()), draw(texts())
        kind = draw(st.sampled_from(["stays", "comes", "goes"]))
        if kind != "comes":
            old[path] = before.content
        if kind != "goes":
            new[path] = after.content
        write = {"stays": None, "comes": created(path, after), "goes": deleted(path, before)}[kind]
        parts.append(file_diff(path.encode(), before, after, 0) if write is None else write)
    return read_changeset(b"".join(parts), old, new), old, new


def tree_of(changes: Changeset, old: Contents, subset: frozenset[Unit]) -> Contents:
    """The tree that a subset makes."""
    made = {path: file.content if file else None for path, file in changes.applied(subset).items()}
    return {path: content for path, content in {**old, **made}.items() if content is not None}


@given(changesets())
def test_none_is_the_old_tree_and_all_are_the_new_one(drawn: tuple[Changeset, Contents, Contents]) -> None:
    changes, old, new = drawn
    assert tree_of(changes, old, frozenset()) == old
    assert tree_of(changes, old, frozenset(changes.units)) == new
    lines = frozenset(line for unit in changes.units for line in changes.lines(unit) or (unit,))
    assert tree_of(changes, old, lines) == new
    assert changes.key(lines) == changes.key(changes.units)
    assert list(changes.units) == sorted(changes.units)
    assert sum(changes.size(unit) for unit in changes.units) == len(lines)


@given(st.permutations(PATHS), texts(), texts())
def test_the_order_of_files_changes_nothing(order: list[str], before: Text, after: Text) -> None:
    """So that a reduction, which sees nothing else of a difference, does not depend on it."""
    sides = dict.fromkeys(PATHS, before.content), dict.fromkeys(PATHS, after.content)
    one, other = (
        read_changeset(b"".join(file_diff(path.encode(), before, after, 0) for path in paths), *sides)
        for paths in (PATHS, order)
    )
    assert one == other
    assert one.units == other.units


@given(changesets(), st.data())
def test_a_subset_makes_what_its_hunks_make_one_by_one(
    drawn: tuple[Changeset, Contents, Contents], data: st.DataObject
) -> None:
    changes, old, _new = drawn
    subset = data.draw(st.sets(st.sampled_from(changes.units))) if changes.units else set()
    made = tree_of(changes, old, frozenset(subset))
    for file in changes.files:
        # From the last hunk up, so that the lines above stay where they are.
        lines = list(file.old_lines)
        for unit in sorted(subset & file.every, reverse=True):
            region = changes.region(unit)
            if region is not None:
                lines[region.old_first : region.old_end] = file.new_lines[region.new_first : region.new_end]
        there = file.old is not None if not subset & file.every else file.new is not None
        whole = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]] + lines[-1:]
        assert made.get(file.path) == (b"".join(whole) if there else None)
    assert {path: made[path] for path in made.keys() - changes.by_path.keys()} == {
        path: old[path] for path in old.keys() - changes.by_path.keys()
    }


@given(changesets(), st.data())
def test_the_union_of_two_subsets_has_the_lines_of_both(
    drawn: tuple[Changeset, Contents, Contents], data: st.DataObject
) -> None:
    changes, _old, _new = drawn
    every = [line for unit in changes.units for line in changes.lines(unit)]
    if not every:
        return
    one, other = (data.draw(st.frozensets(st.sampled_from(every))) for _ in range(2))
    assert changes.key(one | other) == changes.key(sorted(one | other, reverse=True))
    for path, file in changes.applied(one | other).items():
        both = [unit for unit in one | other if unit.path == path]
        difference = changes.by_path[path]
        removed, added = [], []
        for unit in both:
            region = changes.region(unit)
            assert region is not None
            if unit.line < region.removed:
                removed.append(difference.old_lines[region.old_first + unit.line])
            else:
                added.append(difference.new_lines[region.new_first + unit.line - region.removed])
        expected = [line.rstrip(b"\n") for line in difference.old_lines]
        for line in removed:
            expected.remove(line.rstrip(b"\n"))
        expected += [line.rstrip(b"\n") for line in added]
        content = file.content if file else b""
        assert sorted(line.rstrip(b"\n") for line in split_lines(content)) == sorted(expected)


OLD, NEW = b"one\ntwo\r\nlast", b"one\nzwei\r\ndrei\r\nlast\nmore"
CHANGED = file_diff(b"a.py", Text((b"one\n", b"two\r\n", b"last")), Text(split_lines(NEW)), 0)


def lines_made(*lines: int) -> bytes:
    changes = read_changeset(CHANGED, {"a.py": OLD}, {"a.py": NEW})
    made = changes.made("a.py", frozenset(Unit("a.py", 1, line) for line in lines))
    assert made is not None
    return made.content


def test_lines_of_a_hunk_are_chosen_one_by_one() -> None:
    # One hunk: two lines removed, four added.
    assert lines_made() == OLD
    assert lines_made(0) == b"one\nlast"
    assert lines_made(3) == b"one\ntwo\r\nlast\ndrei\r\n"
    assert lines_made(0, 1, 5) == b"one\nmore"
    assert lines_made(*range(6)) == NEW


def test_modes_binaries_and_empty_files_are_units_without_text() -> None:
    diff = (
        b"diff --git a/run b/run\nold mode 100644\nnew mode 100755\nindex 1111111..2222222\n--- a/run\n+++ b/run\n"
        b"@@ -1 +1 @@\n-a\n+b\n"
        b"diff --git a/only b/only\nold mode 100755\nnew mode 100644\n"
        b"diff --git a/x.bin b/x.bin\nindex 1111111..2222222 100644\nBinary files a/x.bin and b/x.bin differ\n"
        b"diff --git a/new.bin b/new.bin\nnew file mode 100755\nindex 0000000..2222222\n"
        b"Binary files /dev/null and b/new.bin differ\n"
        b"diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n"
    )  # fmt: skip
    old = {"run": b"a\n", "only": b"same\n", "x.bin": b"\0"}
    new = {"run": b"b\n", "only": b"same\n", "x.bin": b"\0\0", "new.bin": b"\1", "empty": b""}
    changes = read_changeset(diff, old, new)
    assert [tuple(unit)[:2] for unit in changes.units] == [
        ("empty", 0), ("new.bin", 0), ("only", 0), ("run", 0), ("run", 1), ("x.bin", 0),
    ]  # fmt: skip
    assert changes.made("run", frozenset([Unit("run", 0)])) == TreeFile(b"a\n", "100755")
    assert changes.made("run", frozenset([Unit("run", 1)])) == TreeFile(b"b\n", "100644")
    assert changes.made("run", frozenset()) == TreeFile(b"a\n", "100644")
    assert changes.made("empty", frozenset()) is None
    every = changes.applied(changes.units)
    assert every["only"] == TreeFile(b"same\n", "100644")
    assert every["new.bin"] == TreeFile(b"\1", "100755")
    assert {path: file.content for path, file in every.items() if file} == new
    assert [changes.header(unit) for unit in changes.units if unit.path == "run"] == ["", "@@ -1 +1 @@"]
    assert (changes.size(Unit("run", 0)), changes.size(Unit("run", 1)), changes.size(Unit("run", 1, 0))) == (1, 2, 1)


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(HarnessError, match=r"a\.py does not lead"):
        read_changeset(CHANGED, {"a.py": OLD}, {"a.py": NEW + b"\nx"})
    with pytest.raises(HarnessError, match=r"a\.py, of which there is no content"):
        read_changeset(CHANGED, {"a.py": OLD}, {})
    with pytest.raises(HarnessError, match=r"a\.py twice"):
        read_changeset(CHANGED + CHANGED, {"a.py": OLD}, {"a.py": NEW})
    with pytest.raises(HarnessError, match=r"renames a\.py"):
        renamed = b"diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n"
        read_changeset(renamed, {"a.py": OLD}, {"b.py": OLD})
    with pytest.raises(BadInput, match="cut short"):
        read_changeset(CHANGED[:-40], {"a.py": OLD}, {"a.py": NEW})


def test_a_subset_that_changes_nothing_has_the_key_of_none() -> None:
    """A line is removed and the same is added: git may write so where it is told to look for more than the least."""
    old, new = {"a.py": b"x\n", "b.py": b"1\n"}, {"a.py": b"x\ny\n", "b.py": b"2\n"}
    head = b"diff --git a/%s b/%s\nindex 1111111..2222222 100644\n--- a/%s\n+++ b/%s\n"
    first = head.replace(b"%s", b"a.py") + b"@@ -1 +1,2 @@\n-x\n+x\n+y\n"
    second = head.replace(b"%s", b"b.py") + b"@@ -1 +1 @@\n-1\n+2\n"
    changes = read_changeset(first + second, old, new)
    same, other = [Unit("a.py", 1, 0), Unit("a.py", 1, 1)], Unit("b.py", 1)
    assert changes.key(same) == changes.key([])
    assert changes.key([*same, other]) == changes.key([other]) != changes.key([])
    assert changes.key([Unit("a.py", 1, 2)]) == changes.key([Unit("a.py", 1)]) != changes.key([])
