# SPDX-License-Identifier: Apache-2.0
"""Trees: named by their content's id, laid out byte for byte, once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from headwater.effects.git import GitDir, GitFailed
from headwater.effects.mirror import Mirror
from headwater.effects.trees import Trees
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
cache = Cache(Path(sys.argv[1]))
sys.stdin.read()
print(Trees(cache, GitDir(cache.mirror), "transformers").ensure(sys.argv[2]).path)
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_tree_is_what_the_wheel_holds(cache: Cache, mirror_of: MirrorOf) -> None:
    mirror, [commit] = mirror_of({"5.0.0": FILES})
    tree_id = mirror.library_tree(commit)
    trees = Trees(cache, mirror.git, "transformers")
    assert not trees.has(tree_id)
    tree = trees.ensure(tree_id)
    assert trees.has(tree_id)
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
    assert not trees.has("1" * 40)
    assert list(cache.incoming.iterdir()) == []


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
    assert trees.read_folder(tree.path) == tree.id
    assert isinstance(mirror.git, GitDir)
