# SPDX-License-Identifier: Apache-2.0
"""Trees that change: a folder's new content is what is probed, and damage to a tree of ours is noticed and mended."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.errors import HarnessError
from headwater.core.verdicts import Verdict
from headwater.effects.blobs import blob_id

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")

SICK = "def update():\n    raise  RuntimeError('The size of tensor a (8) must match')\n"
WELL = SICK.replace("raise ", "return")
INIT = "from transformers.cache_utils import update\n"
BUG = "transformers.update()"


def write_without_a_trace(path: Path, text: str) -> None:
    """Write a file, as the same file, of the same size and with the same time of change."""
    state = path.stat()
    assert len(text) == state.st_size
    path.chmod(0o644)
    with path.open("r+", encoding="utf-8") as stream:
        stream.write(text)
    path.chmod(state.st_mode & 0o777)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.slow
def test_a_folder_that_changes_within_a_second_at_the_same_size_100_times(lab: Lab) -> None:
    folder = lab.write({"cache_utils.py": SICK, "__init__.py": INIT})
    file = folder / "transformers" / "cache_utils.py"
    seen, states = [], set()
    for turn in range(100):
        # A number, so that no content comes back; of the same length.
        text = (WELL if turn % 2 else SICK).replace("must", f"{turn:04}")
        write_without_a_trace(file, text)
        states.add((file.stat().st_size, file.stat().st_mtime_ns))
        probed = lab.run(BUG, tree=lab.trees.ensure(lab.read(folder)))
        seen.append((probed.verdict, f"{turn:04}" in str(probed.outcome.evidence.message) or bool(turn % 2)))
    assert len(states) == 1
    assert seen == [(Verdict.GOOD if turn % 2 else Verdict.BAD, True) for turn in range(100)]


def test_two_contents_in_turn(lab: Lab) -> None:
    folder = lab.write({"cache_utils.py": SICK, "__init__.py": INIT})
    file = folder / "transformers" / "cache_utils.py"
    for turn in range(10):
        write_without_a_trace(file, WELL if turn % 2 else SICK)
        probed = lab.run(BUG, tree=lab.trees.ensure(lab.read(folder)))
        assert probed.verdict is (Verdict.GOOD if turn % 2 else Verdict.BAD)


def library(lab: Lab, tree: str) -> Path:
    """The folder of a tree's library."""
    return lab.cache.trees / tree / "src" / "transformers"


