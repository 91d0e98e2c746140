# SPDX-License-Identifier: Apache-2.0
"""Damage to each thing that is cached is noticed, named and mended, and no verdict is another for it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.faults.conftest import Ground, WheelIndex

pytestmark = [pytest.mark.releases, pytest.mark.slow]
WHEEL = "transformers-5.10.1-py3-none-any.whl"


def flip(path: Path, part: float = 0.5, count: int = 64) -> None:
    """Change some bytes of a file in place."""
    mode, size = path.stat().st_mode, path.stat().st_size
    path.chmod(0o644)
    with path.open("r+b") as stream:
        stream.seek(int(size * part))
        piece = stream.read(count)
        stream.seek(int(size * part))
        stream.write(bytes(byte ^ 0x55 for byte in piece))
    path.chmod(mode & 0o777)


def cut(path: Path, part: float = 0.5) -> None:
    """Cut a file, in place."""
    path.chmod(0o644)
    os.truncate(path, int(path.stat().st_size * part))


def one(ground: Ground, pattern: str) -> Path:
    """The largest file of the cache that a pattern names."""
    return max(ground.cache.glob(pattern), key=lambda path: path.stat().st_size)


def without_a_trace(path: Path, change: Callable[[Path], None]) -> None:
    """Change a file and set its time back."""
    state = path.stat()
    change(path)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def check(ground: Ground, *words: str) -> None:
    """The run after damage says these words; the run after it says nothing of the kind."""
    ground.repro("--fresh")
    for word in (*words, "damaged"):
        assert word in ground.said, ground.said
    ground.repro("--fresh", "--case", "early-init,batch-size")
    assert "damaged" not in ground.said and "warning" not in ground.said
    assert ground.commit() == ground.pin().mirror_commit
    assert ground.is_at_rest()


@pytest.mark.parametrize("damage", [flip, cut], ids=["flipped", "cut"])
def test_a_wheel(fresh: Ground, wheel_index: WheelIndex, damage: Callable[[Path], None]) -> None:
    fresh.environ = wheel_index.environ
    damage(fresh.cache / "wheels" / WHEEL)
    check(fresh, f"the cached {WHEEL} is damaged")
    assert wheel_index.fetched == [WHEEL]


def loosen(ground: Ground) -> None:
    """Unpack the mirror, so that every object is a file of its own."""
    objects = ground.cache / "transformers.git" / "objects"
    for pack in list(objects.glob("pack/*.pack")):
        moved = pack.rename(ground.cache / "pack")
        for rest in objects.glob("pack/*"):
            rest.unlink()
        with moved.open("rb") as stream:
            argv = ["git", "--git-dir", str(objects.parent), "unpack-objects", "-q"]
            subprocess.run(argv, stdin=stream, check=True)
        moved.unlink()


def damage_loose(ground: Ground) -> None:
    """Spoil every loose object that is a large file."""
    loosen(ground)
    for path in ground.cache.glob("transformers.git/objects/??/*"):
        if path.stat().st_size > 20_000:
            flip(path)


MIRROR: dict[str, Callable[[Ground], object]] = {
    "a pack, flipped": lambda ground: flip(one(ground, "transformers.git/objects/pack/*.pack"), count=100_000),
    "loose objects": damage_loose,
    "its head": lambda ground: (ground.cache / "transformers.git/HEAD").unlink(),
}


@pytest.mark.parametrize("kind", MIRROR)
def test_the_mirror(whole: Ground, kind: str) -> None:
    MIRROR[kind](whole)
    # Nothing reads the mirror while the tree is there.
    whole.without("trees", "blobs")
    check(whole, "the mirror is damaged")


GONE: dict[str, Callable[[Ground], object]] = {
    "a pack": lambda ground: one(ground, "transformers.git/objects/pack/*.pack").unlink(),
    "its references": lambda ground: (ground.cache / "transformers.git/refs/headwater/releases/5.10.1").write_text(""),
}


@pytest.mark.parametrize("kind", GONE)
def test_what_is_gone_from_the_mirror_is_imported_again(whole: Ground, kind: str) -> None:
    GONE[kind](whole)
    whole.without("trees", "blobs").repro("--fresh", "--case", "early-init")
    assert "the mirror has lost transformers 5.10.1; importing it anew" in whole.said
    assert whole.commit() == whole.pin().mirror_commit
    assert whole.is_at_rest()


def edit(path: Path) -> None:
    """Make a file raise when it is imported, at the same size."""
    mode = path.stat().st_mode
    path.chmod(0o644)
    with path.open("r+b") as stream:
        stream.write(b"raise SystemError('damaged')\n#")
    path.chmod(mode & 0o777)


TREE: dict[str, Callable[[Path], object]] = {
    "written to": edit,
    "written to without a trace": lambda path: without_a_trace(path, edit),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("kind", TREE)
def test_a_tree(whole: Ground, kind: str) -> None:
    TREE[kind](whole.tree() / "src" / "transformers" / "cache_utils.py")
    check(whole, f"tree {whole.tree().name[:12]} is damaged")


def test_the_byte_code(whole: Ground) -> None:
    entries = sorted(whole.cache.glob("code/*/*/*"))
    flip(entries[0])
    cut(entries[1])
    cut(entries[2], 0)
    counts = whole.counts("--fresh")
    assert counts["compilations"] == 3
    for entry in entries[:3]:
        assert entry.name in whole.said
    for entry in entries[3:]:
        flip(entry, part=0.9, count=1)
    check(whole, "byte code was made anew")


def garble(path: Path) -> None:
    """Put something else in a file's place."""
    path.write_bytes(b"This is no database, and it is longer than the head of one would be." * 100)


STORE: dict[str, Callable[[Path], object]] = {
    "another file": garble,
    "cut": lambda path: cut(path, 0.6),
    "flipped": lambda path: flip(path, part=0.3, count=8000),
    "flipped in its head": lambda path: flip(path, part=0.0),
}


@pytest.mark.parametrize("kind", STORE)
def test_the_store(whole: Ground, kind: str) -> None:
    STORE[kind](whole.cache / "store.sqlite3")
    assert whole.repro()["probes_run"] == 5
    assert "the store" in whole.said and "damaged" in whole.said
    assert len(list(whole.cache.glob("store.sqlite3.damaged-*"))) == 1
    assert whole.repro()["probes_run"] == 0
    assert whole.said == ""


@pytest.mark.parametrize("kind", ["gone", "cut"])
def test_an_environment(whole: Ground, environment: Path, kind: str) -> None:
    # A copy by hard links: damage by way of a new file stays in the copy.
    place = whole.cache / "envs" / environment.name
    place.unlink()
    subprocess.run(["cp", "-al", environment, place], check=True)
    whole.repro("--fresh", "--case", "early-init")
    assert "damaged" not in whole.said
    [module] = place.glob("lib/python*/site-packages/huggingface_hub/constants.py")
    content = module.read_bytes()
    module.unlink()
    if kind == "cut":
        module.write_bytes(content[: len(content) // 2])
    check(whole, "the environment for 5.0-5.15 is damaged", "huggingface_hub/constants.py")
    assert module.read_bytes() == content
