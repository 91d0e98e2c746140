# SPDX-License-Identifier: Apache-2.0
"""From one store to another: a store that tells what it keeps, and a prober that only recalls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater.core.cases import Case
from headwater.core.events import Emit
from headwater.core.keys import Device, Limits
from headwater.core.results import has_accelerator
from headwater.core.verdicts import Outcome
from headwater.effects.envs import Environment
from headwater.effects.probe import Prober, Subject
from headwater.effects.recordings import Tape
from headwater.effects.store import Store


@dataclass(frozen=True)
class Kept:
    """What a store keeps of one repetition of a probe, under its key. What was recalled has no `output`."""

    key: str
    outcome: Outcome
    output: str = ""


class TellingStore(Store):
    """A store that tells what it was asked for and knew, and what was recorded, since `told` was emptied."""

    def __init__(self, path: Path, emit: Emit) -> None:
        super().__init__(path, emit)
        self.told: list[Kept] = []

    def recall(self, key: str) -> Outcome | None:
        """As `Store.recall`."""
        outcome = super().recall(key)
        if outcome is not None:
            self.told.append(Kept(key, outcome))
        return outcome

    def record(
        self, key: str, outcome: Outcome, *, case: str, revision: str, tree: str, environment: str, device: str,
        output: str,
    ) -> None:  # fmt: skip
        """As `Store.record`."""
        super().record(
            key, outcome, case=case, revision=revision, tree=tree, environment=environment, device=device, output=output
        )
        self.told.append(Kept(key, outcome, output))


def keep(
    store: Store, kept: Kept, *, case: str, revision: str, tree: str, environment: str, device: str
) -> None:  # fmt: skip
    """Write down what another store keeps, unless it is known."""
    if store.recall(kept.key) != kept.outcome:
        store.record(
            kept.key, kept.outcome, case=case, revision=revision, tree=tree, environment=environment, device=device,
            output=kept.output,
        )  # fmt: skip


class NotKnown(Exception):
    """Only a probe would tell."""


class Recaller(Prober):
    """A prober that runs nothing. `probe` gives what is known, or what cannot be tested anywhere, and raises `NotKnown`
    for everything else. An accelerator is another on every machine: nothing is known of it without asking."""

    def _device(self, environment: Environment, name: str) -> Device | str:
        if has_accelerator(name):
            raise NotKnown
        return super()._device(environment, name)

    def _run(
        self, subject: Subject, case: Case, environment: Environment, device: str, limits: Limits,
        tape: Tape | None = None,
    ) -> tuple[Outcome, str]:  # fmt: skip
        raise NotKnown
