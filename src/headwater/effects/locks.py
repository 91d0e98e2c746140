# SPDX-License-Identifier: Apache-2.0
"""Making the locks of environment groups: hashed requirements without torch, resolved by uv for every platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from headwater.core.errors import HarnessError
from headwater.core.events import Advanced, Emit, Finished, Started, silent
from headwater.core.grouping import (
    locked_versions,
    plain_requirements,
    torch_requirements,
    union,
    unsatisfied,
)
from headwater.core.pins import EnvironmentGroup, Pin
from headwater.effects.index import Index
from headwater.effects.proc import ProcessFailed
from headwater.effects.uv import run_uv

OLDEST_PYTHON = "3.11"
# What runs inside an environment besides the library: the patches' own tests and the conformance suite.
TEST_PACKAGES = ("hypothesis", "pytest")
_HEADER = """\
# The packages that {package} {first} to {last} run with{without}. Hashed, for every platform.
# Made by `headwater pins update`; do not edit.
"""


@dataclass(frozen=True)
class Lock:
    """An environment group and the text of its lock."""

    group: EnvironmentGroup
    text: str


class LockMaker:
    """Groups releases and locks each group."""

    def __init__(self, package: str, torch: str | None, index: Index, wheels: Path, emit: Emit = silent) -> None:
        """`wheels`: where a wheel goes that must be downloaded to learn what it requires."""
        self._package, self._torch, self._index, self._wheels, self._emit = (
            package,
            torch,
            index,
            wheels,
            emit,
        )
        self._resolved: dict[tuple[str, ...], str | None] = {}

    @property
    def torch(self) -> str | None:
        """The version of torch that every lock leaves room for; None where the library needs none."""
        return self._torch

    def requirements(self, pins: Sequence[Pin]) -> dict[Pin, list[Requirement]]:
        """What each release requires, from the index."""
        what = f"reading the requirements of {len(pins)} releases"
        self._emit(Started(what, what, len(pins), "releases"))
        found = {}
        for number, pin in enumerate(pins, 1):
            found[pin] = plain_requirements(self._index.requirements(self._package, pin.wheel, self._wheels))
            self._emit(Advanced(what, number))
        self._emit(Finished(what))
        return found

    def from_scratch(self, pins: Sequence[Pin]) -> list[Lock]:
        """The fewest groups of consecutive releases, each as long as the union of its requirements resolves."""
        wanted = self.requirements(pins)
        what = "resolving the environments' locks"
        self._emit(Started(what, what, len(pins), "releases"))
        locks: list[Lock] = []
        current: list[Pin] = []
        for number, pin in enumerate(pins, 1):
            if current and self._resolve([wanted[p] for p in [*current, pin]]) is None:
                locks.append(self._close(current, wanted, locks))
                current = []
            current.append(pin)
            self._emit(Advanced(what, number))
        self._emit(Finished(what))
        return [*locks, self._close(current, wanted, locks)] if current else locks

    def extend(
        self, groups: Sequence[EnvironmentGroup], lock_text: Callable[[str], str], new: Sequence[Pin]
    ) -> list[Lock]:
        """All groups and their locks, with what `new` releases need, wherever they stand between the others.

        A lock that satisfies a new release stays as it is, so that the environment's key does; one that does not is
        followed by a group for that release.

        Raises:
            HarnessError: a new release stands inside a group whose lock does not satisfy it.
        """
        wanted = self.requirements(new)
        locks = [Lock(group, lock_text(group.lock)) for group in groups]
        for pin in new:
            below = [n for n, lock in enumerate(locks) if lock.group.first <= pin.version]
            at = below[-1] if below else -1
            missing = unsatisfied(wanted[pin], locked_versions(locks[at].text)) if below else ["any lock"]
            if not missing:
                locks[at] = Lock(_grown(locks[at].group, pin), locks[at].text)
            elif below and locks[at].group.holds(pin.version):
                raise HarnessError(
                    f"{pin.version} stands inside the group {locks[at].group.name}, whose lock does not satisfy "
                    f"{', '.join(missing)}; `headwater pins update --locks` groups all releases anew"
                )
            else:
                locks.insert(at + 1, self._close([pin], wanted, locks))
        return locks

    def _close(self, pins: Sequence[Pin], wanted: Mapping[Pin, list[Requirement]], others: Sequence[Lock]) -> Lock:
        first, last = pins[0].version, pins[-1].version
        text = self._resolve([wanted[p] for p in pins])
        if text is None:
            lines = union([wanted[p] for p in pins])
            text = self._compile(lines)  # A single release that does not resolve: let uv say why.
        name = f"{first.major}.{first.minor}-{last.major}.{last.minor}"
        if any(lock.group.name == name for lock in others):
            name = f"{first}-{last}"
        group = EnvironmentGroup(name, first, last, f"locks/{name}.txt")
        without = ", without torch" if self._torch else ""
        return Lock(group, _HEADER.format(package=self._package, first=first, last=last, without=without) + text)

    def _resolve(self, groups: Sequence[list[Requirement]]) -> str | None:
        """The lock of the union, None where it does not resolve."""
        lines = tuple(union(groups))
        if lines not in self._resolved:
            try:
                self._resolved[lines] = self._compile(list(lines))
            except ProcessFailed as error:
                if "No solution found" not in error.output:
                    raise
                self._resolved[lines] = None
        return self._resolved[lines]

    def of_day(self, requirements: Sequence[Requirement], day: str) -> str:
        """The lock of requirements with the packages that the index had by the end of a day (YYYY-MM-DD, UTC).

        Raises:
            ProcessFailed: there is none; in uv's words.
        """
        return self._compile(union([requirements]), "--exclude-newer", f"{day}T23:59:59Z")

    def _compile(self, lines: list[str], *options: str) -> str:
        torch = [str(r) for r in self._torch_requirements()]
        return run_uv(
            "pip", "compile", "-", "--quiet", "--universal", "--python-version", OLDEST_PYTHON, "--generate-hashes",
            "--no-header", "--no-annotate", *options,
            stdin="\n".join([*lines, *torch, *TEST_PACKAGES]) + "\n",
        )  # fmt: skip

    def _torch_requirements(self) -> list[Requirement]:
        if self._torch is None:
            return []
        wheel = self._index.any_wheel("torch", self._torch)
        return torch_requirements(self._index.requirements("torch", wheel, self._wheels))

    def check(self, pins: Sequence[Pin], lock_of: Callable[[Pin], str]) -> list[str]:
        """What the locks do not satisfy, a line each."""
        return [
            f"{pin.version}: its lock does not satisfy {', '.join(missing)}"
            for pin, requirements in self.requirements(pins).items()
            if (missing := unsatisfied(requirements, locked_versions(lock_of(pin))))
        ]


def _grown(group: EnvironmentGroup, pin: Pin) -> EnvironmentGroup:
    return EnvironmentGroup(group.name, group.first, max(group.last, pin.version), group.lock)
