# SPDX-License-Identifier: Apache-2.0
"""What filling the mirror costs, against what git itself takes for the same files, added as one would by hand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from samples import Row, Sampler, Samples, interleaved, timed, whole_process

from headwater.commands.context import Context
from headwater.core.pins import Pin
from headwater.effects import proc
from headwater.effects.files import size_of
from headwater.effects.mirror import Mirror
from headwater.effects.wheels import Wheel
from headwater.effects.workspace import Cache

AIM, SIZE_AIM = 0.7, 25.0
# Neither the user's settings nor git's own housekeeping in the background take part.
_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Somebody", "GIT_AUTHOR_EMAIL": "somebody@invalid.example",
    "GIT_COMMITTER_NAME": "Somebody", "GIT_COMMITTER_EMAIL": "somebody@invalid.example",
}  # fmt: skip


class Imports:
    """Both ways for the same releases; `folder` is the bench's own. `sizes` holds, in MB, the packed mirror's and
    `loose` the repository's that was made by hand."""

    def __init__(self, context: Context, folder: Path, pins: Sequence[Pin]) -> None:
        self._context, self._folder, self._pins = context, folder, pins
        self.sizes: list[float] = []
        self.loose: list[float] = []

    def fetch(self) -> None:
        """Have every wheel here: no download is part of any figure."""
        wheels = self._context.workspace.cache.wheels
        for pin in self._pins:
            self._context.index.download(self._package, pin.wheel, wheels)

    @property
    def _package(self) -> str:
        return self._context.workspace.pins.package

    def import_all(self) -> list[float]:
        """The seconds of the import into an empty mirror."""
        cache = Cache(self._folder / "empty", "transformers")
        cache.root.mkdir()
        cache.wheels.symlink_to(self._context.workspace.cache.wheels.resolve())
        mirror = Mirror(cache, self._context.workspace.pins, self._context.index, self._context.emit)
        seconds = timed(partial(mirror.ensure_all, self._pins))
        if not self.sizes:  # the same input packs to the same size
            mirror.repack()
            self.sizes.append(size_of(cache.mirror) / 1e6)
        shutil.rmtree(cache.root)
        return [seconds]

    def add_all(self) -> list[float]:
        """The seconds of `git init`, and of `git add -A` and `git commit` of each release; unpacking is not counted."""
        root = self._folder / "by-hand"
        repository, work = root / "repository", root / "work"
        work.mkdir(parents=True)
        git = ["git", f"--git-dir={repository}", f"--work-tree={work}", "-c", "gc.auto=0"]
        run = partial(whole_process, runs=1, folder=root, environ=_GIT)
        seconds = run(["git", "init", "--quiet", "--bare", repository])
        sums: dict[str, int] = {}
        for pin in self._pins:
            sums = self._unpack(pin, work / "src", sums)
            seconds += run([*git, "add", "-A"])
            seconds += run([*git, "commit", "--quiet", f"--message={pin.version}"])
        if not self.loose:
            self.loose.append(size_of(repository) / 1e6)
        shutil.rmtree(root)
        return [sum(seconds)]

    def _unpack(self, pin: Pin, target: Path, before: dict[str, int]) -> dict[str, int]:
        """Unpack a wheel over another, of which `before` has the checksums; the wheel's own checksums.

        What did not change is touched instead of written again: git reads it again either way.
        """
        with Wheel.open(self._context.workspace.cache.wheels / pin.wheel.file, self._package) as wheel:
            sums = {name: info.CRC for name, info in wheel.files.items()}
            wheel.archive.extractall(target, [name for name in sums if sums[name] != before.get(name)])
        for name in before:
            if name not in sums:
                (target / name).unlink()
            elif sums[name] == before[name]:
                os.utime(target / name)
        return sums


def measure(context: Context, folder: Path, count: int, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure both ways for the newest `count` releases, in turns."""
    imports = Imports(context, folder, context.workspace.pins.releases[-count:])
    tell(f"looking for the wheels of {count} releases")
    imports.fetch()
    ours, theirs = f"import of {count} releases", f"git add of {count} unpacked wheels"
    samplers: dict[str, Sampler] = {ours: imports.import_all, theirs: imports.add_all}
    found = {
        name: Samples(name, tuple(values)) for name, values in interleaved(samplers, [*samplers], rounds, tell).items()
    }
    packed = Samples(f"mirror of {count} releases, repacked", tuple(imports.sizes), "MB")
    loose = Samples("the repository of git add", tuple(imports.loose), "MB")
    return [Row(found[ours], found[theirs], AIM), Row(packed, loose, SIZE_AIM, on_ratio=False)]


def git_version() -> str:
    """As git says it."""
    return proc.run(["git", "--version"]).strip()
