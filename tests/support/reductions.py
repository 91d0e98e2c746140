# SPDX-License-Identifier: Apache-2.0
"""Differences with a planted cause, a judge that knows it, and the plain delta debugging to compare with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from headwater.core.changesets import Unit
from headwater.core.likely import Likely
from headwater.core.narrowing import PartOutcome
from headwater.core.reduction import Reduction

Subset = frozenset[Unit]
Judge = Callable[[Subset], PartOutcome]


@dataclass(frozen=True)
class World:
    """A difference of which the cause is known: `enough` are the least subsets that flip; of `bound` pairs one half
    alone cannot be judged; of one subset in `sprinkled` neither (0: of none), whatever it holds."""

    seed: int
    units: tuple[Unit, ...]
    likely: Likely
    enough: tuple[Subset, ...]
    bound: tuple[tuple[Unit, Unit], ...]
    sprinkled: int

    def judge(self, subset: Subset) -> PartOutcome:
        """What a probe of a subset says."""
        if any((one in subset) != (other in subset) for one, other in self.bound):
            return PartOutcome.UNJUDGED
        inner = 0 < len(subset) < len(self.units)
        if self.sprinkled and inner and random.Random(f"{self.seed} {sorted(subset)}").random() < 1 / self.sprinkled:
            return PartOutcome.UNJUDGED
        return PartOutcome.FLIPS if any(cause <= subset for cause in self.enough) else PartOutcome.STAYS


def make_world(seed: int, *, sprinkled: int = 0, information: str | None = None) -> World:
    """A world of up to forty files. `information` is what a recorded run tells: good (the cause is in the core), some
    (it is kept), wrong (a part of it was set aside), or none (all is kept)."""
    rng = random.Random(seed)
    units = [Unit(f"f{n:02}.py", h) for n in range(rng.randint(1, 40)) for h in range(1, rng.randint(2, 9))]
    cause = rng.sample(units, min(len(units), rng.randint(1, 4)))
    kind = rng.choice(["independent", "dependent", "alternative"])
    bound = []
    enough = [frozenset(cause)]
    if kind == "dependent":
        bound = list(zip(cause[::2], cause[1::2], strict=False))
    elif kind == "alternative" and len(cause) > 2:
        enough = [frozenset(pair) for pair in combinations(cause, 2)]
    innocent = [unit for unit in units if unit not in cause]
    rng.shuffle(innocent)
    bound += list(zip(innocent[:4:2], innocent[1:4:2], strict=False))[: rng.randint(0, 2)]
    told = information or rng.choice(["good", "some", "wrong", "none"])
    return World(seed, tuple(units), _told(rng, units, cause, told), tuple(enough), tuple(bound), sprinkled)


def _told(rng: random.Random, units: Sequence[Unit], cause: Sequence[Unit], told: str) -> Likely:
    kept = {unit for unit in units if rng.random() < 0.2} | set(cause)
    core = {unit for unit in kept if rng.random() < 0.2} | set(cause)
    if told == "none":
        kept = set(units)
    if told == "wrong":
        kept.remove(cause[0])
    cores = [frozenset(core)] if told in ("good", "wrong") else []
    first = frozenset(core if cores else ())
    order = sorted(units, key=lambda unit: (unit not in first, unit not in kept, unit))
    return Likely(frozenset(kept), tuple(c & frozenset(kept) for c in cores), tuple(order))


def drive(reduction: Reduction, judge: Judge, count: int = 1, seed: int = 0) -> int:
    """Run a reduction to its end with up to `count` tests under way, which come back in a random order. Gives the
    number of tests, having checked what must hold at every step."""
    rng = random.Random(seed)
    pending: list[Subset] = []
    asked: set[Subset] = set()
    while not reduction.done:
        steps = reduction.next_steps(count - len(pending), pending)
        assert len(steps) <= count - len(pending)
        assert not asked.intersection(steps), "nothing is tested twice"
        asked.update(steps)
        pending += steps
        assert pending, "the search goes on, and asks nothing"
        subset = pending.pop(rng.randrange(len(pending)))
        reduction.mark(subset, judge(subset))
    return len(asked)


def plain_ddmin(world: World) -> int:
    """The number of probes of Zeller and Hildebrandt's ddmin over files and then over hunks, without anything known
    of what ran: subsets, then complements, then a finer split; what was tested is remembered."""
    known: dict[Subset, bool] = {frozenset(world.units): True, frozenset(): False}
    probes = 0

    def flips(groups: Iterable[Subset]) -> bool:
        nonlocal probes
        subset = frozenset().union(*groups)
        if subset not in known:
            probes += 1
            known[subset] = world.judge(subset) is PartOutcome.FLIPS
        return known[subset]

    files = [frozenset(u for u in world.units if u.path == path) for path in sorted({u.path for u in world.units})]
    left = _ddmin(files, flips)
    _ddmin([frozenset([unit]) for group in left for unit in sorted(group)], flips)
    return probes


def _ddmin(items: list[Subset], flips: Callable[[Iterable[Subset]], bool]) -> list[Subset]:
    parts = 2
    while len(items) > 1:
        size = -(-len(items) // parts)
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        rests = [[item for item in items if item not in chunk] for chunk in chunks]
        if (smaller := next(filter(flips, chunks), None)) is not None:
            items, parts = smaller, 2
        elif (smaller := next(filter(flips, rests), None)) is not None:
            items, parts = smaller, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(parts * 2, len(items))
    return items