def cut(path: Path) -> None:
    """Cut a file to half, in place."""
    os.truncate(path, path.stat().st_size // 2)


def put_a_link(path: Path) -> None:
    """Put a link to another file in a file's place."""
    path.unlink()
    path.symlink_to("late.py")


NOTICED: dict[str, Callable[[Path], object]] = {
    "a file is removed": lambda folder: (folder / "late.py").unlink(),
    "the imported file is removed": lambda folder: (folder / "cache_utils.py").unlink(),
    "a data file is removed": lambda folder: (folder / "data.json").unlink(),
    "everything is removed": shutil.rmtree,
    "a file is added": lambda folder: (folder / "torch.py").touch(),
    "a folder with a file is added": lambda folder: shutil.copytree(folder, folder / "more"),
    "byte code is added": lambda folder: (folder / "late.pyc").touch(),
    "a file is cut": lambda folder: cut(folder / "cache_utils.py"),
    "a file is written to at the same size": lambda folder: os.truncate(folder / "cache_utils.py", 99),
    "a link is in its place": lambda folder: put_a_link(folder / "cache_utils.py"),
    "the manifest is cut": lambda folder: cut(folder.parent.parent / "manifest.json"),
    "the manifest is gone": lambda folder: (folder.parent.parent / "manifest.json").unlink(),
    "the manifest is another": lambda folder: (folder.parent.parent / "manifest.json").write_text("[]"),
}  # fmt: skip


@pytest.mark.parametrize("kind", NOTICED)
def test_damage_is_named_and_mended(lab: Lab, kind: str) -> None:
    tree = lab.read(lab.write())
    with lab.prober() as probe:
        assert probe(BUG, tree=tree).verdict is Verdict.BAD
        NOTICED[kind](library(lab, tree))
        assert lab.trees.whole(tree) is None
        assert probe(BUG, tree=tree).verdict is Verdict.BAD
        [warning] = lab.warnings()
        assert tree[:12] in warning and "damaged" in warning and "anew" in warning
        assert lab.trees.whole(tree) is not None
        assert probe(BUG, tree=tree).verdict is Verdict.BAD
        assert lab.warnings() == []
    assert sorted(path.name for path in library(lab, tree).rglob("*")) == sorted(
        ["__init__.py", "cache_utils.py", "data.json", "late.py"]
    )


def test_a_change_without_a_trace_is_noticed_when_the_file_is_read(lab: Lab) -> None:
    tree = lab.read(lab.write({"cache_utils.py": SICK, "__init__.py": INIT}))
    with lab.prober() as probe:
        assert probe(BUG, tree=tree).verdict is Verdict.BAD
        file = library(lab, tree) / "cache_utils.py"
        write_without_a_trace(file, SICK.replace("raise", "yield"))
        assert lab.trees.whole(tree) is not None
        assert probe(BUG, tree=tree).verdict is Verdict.BAD
        [warning] = lab.warnings()
        assert tree[:12] in warning and "anew" in warning
        assert file.read_text(encoding="utf-8") == SICK
        assert probe(BUG, tree=tree).verdict is Verdict.BAD
        assert lab.warnings() == []


def test_a_late_import_of_a_changed_file_is_noticed_too(lab: Lab) -> None:
    tree = lab.read(lab.write())
    with lab.prober() as probe:
        late = "try:\n    from transformers.late import X\nexcept Exception: X = 1\nassert X == 1"
        assert probe(late, tree=tree).verdict is Verdict.GOOD
        write_without_a_trace(library(lab, tree) / "late.py", "X = 2\n")
        assert probe(late, tree=tree).verdict is Verdict.GOOD
        assert len(lab.warnings()) == 1


@pytest.mark.parametrize("trace", [True, False])
def test_a_damaged_shared_file_does_not_come_back(lab: Lab, trace: bool) -> None:
    first = lab.read(lab.write({"cache_utils.py": SICK, "__init__.py": INIT}))
    second = lab.read(lab.write({"cache_utils.py": SICK, "__init__.py": INIT, "data.json": "[2]\n"}))
    third = lab.read(lab.write({"cache_utils.py": SICK, "__init__.py": INIT, "data.json": "[3]\n"}))
    blob = blob_id(SICK.encode())
    shared = lab.cache.blobs / blob[:2] / blob
    with lab.prober() as probe:
        for tree in (first, second, first, second):
            assert probe(BUG, tree=tree).verdict is Verdict.BAD
        assert shared.stat().st_nlink == 3
        wrong = SICK.replace("raise", "yield")
        if trace:
            shared.chmod(0o644)
            shared.write_text(wrong, encoding="utf-8")
            shared.chmod(0o444)
        else:
            write_without_a_trace(shared, wrong)
        # `third` was never laid out: nothing but the content tells that its file is damaged.
        assert probe(BUG, tree=third).verdict is Verdict.BAD
        assert any(third[:12] in warning for warning in lab.warnings())
        if not trace:
            # The library of these was imported before, and is what counts until their server ends.
            assert [probe(BUG, tree=tree).verdict for tree in (first, second)] == [Verdict.BAD] * 2
            assert lab.warnings() == []
    with lab.prober() as probe:
        for tree in (first, second):
            assert probe(BUG, tree=tree).verdict is Verdict.BAD, tree
            assert any(tree[:12] in warning for warning in lab.warnings())
        assert shared.read_text(encoding="utf-8") == SICK
        for tree in (first, second, third):
            assert probe(BUG, tree=tree).verdict is Verdict.BAD
        assert lab.warnings() == []


def test_a_mirror_that_gives_another_file_ends_in_an_error_not_in_a_verdict(lab: Lab) -> None:
    tree = lab.read(lab.write({"cache_utils.py": SICK, "__init__.py": INIT}))
    lab.trees.ensure(tree)
    blob = blob_id(SICK.encode())
    shutil.rmtree(lab.cache.trees)
    shutil.rmtree(lab.cache.blobs)
    [stored] = lab.cache.mirror.glob(f"objects/{blob[:2]}/{blob[2:]}")
    other = blob_id(INIT.encode())
    [another] = lab.cache.mirror.glob(f"objects/{other[:2]}/{other[2:]}")
    stored.unlink()
    shutil.copy(another, stored)
    with pytest.raises(HarnessError, match=blob):
        lab.trees.ensure(tree)
    assert lab.trees.whole(tree) is None
    assert list(lab.cache.incoming.glob("tree-*")) == []
