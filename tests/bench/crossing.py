# SPDX-License-Identifier: Apache-2.0
"""What a matrix costs warm, against a loop of `uv run --with transformers==X python case.py` over the same cells."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import uv
from samples import Row, Sampler, Samples, interleaved, timed

from headwater.commands.context import Context
from headwater.core.errors import HarnessError
from headwater.core.index_settings import uv_environment
from headwater.effects import proc

CASES = {
    "early-init": "early_init.py",
    "is-initialized": "is_initialized.py",
    "max-cache-len": "max_cache_len.py",
    "max-batch-size": "max_batch_size.py",
    "batch-size": "batch_size.py",
}
RELEASES = ("5.4.0", "5.5.0", "5.9.0", "5.12.1", "5.13.0", "5.16.0")
AIM = 1 / 6
# What a case ends with under plain python.
_VERDICTS: Mapping[int | None, str] = {0: "good", 1: "bad", 125: "absent"}


class Crossings:
    """Both ways over the same cells, on the caches of both; `folder` is the bench's own."""

    def __init__(self, context: Context, folder: Path, releases: tuple[str, ...]) -> None:
        self._root, self._folder, self._releases = context.workspace.root, folder, releases
        self._torch = context.workspace.pins.torch
        self._cache = context.workspace.cache.root
        self._seen: dict[str, dict[tuple[str, str], str]] = {}

    def ours(self) -> None:
        """`headwater matrix --fresh`, a process as a user starts it."""
        words = ("--releases", ",".join(self._releases), "--cases", ",".join(CASES), "--fresh", "--json")
        environ = {**self._environment(), "HEADWATER_CACHE": str(self._cache)}
        said = proc.run([sys.executable, "-m", "headwater", "matrix", *words], environ=environ, cwd=self._root)
        self._seen["matrix"] = {(one["case"], one["revision"]): one["verdict"] for one in json.loads(said)["probes"]}

    def by_hand(self) -> None:
        """The loop."""
        seen = {}
        for release, (case, file) in itertools.product(self._releases, CASES.items()):
            status = self._case(release, self._root / "tests" / "repro" / file)
            seen[case, release] = _VERDICTS.get(status) or f"status {status}"
        self._seen["loop"] = seen

    def _case(self, release: str, file: Path) -> int | None:
        packages = ("--with", f"transformers=={release}", "--with", f"torch=={self._torch}")
        command = [uv.find_uv_bin(), "run", "--quiet", "--no-project", "--python", sys.executable, *packages, "python"]
        try:
            proc.run([*command, str(file)], environ=self._environment(), cwd=self._folder)
        except proc.ProcessFailed as error:
            return error.status
        return 0

    def check(self) -> None:
        """Compare what both saw.

        Raises:
            HarnessError: another verdict in a cell: then the times compare nothing.
        """
        if self._seen["matrix"] != self._seen["loop"]:
            raise HarnessError(f"the matrix and the loop disagree: {self._seen}")

    def _environment(self) -> Mapping[str, str]:
        return {**uv_environment(os.environ), "UV_CACHE_DIR": str(self._folder / "uv"), "UV_NO_CONFIG": "1"}


def measure(context: Context, folder: Path, quick: bool, tell: Callable[[str], None]) -> list[Row]:
    """Measure both in turns, after a first time that fills the caches and counts for nothing."""
    crossings = Crossings(context, folder, RELEASES[:2] if quick else RELEASES)
    for fill in (crossings.ours, crossings.by_hand):
        fill()
    crossings.check()
    cells = f"{len(CASES)} cases on {2 if quick else len(RELEASES)} releases"
    names = [f"matrix --fresh, {cells}, warm", f"a loop of uv run, {cells}, warm"]
    samplers: dict[str, Sampler] = {
        names[0]: lambda: [timed(crossings.ours)],
        names[1]: lambda: [timed(crossings.by_hand)],
    }
    found = interleaved(samplers, names, 1 if quick else 2, tell)
    crossings.check()
    ours, loop = (Samples(name, tuple(found[name])) for name in names)
    return [Row(ours, loop, AIM)]
