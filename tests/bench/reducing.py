# SPDX-License-Identifier: Apache-2.0
"""What it takes to find the hunks that mended the main bug, in probes, against plain delta debugging over files and
then hunks with the same prober."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from packaging.version import Version
from samples import Row, Samples

from headwater.commands.context import Context
from headwater.commands.hunt.oracle import Oracle
from headwater.commands.reduce.reduce import reduce
from headwater.commands.reduce.request import ReduceOptions, make_oracle
from headwater.core.changesets import Unit
from headwater.core.errors import HarnessError
from headwater.core.verdicts import Verdict
from headwater.effects.partial_trees import PartialTrees
from headwater.effects.probe import ProbeOptions

CASE = "early-init"
OLD, NEW = Version("5.12.1"), Version("5.13.0")
HUNKS = 3
AIM = 1 / 4
Group = frozenset[Unit]


class Plain:
    """Delta debugging that knows nothing of what the case runs. `asked` counts its probes."""

    def __init__(self, oracle: Oracle, tell: Callable[[str], None]) -> None:
        self._oracle, self._tell = oracle, tell
        context = oracle.context
        self._old, new = oracle.subject(OLD), oracle.subject(NEW)
        for subject in (self._old, new):
            subject.bring()
        package = context.workspace.pins.package
        self._partial = PartialTrees(
            context.cache, context.mirror.git, context.trees, package, self._old.tree, new.tree
        )
        self._changes = self._partial.difference()
        self._seen: dict[str, bool] = {}
        self.asked = 0

    def run(self) -> Group:
        """The hunks that are left."""
        files: dict[str, Group] = {}
        for unit in self._changes.units:
            files[unit.path] = files.get(unit.path, frozenset()) | {unit}
        left = frozenset[Unit]().union(*ddmin(list(files.values()), self._flips))
        return frozenset[Unit]().union(*ddmin([frozenset([unit]) for unit in sorted(left)], self._flips))

    def _flips(self, groups: Sequence[Group]) -> bool:
        tree = self._partial.make(self._changes.applied(frozenset[Unit]().union(*groups)))
        if tree not in self._seen:
            self.asked += 1
            subject = replace(self._old, revision=f"{OLD} in part", tree=tree, lay_out=self._partial.passing(tree))
            row = self._oracle.ask_of(subject).result()
            self._partial.let_go(tree)
            self._seen[tree] = row.verdict is Verdict.GOOD
            self._tell(f"ddmin: probe {self.asked}, of {len(groups)} parts: {row.verdict.words}")
        return self._seen[tree]


def ddmin(parts: list[Group], flips: Callable[[Sequence[Group]], bool]) -> list[Group]:
    """The algorithm of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002."""
    count = 2
    while len(parts) >= 2:
        bounds = [len(parts) * number // count for number in range(count + 1)]
        chunks = [parts[low:high] for low, high in pairwise(bounds)]
        rests = [parts[:low] + parts[high:] for low, high in pairwise(bounds)]
        if (chunk := next((chunk for chunk in chunks if flips(chunk)), None)) is not None:
            parts, count = chunk, 2
        elif count > 2 and (rest := next((rest for rest in rests if flips(rest)), None)) is not None:
            parts, count = rest, count - 1
        elif count >= len(parts):
            break
        else:
            count = min(2 * count, len(parts))
    return parts


def measure(context: Context, tell: Callable[[str], None]) -> list[Row]:
    """Count the probes of both; no verdict is taken from before.

    Raises:
        HarnessError: the reduction has another answer.
    """
    options = ReduceOptions("cpu", None, 1, 3, None, None, ProbeOptions(fresh=True))
    oracle, _upstream = make_oracle(context, CASE, options)
    report = reduce(oracle, OLD, NEW, options.limits)
    if len(report.hunks) != HUNKS or not report.minimal:
        raise HarnessError(f"{OLD} to {NEW} was reduced to {len(report.hunks)} hunks, not {HUNKS}")
    tell(f"reduction: {report.asked} probes, {len(report.hunks)} hunks")
    plain = Plain(oracle, tell)
    left = plain.run()
    what = f"reduction of {OLD} to {NEW} to {len(report.hunks)} hunks"
    measured = Samples(what, (report.asked,), "probes")
    return [Row(measured, Samples(f"ddmin, to {len(left)} hunks", (plain.asked,), "probes"), AIM)]
