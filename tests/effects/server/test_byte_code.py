# SPDX-License-Identifier: Apache-2.0
"""Byte code by content: a file is compiled once, ever, for all trees; no damage of the cache is believed."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.core.verdicts import Verdict
from headwater.effects.blobs import blob_id

if TYPE_CHECKING:
    from tests.effects.server.conftest import Lab

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork servers are for Linux")

BUG = "transformers.update()"
INIT = "from transformers.cache_utils import call, update\n"


def test_a_file_is_compiled_once_ever(lab: Lab) -> None:
    first = lab.tree()
    # A neighbour: one of its two files is another.
    second = lab.tree({"__init__.py": f"{INIT}X = 1\n"})
    late = "import transformers.late"
    for tree, body, expected in [
        (first, "", (2, 0)), (first, "", (0, 2)), (second, "", (1, 1)), (second, "", (0, 2)),
        (first, late, (1, 2)), (second, late, (0, 3)), (first, "", (0, 2)),
    ]:  # fmt: skip
        lab.end_server()
        assert lab.run(body, tree=tree).code() == (*expected, [])


def test_two_files_of_one_content_are_compiled_once(lab: Lab) -> None:
    tree = lab.tree({"a.py": "X = 1\n", "b/c.py": "X = 1\n", "b/__init__.py": ""})
    body = "import transformers.a, transformers.b.c as c\nassert c.__file__.endswith('b/c.py'), c.__file__"
    assert lab.run(body, tree=tree).code() == (4, 1, [])


def test_a_file_that_comes_back_is_known(lab: Lab) -> None:
    lab.run()
    lab.run(tree=lab.tree({"cache_utils.py": "update = call = None\n"}))
    # The first content again, in a tree of its own.
    assert lab.run(tree=lab.tree({"data.json": "[2]"})).code() == (0, 2, [])


def test_tracebacks_name_the_tree_in_hand(lab: Lab) -> None:
    body = (
        "import traceback\ntry: transformers.update()\nexcept RuntimeError: traceback.print_exc()\n"
        "inner = transformers.call(lambda: sys._getframe(1).f_code.co_filename)\nprint(inner)\n"
        "print(transformers.__file__, transformers.cache_utils.__cached__ if hasattr(transformers.cache_utils,"
        " '__cached__') else '')"
    )
    first, second = lab.tree(), lab.tree({"data.json": "[2]"})
    for tree, other in ((first, second), (second, first), (first, second)):
        output = lab.run(body, tree=tree).run.output
        assert output.count(str(tree.path / "transformers" / "cache_utils.py")) >= 2
        assert "raise RuntimeError('The size of tensor a (8) must match')" in output
        assert str(other.path) not in output
        probed = lab.run(BUG, tree=tree)
        assert probed.outcome.evidence.frame == "transformers/cache_utils.py:2 in update"
        assert probed.verdict is Verdict.BAD


def flip(content: bytes) -> bytes:
    """The same with its last byte changed."""
    return content[:-1] + bytes([content[-1] ^ 1])


def sealed(content: bytes) -> bytes:
    """With the seal of an entry: one that somebody made on purpose, or another version of Headwater."""
    return sha256(content).digest() + content


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "cut to its seal": lambda content: content[:32],
    "flipped": flip,
    "flipped in its seal": lambda content: bytes([content[0] ^ 1]) + content[1:],
    "empty": lambda content: b"",
    "longer": lambda content: content + b"\0",
    "zeros": lambda content: bytes(len(content)),
    "a text": lambda content: b"nothing of the kind\n",
    "sealed, and no code": lambda content: sealed(marshal.dumps(5)),
    "sealed, and nothing": lambda content: sealed(b""),
    "sealed, and cut": lambda content: sealed(content[32:60]),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_named_and_made_anew(lab: Lab, kind: str) -> None:
    with lab.prober() as probe:
        assert probe(BUG).verdict is Verdict.BAD
        entry = lab.entry(INIT)
        whole = entry.read_bytes()
        entry.write_bytes(DAMAGE[kind](whole))
        compiled = lab.counted("compilations")
        assert probe(BUG).verdict is Verdict.BAD
        [warning] = lab.warnings()
        assert "byte code" in warning and blob_id(INIT.encode()) in warning
        assert lab.counted("compilations") == compiled + 1
        assert sha256(entry.read_bytes()[32:]).digest() == entry.read_bytes()[:32]
        assert probe(BUG).verdict is Verdict.BAD
        assert lab.counted("compilations") == compiled + 1
        assert lab.warnings() == []


def folder_in_place(path: Path) -> None:
    """Put a folder where a file is, or was."""
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "something").touch()


def file_in_place(path: Path) -> None:
    """Put a file where a folder is."""
    path.rename(path.with_name(f"{path.name}.aside"))
    path.touch()


@pytest.mark.parametrize("kind", ["an entry", "its folder", "the cache"])
def test_a_cache_that_cannot_be_used_changes_no_verdict(lab: Lab, kind: str) -> None:
    with lab.prober() as probe:
        assert probe(BUG).verdict is Verdict.BAD
        entry = lab.entry(INIT)
        if kind == "an entry":
            folder_in_place(entry)
        else:
            file_in_place(entry.parent if kind == "its folder" else lab.cache.code)
        assert (probe(BUG).verdict, probe().verdict) == (Verdict.BAD, Verdict.GOOD)


def test_entries_of_another_python_are_not_used(lab: Lab) -> None:
    assert lab.run().code() == (2, 0, [])
    [own] = lab.cache.code.iterdir()
    assert own.name.startswith(sys.implementation.cache_tag)
    own.rename(own.with_name("cpython-399-00000000"))
    for expected in [(2, 0), (0, 2)]:
        lab.end_server()
        assert lab.run().code() == (*expected, [])


def test_two_that_compile_at_once(lab: Lab) -> None:
    # The case of the first probe compiles the same files, as a probe of another run does at the same time.
    entry = "import threading, transformers.late\nfrom importlib import reload\n"
    tree = lab.tree()
    assert lab.run(entry, tree=tree).verdict is Verdict.GOOD
    for file in lab.cache.code.glob("*/*/*"):
        file.unlink()
    copies = (
        "import glob\nfrom importlib import reload\nfor _ in range(8):\n    if os.fork() == 0:\n        try:\n"
        "            for _ in range(20):\n"
        f"                for entry in glob.glob({str(lab.cache.code)!r} + '/*/*/*'):\n"
        "                    try: os.unlink(entry)\n                    except FileNotFoundError: pass\n"
        "                reload(transformers.cache_utils)\n"
        "            os._exit(0)\n        finally:\n            os._exit(1)\n"
        "assert [os.wait()[1] for _ in range(8)] == [0] * 8"
    )
    probed = lab.run(copies, tree=tree)
    assert probed.verdict is Verdict.GOOD, (probed.outcome, probed.run.output)
    for file in lab.cache.code.glob("*/*/*"):
        content = file.read_bytes()
        assert sha256(content[32:]).digest() == content[:32]
    assert lab.run(BUG, tree=tree).verdict is Verdict.BAD
    # No part of a write is left beside the entries.
    assert [file.name for file in lab.cache.code.glob("*/*/*") if len(file.name) != 40] == []


def test_nothing_is_written_beside_the_sources(lab: Lab) -> None:
    tree = lab.tree()
    lab.run("import transformers.late", tree=tree)
    assert sorted(path.name for path in tree.path.rglob("*")) == sorted(
        ["transformers", "__init__.py", "cache_utils.py", "data.json", "late.py"]
    )
