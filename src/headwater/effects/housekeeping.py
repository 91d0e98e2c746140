# SPDX-License-Identifier: Apache-2.0
"""What the caches hold and take, and taking things out of them. Checkouts and verdicts are only removed by name."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from headwater.core.pins import Pins
from headwater.effects.files import size_of
from headwater.effects.recordings import RECORDER_VERSION
from headwater.effects.workspace import Cache


@dataclass(frozen=True)
class Shelf:
    """One kind of thing in the cache: how many, and the bytes they take."""

    name: str
    path: Path
    count: int
    bytes: int


def survey(cache: Cache) -> list[Shelf]:
    """Every shelf of the cache."""
    shelves = [
        ("mirror", cache.mirror),
        ("git remotes", cache.remotes),
        ("locks by day", cache.locks),
        ("wheels", cache.wheels),
        ("files of trees", cache.blobs),
        ("trees", cache.trees),
        ("byte code", cache.code),
        ("recordings", cache.recordings),
        ("answers", cache.answers),
        ("environments", cache.environments),
        ("left over", cache.incoming),
    ]
    seen: set[tuple[int, int]] = set()
    found = [Shelf(name, path, _count(name, path), size_of(path, seen)) for name, path in shelves]
    parts = [cache.store, *_beside_store(cache)]
    return [*found, Shelf("store", cache.store, int(cache.store.exists()), sum(size_of(p) for p in parts))]


def _count(name: str, path: Path) -> int:
    if not path.is_dir():
        return 0
    patterns = {
        "git remotes": "*.git", "files of trees": "*/*", "byte code": "*/*/*", "recordings": "*/*/*",
        "answers": "*/*", "environments": "*/",
    }  # fmt: skip
    pattern = patterns.get(name, "*")
    return 1 if name == "mirror" else sum(1 for _ in path.glob(pattern))


def prune(cache: Cache, pins: Pins, imported: Collection[str], current: Collection[Path]) -> list[str]:
    """Remove what is not needed any more: leftovers of killed runs, wheels that the mirror holds, sdists, trees of no
    pinned release (patched and edited ones: they are laid out again when needed) and what was recorded on them, or by
    another recorder, environments other than `current`.

    Returns what was removed, a line each. What another process is building right now is left alone.
    """
    known = {pin.tree for pin in pins.releases}
    superfluous = [cache.wheels / pin.wheel.file for pin in pins.releases if str(pin.version) in imported]
    superfluous += [cache.wheels / pin.sdist.file for pin in pins.releases if pin.sdist]
    superfluous += [path for path in _entries(cache.trees) if path.name not in known]
    superfluous += [path for path in _entries(cache.recordings) if path.name != RECORDER_VERSION]
    superfluous += [path for path in _entries(cache.recordings / RECORDER_VERSION) if path.name not in known]
    kept = {path.name for path in current} | {f"{path.name}.preload.json" for path in current}
    superfluous += [path for path in _entries(cache.environments) if path.name not in kept]
    superfluous += [path for path in _entries(cache.wheels) if path.name.startswith(".part-") and not _in_use(path)]
    removed = [_remove(path) for path in superfluous if path.exists()]
    removed += _prune_files(cache)
    return removed + [_remove(path) for path in _entries(cache.incoming) if not _in_use(path)]


def _prune_files(cache: Cache) -> list[str]:
    """Remove the shared files that no tree holds any more, and the byte code of files that are gone."""
    files = [path for path in cache.blobs.glob("*/*") if path.stat().st_nlink == 1]
    for path in files:
        path.unlink()
    kept = {path.name.removesuffix(".x") for path in cache.blobs.glob("*/*")}
    code = [path for path in cache.code.glob("*/*/*") if path.name not in kept]
    for path in code:
        path.unlink()
    counts = ((len(files), cache.blobs, "files"), (len(code), cache.code, "entries of byte code"))
    return [f"{count} {what} in {path}" for count, path, what in counts if count]


def clean(cache: Cache, store: bool, keep_mirror: bool) -> list[str]:
    """Remove everything that can be made again; with `store` the verdicts too. The mirror stays while checkouts, whose
    commits it holds, depend on it."""
    paths = [] if keep_mirror else [cache.mirror]
    paths += [cache.remotes, cache.locks, cache.wheels, cache.trees, cache.blobs, cache.code, cache.environments]
    paths += [cache.recordings, cache.answers, cache.incoming, *cache.root.glob(".removed-*")]
    if store:
        paths += [cache.store, *_beside_store(cache)]
    return [_remove(path) for path in paths if path.exists()]


def _in_use(path: Path) -> bool:
    """Whether the process that builds in this folder still runs."""
    parts = path.name.split("-")
    number = parts[1] if len(parts) > 1 else ""
    if not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _beside_store(cache: Cache) -> list[Path]:
    """What SQLite keeps beside the store, and damaged ones that were set aside."""
    return sorted(cache.store.parent.glob(f"{cache.store.name}[-.]*"))


def _entries(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else []


def _remove(path: Path) -> str:
    size = size_of(path)
    if path.is_dir():
        # Renamed first, so that nobody takes half a folder for a whole one.
        doomed = Path(tempfile.mkdtemp(prefix=".removed-", dir=path.parent))
        path.rename(doomed / path.name)
        shutil.rmtree(doomed)
    else:
        path.unlink()
    return f"{path} ({size / 1e6:.1f} MB)"
