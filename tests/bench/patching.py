# SPDX-License-Identifier: Apache-2.0
"""What the states of a series over all releases cost, against checking each release out and asking `git apply`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from samples import Row, Sampler, Samples, interleaved, timed, whole_process

from headwater.commands.context import Context
from headwater.commands.patch.status import status
from headwater.core.errors import HarnessError
from headwater.core.releases import select
from headwater.effects import proc

SERIES = "hybrid-static-cache"
SPEC = ">=5.0.0"
AIM, SECONDS_AIM = 0.2, 10.0
# Neither the user's settings nor git's own housekeeping in the background take part.
_GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
# What a person would write: every state of the grid is one answer of `git apply`.
_BY_HAND = """\
for commit in {commits}; do
  git -c gc.auto=0 checkout --quiet --force --detach $commit || exit 1
  for patch in {patches}; do git apply --check $patch 2>/dev/null || true; done
done
"""


class Grids:
    """Both ways for the same releases; `folder` is the bench's own."""

    def __init__(self, context: Context, folder: Path) -> None:
        self._context, self._folder = context, folder
        pins = context.workspace.pins
        chosen = [pins.pin(version) for version in select(SPEC, pins.versions)]
        self.count = len(chosen)
        self._commits = context.mirror.ensure_all(chosen)
        self._work, self._script = folder / "work", folder / "by-hand.sh"

    def prepare(self) -> None:
        """A work tree on the mirror's own objects, with the newest release in it, and the script."""
        mirror = self._context.mirror.git.path
        proc.run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(mirror), str(self._work)], environ=_GIT)
        proc.run(["git", "-C", str(self._work), "checkout", "--quiet", "--detach", self._commits[-1]], environ=_GIT)
        series = self._context.workspace.series(SERIES)
        patches = [shlex.quote(str(series.folder / patch)) for patch in series.file.patches]
        text = _BY_HAND.format(commits=" ".join(self._commits), patches=" ".join(patches))
        self._script.write_text(text, encoding="utf-8")

    def judge(self) -> list[float]:
        """The seconds of a status by a running `headwater`.

        Raises:
            HarnessError: it does not have a state for every release, so that something else was measured.
        """
        return [timed(self._status)]

    def _status(self) -> None:
        [found] = status(self._context, [SERIES], SPEC)
        if len(found.releases) != self.count or any(len(one.cells) != len(found.patches) for one in found.releases):
            raise HarnessError(f"the status of {SERIES} has {len(found.releases)} releases instead of {self.count}")

    def by_hand(self) -> list[float]:
        """The seconds of the script."""
        return whole_process(["sh", self._script], runs=1, folder=self._work, environ=_GIT)

    def commands(self, action: Callable[[], object]) -> float:
        """The git processes that something starts, as git itself writes them down; see "trace2" in git's manual."""
        folder = self._folder / "traces"
        folder.mkdir()
        with _environment("GIT_TRACE2_EVENT", str(folder)):
            action()
        count = len(list(folder.iterdir()))
        folder.rename(self._folder / f"traces-{count}")
        return float(count)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def measure(context: Context, folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure both ways in turns."""
    grids = Grids(context, folder)
    tell(f"warming up: the status of {SERIES} on {grids.count} releases")
    grids.prepare()
    grids.judge()
    ours, theirs = f"status of a series on {grids.count} releases", "checkout and git apply --check of each"
    samplers: dict[str, Sampler] = {ours: grids.judge, theirs: grids.by_hand}
    found = {
        name: Samples(name, tuple(values)) for name, values in interleaved(samplers, [*samplers], rounds, tell).items()
    }
    started = {name: grids.commands(sampler) for name, sampler in samplers.items()}
    tell(f"git processes: {', '.join(f'{name} {number:.0f}' for name, number in started.items())}")
    return [Row(found[ours], found[theirs], AIM), Row(found[ours], found[theirs], SECONDS_AIM, on_ratio=False)]
