# SPDX-License-Identifier: Apache-2.0
"""What is kept, and what is tried first, by what ran."""

from __future__ import annotations

import random

from diff_texts import Text, file_diff
from hypothesis import given
from hypothesis import strategies as st

from headwater.core.changesets import Changeset, Unit, read_changeset, split_lines
from headwater.core.likely import Frame, Likely, Recorded, judge_units
from headwater.core.syntax import Syntax

OLD = b"""\
SIZES = [
    1,
    2,
]

class Layer:
    def update(self, x):
        return x + 1

    def unused(self):
        return 1

class Cache:
    def reset(self):
        for layer in self.layers:
            layer.reset()

    # A comment.
    def fail(self):
        raise ValueError

def gone():
        return 0
"""
NEW = b"""\
SIZES = [
    1,
    3,
]

class Layer:
    early = True
    def update(self, x):
        return x + 2

    def unused(self):
        return 2

class Cache:
    def reset(self):
        for layer in self.layers:
            if not layer.early:
                continue
            layer.reset()

    # Another comment.
    def fail(self):
        raise TypeError

"""


def text(content: bytes) -> Text:
    return Text(split_lines(content))


def line(content: bytes, part: bytes) -> int:
    return next(number for number, each in enumerate(split_lines(content), 1) if part in each)


def ran(content: bytes, *parts: bytes) -> frozenset[int]:
    """Everything outside of functions, and the lines with these parts."""
    outside = {n for n, each in enumerate(split_lines(content), 1) if not each.startswith(b"        ")}
    return frozenset(outside | {line(content, part) for part in parts})


PAIRS = {
    "a.py": (OLD, NEW),
    "never.py": (OLD, NEW),
    "data.json": (b"1\n", b"2\n"),
    "b.py": (b"def f():\n    return 1\n", b"def f():\n    return 2\n"),
}


def change(seed: int = 0) -> Changeset:
    """Four files that change, one that goes and one that comes, in any order."""
    parts = [file_diff(path.encode(), text(old), text(new), 0) for path, (old, new) in PAIRS.items()]
    parts.append(
        b"diff --git a/gone.py b/gone.py\ndeleted file mode 100644\nindex 1111111..0000000\n"
        b"--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    parts.append(
        b"diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0000000..1111111\n"
        b"--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n"
    )
    random.Random(seed).shuffle(parts)
    old = {path: pair[0] for path, pair in PAIRS.items()} | {"gone.py": b"x\n"}
    new = {path: pair[1] for path, pair in PAIRS.items()} | {"new.py": b"x\n"}
    return read_changeset(b"".join(parts), old, new)


def judged(frames: tuple[Frame, ...] = (), seed: int = 0) -> tuple[Changeset, Likely]:
    changes = change(seed)
    loaded = frozenset({"a.py", "b.py"})
    old = Recorded(
        loaded, {"a.py": ran(OLD, b"return x + 1", b"for layer", b"layer.reset"), "b.py": frozenset({1, 2})}, frames
    )
    new = Recorded(loaded, {"a.py": ran(NEW, b"for layer", b"if not", b"continue"), "b.py": frozenset({1, 2})})
    return changes, judge_units(changes, old, new, Syntax(changes))


def unit_with(changes: Changeset, part: bytes, path: str = "a.py") -> Unit:
    """The hunk that adds or removes a line with a part."""
    for unit in changes.by_path[path].units:
        region = changes.region(unit)
        assert region is not None
        file = changes.by_path[path]
        lines = file.old_lines[region.old_first : region.old_end] + file.new_lines[region.new_first : region.new_end]
        if any(part in each for each in lines):
            return unit
    raise AssertionError(part)


def test_what_was_not_loaded_and_did_not_run_is_set_aside() -> None:
    changes, likely = judged()
    kept = likely.kept
    # A line of a list that runs at import, wherever in it the change stands.
    assert unit_with(changes, b"3,") in kept
    assert unit_with(changes, b"early = True") in kept
    assert unit_with(changes, b"x + 2") in kept, "it ran on the old side"
    assert unit_with(changes, b"continue") in kept, "it ran on the new side"
    assert unit_with(changes, b"return 2") not in kept
    assert unit_with(changes, b"TypeError") not in kept
    assert unit_with(changes, b"comment") not in kept
    assert unit_with(changes, b"def gone") in kept, "what is only deleted has no line that could run"
    assert not any(unit.path in ("never.py", "new.py") for unit in kept)
    assert Unit("data.json", 1) in kept and Unit("gone.py", 1) in kept and Unit("b.py", 1) in kept


def test_the_core_is_what_ran_in_functions_and_what_shares_a_new_name_with_it() -> None:
    changes, likely = judged((Frame("a.py", line(OLD, b"layer.reset")),))
    ran_there = {unit_with(changes, b"continue"), unit_with(changes, b"x + 2")}
    linked = {unit_with(changes, b"early = True")}
    theme, near, far = likely.cores
    assert theme == {unit_with(changes, b"continue")} | linked, "what shares a new name is tried by itself first"
    assert near == ran_there | linked
    assert far == near | {Unit("b.py", 1), unit_with(changes, b"3,")}
    assert set(likely.order[:3]) == near and set(likely.order[:5]) == far
    assert set(likely.order[: len(likely.kept)]) == likely.kept
    assert sorted(likely.order) == list(changes.units)


