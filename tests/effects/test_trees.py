# SPDX-License-Identifier: Apache-2.0
"""Trees: named by their content's id, laid out byte for byte, once, and again where they are damaged."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen

import pytest

from headwater.core.events import Event, Note
from headwater.effects.folders import Folders
from headwater.effects.git import GitDir, GitFailed
from headwater.effects.mirror import Mirror
from headwater.effects.trees import Tree, Trees, hold
from headwater.effects.workspace import Cache

MirrorOf = Callable[..., tuple[Mirror, list[str]]]
FILES = {
    "transformers/__init__.py": b"__version__ = '5.0.0'\n",
    "transformers/crlf.py": b"a = 1\r\nb = 2\r\n",
    "transformers/mixed.py": b"a = 1\r\nb = 2\n\rc = 3",
    "transformers/run.sh*": b"#!/bin/sh\n",
    "transformers/models/deep/er/x.py": b"",
    "transformers/data.bin": bytes(range(256)),
    "transformers/with space \u00fc.py": b"# \xc3\xbc\n",
}

ENSURE = """
import sys
from pathlib import Path
from headwater.effects.git import GitDir
from headwater.effects.trees import Trees
from headwater.effects.workspace import Cache
cache = Cache(Path(sys.argv[1]), "transformers")
sys.stdin.read()
print(Trees(cache, GitDir(cache.mirror), "transformers").ensure(sys.argv[2]).path)
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_tree_is_what_the_wheel_holds(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    tree_id = mirror.library_tree(commit)
    trees = Trees(cache, mirror.git, "transformers")
    assert trees.whole(tree_id) is None
    tree = trees.ensure(tree_id)
    assert trees.whole(tree_id) is not None
    assert tree.id == tree_id
    assert tree.path == cache.trees / tree_id / "src"
    assert contents(tree.path) == {name.removesuffix("*"): content for name, content in FILES.items()}
    modes = {path.name: bool(path.stat().st_mode & 0o111) for path in tree.path.rglob("*") if path.is_file()}
    assert [name for name, executable in modes.items() if executable] == ["run.sh"]
    assert list(cache.incoming.iterdir()) == []


def test_a_tree_that_is_there_is_left_alone(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    trees = Trees(cache, mirror.git, "transformers")
    tree = trees.ensure(mirror.library_tree(commit))
    before = [(path, path.stat().st_mtime_ns) for path in sorted(tree.path.rglob("*"))]
    assert trees.ensure(tree.id) == tree
    assert [(path, path.stat().st_mtime_ns) for path in sorted(tree.path.rglob("*"))] == before


def test_the_same_code_is_the_same_tree(cache: Cache, mirror_of: MirrorOf) -> None:
    same = {**FILES, "transformers/v.py": b"same"}
    mirror, commits = mirror_of({"5.0.0": same, "5.0.1": same, "5.1.0": {**same, "transformers/v.py": b"diff"}})
    assert len(set(commits)) == 3
    ids = [mirror.library_tree(commit) for commit in commits]
    assert ids[0] == ids[1] != ids[2]
    trees = Trees(cache, mirror.git, "transformers")
    folders = {trees.ensure(tree_id).path for tree_id in ids}
    assert len(folders) == 2


@pytest.mark.parametrize("attributes", [b"*.py text eol=crlf\n", b"*.py ident\n", b"* working-tree-encoding=UTF-16\n"])
def test_attributes_inside_a_release_change_nothing(cache: Cache, mirror_of: MirrorOf, attributes: bytes) -> None:
    files = {**FILES, "transformers/.gitattributes": attributes, "transformers/ident.py": b"# $Id$\nx = 1\n"}
    mirror, [commit] = mirror_of({"5.0.0": files})
    tree = Trees(cache, mirror.git, "transformers").ensure(mirror.library_tree(commit))
    assert contents(tree.path) == {name.removesuffix("*"): content for name, content in files.items()}


def test_a_tree_that_the_mirror_does_not_hold(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, _commits = mirror_of({"5.0.0": FILES})
    trees = Trees(cache, mirror.git, "transformers")
    with pytest.raises(GitFailed):
        trees.ensure("1" * 40)
    assert trees.whole("1" * 40) is None
    assert list(cache.incoming.iterdir()) == []


def test_what_is_the_same_in_two_trees_is_on_disk_once(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, commits = mirror_of({"5.0.0": FILES, "5.1.0": {**FILES, "transformers/crlf.py": b"other\n"}})
    trees = Trees(cache, mirror.git, "transformers")
    one, two = (trees.ensure(mirror.library_tree(commit)) for commit in commits)
    for path in (path for path in one.path.rglob("*") if path.is_file()):
        twin = two.path / path.relative_to(one.path)
        assert path.samefile(twin) is (path.name != "crlf.py")
        assert not path.stat().st_mode & 0o222


def test_the_manifest_has_the_blob_the_size_and_the_time_of_every_file(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    tree = Trees(cache, mirror.git, "transformers").ensure(mirror.library_tree(commit))
    assert tree.manifest == cache.trees / tree.id / "manifest.json"
    manifest = json.loads(tree.manifest.read_text(encoding="utf-8"))
    files = {path.relative_to(tree.path).as_posix(): path for path in tree.path.rglob("*") if path.is_file()}
    assert manifest == {"schema": 1, "tree": tree.id, "files": manifest["files"]}
    assert manifest["files"] == {
        name: [
            mirror.git("rev-parse", f"{commit}:src/{name}"), path.stat().st_size, path.stat().st_mtime_ns
        ] for name, path in files.items()
    }  # fmt: skip


def write_to(file: Path) -> None:
    file.chmod(0o644)
    file.write_bytes(b"changed\n")


def write_as_many_bytes(file: Path) -> None:
    file.chmod(0o644)
    file.write_bytes(file.read_bytes().swapcase())


def replace(file: Path) -> None:
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content + b"#")


def add_beside(file: Path) -> None:
    (file.parent / "added.py").write_bytes(b"")


def spoil_the_manifest(file: Path) -> None:
    (file.parents[2] / "manifest.json").write_bytes(b"{")


def remove_the_manifest(file: Path) -> None:
    (file.parents[2] / "manifest.json").unlink()


def remove_the_folder(file: Path) -> None:
    shutil.rmtree(file.parents[1])


@pytest.mark.parametrize(
    "damage",
    [
        Path.unlink, write_to, write_as_many_bytes, replace, add_beside, spoil_the_manifest, remove_the_manifest,
        remove_the_folder,
    ],
)  # fmt: skip
def test_a_tree_that_is_not_as_it_was_laid_out_is_named_and_built_anew(
    cache: Cache, mirror_of: MirrorOf, events: list[Event], damage: Callable[[Path], None]
) -> None:
    mirror, commits = mirror_of({"5.0.0": FILES, "5.1.0": {**FILES, "transformers/v.py": b""}})
    trees = Trees(cache, mirror.git, "transformers", events.append)
    tree, other = (trees.ensure(mirror.library_tree(commit)) for commit in commits)
    events.clear()
    damage(tree.path / "transformers" / "crlf.py")
    assert trees.whole(tree.id) is None
    for laid_out in (trees.ensure(tree.id), trees.ensure(other.id)):
        found = contents(laid_out.path)
        found.pop("transformers/v.py", None)
        assert found == {name.removesuffix("*"): content for name, content in FILES.items()}
        assert trees.whole(laid_out.id) is not None
    notes = [event for event in events if isinstance(event, Note)]
    assert notes[0].warning and f"tree {tree.id[:12]} is damaged" in notes[0].text
    assert list(cache.incoming.iterdir()) == []


def test_a_tree_that_is_distrusted_is_read_against_the_mirror(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    trees = Trees(cache, mirror.git, "transformers")
    tree = trees.ensure(mirror.library_tree(commit))
    file = tree.path / "transformers" / "crlf.py"
    state = file.stat()
    write_as_many_bytes(file)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert trees.whole(tree.id) is not None, "size and time show nothing"
    trees.ensure(tree.id, distrust=True)
    assert file.read_bytes() == FILES["transformers/crlf.py"]


def test_several_processes_at_once(cache: Cache, mirror_of: MirrorOf, start_python: Callable[..., Popen[str]]) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    tree_id = mirror.library_tree(commit)
    processes = [start_python(ENSURE, cache.root, tree_id) for _ in range(4)]
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out == f"{cache.trees / tree_id / 'src'}\n"
    assert [path.name for path in cache.trees.iterdir()] == [tree_id]
    assert contents(cache.trees / tree_id / "src") == {n.removesuffix("*"): c for n, c in FILES.items()}


def test_what_is_read_from_a_tree_is_the_same_tree(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    trees = Trees(cache, mirror.git, "transformers")
    tree = trees.ensure(mirror.library_tree(commit))
    assert Folders(cache, mirror.git, "transformers").read(tree.path) == tree.id
    assert isinstance(mirror.git, GitDir)


def test_a_tree_that_is_held_is_not_let_go(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    trees = Trees(cache, mirror.git, "transformers")
    tree_id = mirror.library_tree(commit)
    with ExitStack() as one, ExitStack() as other:
        assert hold(lambda: trees.ensure(tree_id), one) == hold(lambda: trees.ensure(tree_id), other)
        trees.let_go(tree_id)
        one.close()
        trees.let_go(tree_id)
        assert trees.whole(tree_id) is not None
    trees.let_go(tree_id)
    assert not (cache.trees / tree_id).exists()
    assert list(cache.incoming.iterdir()) == []
    trees.let_go(tree_id)


@pytest.mark.parametrize("again", [False, True])
def test_a_tree_that_goes_before_it_is_held_is_laid_out_again(
    cache: Cache, mirror_of: MirrorOf, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """Between being laid out and being held; and, with `again`, somebody else laid it out once more meanwhile."""
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    trees = Trees(cache, mirror.git, "transformers")
    tree_id = mirror.library_tree(commit)
    calls = []

    def lay_out() -> Tree:
        calls.append(1)
        tree = trees.ensure(tree_id)
        if len(calls) == 1 and not again:
            trees.let_go(tree_id)
        return tree

    def locked(handle: int, how: int) -> None:
        if again and how == fcntl.LOCK_SH and len(calls) == 1:
            trees.let_go(tree_id)
            trees.ensure(tree_id)
        flock(handle, how)

    flock = fcntl.flock
    monkeypatch.setattr("headwater.effects.trees.fcntl.flock", locked)
    with ExitStack() as holds:
        hold(lay_out, holds)
        trees.let_go(tree_id)
        assert trees.whole(tree_id) is not None
    assert len(calls) == 2
