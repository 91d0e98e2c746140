# SPDX-License-Identifier: Apache-2.0
"""What the hunt for the release that brought the main bug costs, cold and warm, against `git bisect run` over a history
of releases with `uv run --with transformers==X`, as a person would write it.

`git bisect run` takes its ends on trust and its answer from one probe of each side; Headwater probes both ends twice,
and the answer and its parent once more. So there are two rows of each: against git's run alone, and against that run
with as many probes of ends and answer by hand. A third row is of a hunt that is asked again, which git cannot know."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import uv
from packaging.version import Version
from samples import Row, Sampler, Samples, interleaved, timed

from headwater.commands.context import Context
from headwater.core.errors import HarnessError
from headwater.core.history import path
from headwater.core.index_settings import uv_environment
from headwater.effects import proc

CASE, FILE = "early-init", "early_init.py"
GOOD, BAD, PARENT, FOUND = "5.0.0", "5.12.0", "5.4.0", "5.5.0"
COLD_AIM, WARM_AIM = 1 / 3, 1 / 10
_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Somebody", "GIT_AUTHOR_EMAIL": "somebody@invalid.example",
    "GIT_COMMITTER_NAME": "Somebody", "GIT_COMMITTER_EMAIL": "somebody@invalid.example",
}  # fmt: skip
# A case ends with 125 where the feature is not there; without it there is no bug, so for this hunt that is good.
_STEP = """\
"{uv}" run --quiet --no-project --python "{python}" --with "transformers==$(cat VERSION)" --with "torch=={torch}" \
python "{case}" > /dev/null
status=$?
test $status = 125 && exit 0
exit $status
"""
# What a person runs by hand for what git takes on trust: both ends twice, the answer and its parent once more.
_TRUSTED = (GOOD, GOOD, BAD, BAD, PARENT, FOUND)


class Hunts:
    """Both ways; `folder` is the bench's own, and holds the caches of both."""

    def __init__(self, context: Context, folder: Path) -> None:
        self._root, self._folder = context.workspace.root, folder
        self._releases = path(Version(GOOD), Version(BAD), context.workspace.pins.versions)
        self._torch = context.workspace.pins.torch
        self._history = folder / "history"
        self._took = 0.0

    def prepare(self) -> None:
        """A repository with a commit for each release, which holds its number, and the script for `git bisect run`."""
        self._history.mkdir()
        self._git("init", "--quiet")
        for release in self._releases:
            (self._history / "VERSION").write_text(f"{release}\n", encoding="utf-8")
            self._git("add", "VERSION")
            self._git("commit", "--quiet", f"--message={release}")
        case = self._root / "tests" / "repro" / FILE
        text = _STEP.format(uv=uv.find_uv_bin(), python=sys.executable, torch=self._torch, case=case)
        (self._folder / "step.sh").write_text(text, encoding="utf-8")

    def sample(self, hunt: Callable[[], None], state: str) -> list[float]:
        """The seconds of a hunt: "cold", with empty caches; "warm", on what the one before left."""
        if state == "cold":
            for name in ("cache", "uv"):
                shutil.rmtree(self._folder / name, ignore_errors=True)
        self._took = timed(hunt)
        return [self._took]

    def sample_proofs(self) -> list[float]:
        """The seconds of the last hunt, and of proving by hand what it took on trust."""
        return [self._took + timed(self.prove_by_hand)]

    def ours(self, *more: str) -> None:
        """`headwater bisect`, a process as a user starts it; with "--fresh" no verdict is taken from before.

        Raises:
            HarnessError: it has another answer.
        """
        words = ("bisect", CASE, "--good", GOOD, "--bad", BAD, "--history", "releases", *more)
        environ = {**self._caches(), "HEADWATER_CACHE": str(self._folder / "cache")}
        said = proc.run([sys.executable, "-m", "headwater", *words], environ=environ, cwd=self._root)
        if f"introduced in {FOUND}" not in said:
            raise HarnessError(f"headwater did not find {FOUND}: {said}")

    def by_hand(self) -> None:
        """`git bisect run`.

        Raises:
            HarnessError: it has another answer.
        """
        self._git("bisect", "reset")
        self._git("bisect", "start", "HEAD", f"HEAD~{len(self._releases) - 1}")
        said = self._git("bisect", "run", "sh", str(self._folder / "step.sh"))
        if f"    {FOUND}\n" not in said:
            raise HarnessError(f"git bisect did not find {FOUND}: {said}")

    def prove_by_hand(self) -> None:
        """What `by_hand` takes on trust.

        Raises:
            HarnessError: a probe says another thing than the hunt of Headwater found.
        """
        for release in _TRUSTED:
            (self._history / "VERSION").write_text(f"{release}\n", encoding="utf-8")
            try:
                proc.run(["sh", str(self._folder / "step.sh")], environ=self._caches(), cwd=self._history)
                status = 0
            except proc.ProcessFailed as error:
                status = -1 if error.status is None else error.status
            if status != (release in (BAD, FOUND)):
                raise HarnessError(f"by hand {release} ended with status {status}, and the hunt saw another thing")
        self._git("checkout", "--quiet", "--", "VERSION")

    def _git(self, *words: str) -> str:
        return proc.run(["git", *words], environ={**_GIT, **self._caches()}, cwd=self._history)

    def _caches(self) -> Mapping[str, str]:
        """The same settings of index and wheels for both, and uv's cache of the bench's own."""
        return {**uv_environment(os.environ), "UV_CACHE_DIR": str(self._folder / "uv"), "UV_NO_CONFIG": "1"}


def measure(context: Context, folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure both ways in turns: each cold and then warm."""
    hunts = Hunts(context, folder)
    hunts.prepare()
    again = "the same hunt asked again"
    ours, git, proved = f"hunt over {GOOD} to {BAD}", "git bisect run with uv run", "the same, ends and answer proved"
    names: list[str] = []
    samplers: dict[str, Sampler] = {}
    fresh = partial(hunts.ours, "--fresh")
    ways: list[tuple[str, str, Callable[[], None]]] = [
        (ours, "cold", fresh), (ours, "warm", fresh), (again, "warm", hunts.ours),
        (git, "cold", hunts.by_hand), (git, "warm", hunts.by_hand),
    ]  # fmt: skip
    for way, state, action in ways:
        names.append(f"{way}, {state}")
        samplers[names[-1]] = partial(hunts.sample, action, state)
        if way == git:
            names.append(f"{proved}, {state}")
            samplers[names[-1]] = hunts.sample_proofs
    found = interleaved(samplers, names, rounds, tell)

    def samples(way: str, state: str) -> Samples:
        return Samples(f"{way}, {state}", tuple(found[f"{way}, {state}"]))

    aims = {"cold": COLD_AIM, "warm": WARM_AIM}
    rows = [Row(samples(ours, state), samples(way, state), aim) for way in (git, proved) for state, aim in aims.items()]
    return [*rows, Row(samples(again, "warm"), samples(git, "warm"), WARM_AIM)]