def test_a_function_with_a_frame_is_likely_without_having_run_there() -> None:
    changes, likely = judged((Frame("a.py", line(OLD, b"raise ValueError")),))
    assert any(unit_with(changes, b"TypeError") in core for core in likely.cores)
    assert unit_with(changes, b"return 2") not in likely.kept


def test_nothing_depends_on_the_order_of_files() -> None:
    for seed in range(6):
        assert judged(seed=seed)[1] == judged()[1]


def test_what_others_need_to_compile_is_kept_with_them() -> None:
    old = b"def f(x):\n    return x\n\ndef g():\n    return 2\n"
    new = (
        b"def f(x):\n    try:\n        return x\n    # why\n    except E:\n\n        return 1\n\n"
        b"def g():\n    return 3\n"
    )
    changes = read_changeset(file_diff(b"a.py", text(old), text(new), 0), {"a.py": old}, {"a.py": new})
    recorded = Recorded(frozenset({"a.py"}), {"a.py": frozenset({1, 2, 3, 9})})
    likely = judge_units(changes, Recorded(recorded.loaded), recorded, Syntax(changes))
    assert Syntax(changes)(likely.kept)
    assert unit_with(changes, b"try") in likely.kept
    assert unit_with(changes, b"return 3") not in likely.kept


def test_a_text_that_does_not_parse_is_kept_whole_where_it_was_loaded() -> None:
    old, new = b"x = 1\ny = 2\n", b"x = (\ny = 2\nz\n"
    changes = read_changeset(file_diff(b"a.py", text(old), text(new), 0), {"a.py": old}, {"a.py": new})
    likely = judge_units(changes, Recorded(frozenset({"a.py"})), Recorded(), Syntax(changes))
    assert likely.kept == set(changes.units)


def test_a_definition_inside_quotes_is_no_place_to_cut() -> None:
    old = b'def f():\n    x = """\ndef g():\n    return 1\n"""\n    return 1\n\n@a\n@b\nclass C:\n    y = 1\n'
    new = old.replace(b"return 1\n\n", b"return 2\n\n").replace(b"y = 1", b"y = 2")
    changes = read_changeset(file_diff(b"a.py", text(old), text(new), 0), {"a.py": old}, {"a.py": new})
    first, second = changes.units
    for executed, kept in ((frozenset({6}), {first}), (frozenset({11}), {second}), (frozenset({1, 8}), set())):
        recorded = Recorded(frozenset({"a.py"}), {"a.py": executed})
        assert judge_units(changes, Recorded(), recorded, Syntax(changes)).kept == kept


POOL = [
    b"x = 1\n", b"def f():\n", b"    return 1\n", b"\n", b"# a\n", b"if x:\n", b"    y = (1,\n", b"    2)\n", b"\xff\n",
    b"class C:\n", b'"""\n', b"@x\n", b"    def m(self):\n", b"        return x\n",
]  # fmt: skip
LINES = st.lists(st.sampled_from(POOL), max_size=14)


@given(LINES, LINES, st.frozensets(st.integers(1, 14)), st.frozensets(st.integers(1, 14)), st.integers(1, 14))
def test_any_texts_and_any_record_give_a_plan_that_compiles(
    old: list[bytes], new: list[bytes], ran_old: frozenset[int], ran_new: frozenset[int], frame: int
) -> None:
    before, after = b"".join(old), b"".join(new)
    changes = read_changeset(file_diff(b"a.py", text(before), text(after), 0), {"a.py": before}, {"a.py": after})
    loaded, syntax = frozenset({"a.py"}), Syntax(changes)
    likely = judge_units(
        changes,
        Recorded(loaded, {"a.py": ran_old}, (Frame("a.py", frame),)),
        Recorded(loaded, {"a.py": ran_new}),
        syntax,
    )
    assert sorted(likely.order) == list(changes.units)
    assert likely.kept <= set(changes.units) and syntax(likely.kept)
    for core in likely.cores:
        assert core < likely.kept and syntax(core)
    assert set(likely.order[: len(likely.kept)]) == likely.kept


def test_a_change_of_mode_is_not_judged_by_what_ran() -> None:
    diff = (
        b"diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\nindex 1111111..2222222\n"
        b"--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-    return 1\n+    return 2\n"
    )
    sides = [b"def f():\n    return %d\n" % n for n in (1, 2)]
    changes = read_changeset(diff, {"a.py": sides[0]}, {"a.py": sides[1]})
    run = Recorded(frozenset({"a.py"}), {"a.py": frozenset({1, 2})}, ())
    likely = judge_units(changes, run, run, Syntax(changes))
    mode, hunk = changes.units
    assert likely.kept == {mode, hunk}, "it may be what matters"
    assert (likely.cores, likely.order) == ((frozenset([hunk]),), (hunk, mode)), "what ran is likelier"
    nothing = Recorded(frozenset(), {}, ())
    assert judge_units(changes, nothing, nothing, Syntax(changes)).kept == frozenset(), "nobody loaded it"
