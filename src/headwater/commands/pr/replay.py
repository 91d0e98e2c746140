# SPDX-License-Identifier: Apache-2.0
"""From a bundle's own patches to its evidence: applied, probed and compared, alike where it is made and where somebody
replays it."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from headwater.commands.context import Context
from headwater.commands.patch.probing import own_tests
from headwater.commands.pr.target import Target, trees_by_am
from headwater.core.cases import Case
from headwater.core.errors import BadInput, EnvironmentUnavailable, HarnessError, PatchFailed
from headwater.core.mail import Patch
from headwater.core.pr_evidence import (
    TESTS,
    CaseEvidence,
    EnvironmentEvidence,
    Line,
    PatchEvidence,
    TargetEvidence,
    sight_of,
)
from headwater.core.results import has_accelerator
from headwater.effects.carrying import Carrier
from headwater.effects.merging import PatchStep
from headwater.effects.probe import Prober, Subject


@dataclass(frozen=True)
class Bundle:
    """Patches as they are sent, in order, with the cases of each by its file and the sha256 of the file of the series
    that it was made of; the cases themselves by id; and where they are probed."""

    series: str
    patches: tuple[Patch, ...]
    cases: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, str]
    known: Mapping[str, Case]
    devices: tuple[str, ...]
    releases: tuple[str, ...] = ()

    @property
    def contents(self) -> list[tuple[str, bytes]]:
        """The patch files."""
        return [(patch.file, patch.content) for patch in self.patches]


@dataclass(frozen=True)
class Stage:
    """A revision with patches on it, up to and with one: what is probed, and the commit in the mirror."""

    subject: Subject
    commit: str


@dataclass(frozen=True)
class Ground:
    """A revision as it is, and with each patch more."""

    bare: Subject
    stages: tuple[Stage, ...]

    def below(self, number: int) -> Subject:
        """What the patch of a number lies on."""
        return self.stages[number - 1].subject if number else self.bare


def lay_grounds(context: Context, target: Target, bundle: Bundle) -> list[Ground]:
    """The target with each patch more, every hunk at its very line; then the other releases, carried there by merges.

    Raises:
        BadInput: a release that is none, or on which a patch brings two test files of one name.
        PatchFailed: a patch does not apply.
    """
    with context.subjects.carrier() as carrier:
        steps, onto = [], target.commit
        for patch in bundle.patches:
            steps.append(PatchStep(patch, onto, carrier.add(patch, onto, bundle.series, target.subject.revision)))
            onto = steps[-1].after
        grounds = [_ground(context, target.subject, [step.after for step in steps], bundle)]
        for release in bundle.releases:
            grounds.append(_carried(context, carrier, steps, release, bundle))
    return grounds


def _carried(context: Context, carrier: Carrier, steps: Sequence[PatchStep], release: str, bundle: Bundle) -> Ground:
    pin = context.workspace.pins.find(release)
    commits, onto = [], context.mirror.ensure(pin)
    for step in steps:
        carried = carrier.carry(step, onto)
        if carried.state.refused:
            raise PatchFailed(
                f"{step.patch.file} does not apply on {release} ({carried.state.words}: {carried.reason}); leave "
                f"{release} out of --releases"
            )
        onto = carried.commit or onto
        commits.append(onto)
    return _ground(context, context.subjects.release(pin), commits, bundle)


def _ground(context: Context, bare: Subject, commits: Sequence[str], bundle: Bundle) -> Ground:
    stages = []
    for commit in commits:
        tree = context.mirror.library_tree(commit)
        lay_out = partial(context.trees.ensure, tree)
        stages.append(Stage(replace(bare, tree=tree, lay_out=lay_out, series=bundle.series), commit))
    return Ground(bare, tuple(stages))


def require_am(context: Context, target: Target, bundle: Bundle, ground: Ground) -> str:
    """See that `git am` itself makes of the target what was probed; the id of the whole tree then.

    Raises:
        PatchFailed: git refuses a patch.
        HarnessError: something else comes out.
    """
    trees = trees_by_am(context, target, bundle.contents)
    if [library for _whole, library in trees] != [stage.subject.tree for stage in ground.stages]:
        raise HarnessError(f"`git am` makes other trees of {target.subject.revision} than were probed: {trees}")
    return trees[-1][0]


def describe_target(target: Target, after_am: str) -> TargetEvidence:
    """The target as evidence names it."""
    subject = target.subject
    rules = target.rules.revision if target.rules else None
    return TargetEvidence(
        target.kind, target.word, subject.revision, str(target.version), subject.tree, after_am, rules
    )


def patch_evidence(
    context: Context, prober: Prober, bundle: Bundle, grounds: Sequence[Ground], only: str | None = None
) -> tuple[PatchEvidence, ...]:
    """What is seen of each patch, or of the one of the file `only`, on every ground and device."""
    found = []
    for number, patch in enumerate(bundle.patches):
        if only in (None, patch.file):
            lines = [line for ground in grounds for line in _lines(context, prober, bundle, ground, number)]
            found.append(_one_patch(context, bundle, patch, grounds, number, tuple(lines)))
    return tuple(found)


def _one_patch(
    context: Context, bundle: Bundle, patch: Patch, grounds: Sequence[Ground], number: int, lines: tuple[Line, ...]
) -> PatchEvidence:
    trees = {ground.bare.revision: ground.stages[number].subject.tree for ground in grounds}
    return PatchEvidence(
        file=patch.file,
        sha256=hashlib.sha256(patch.content).hexdigest(),
        patch_id=patch_id(context, patch),
        source=bundle.sources[patch.file],
        subject=patch.subject,
        trees=trees,
        cases=bundle.cases[patch.file],
        tests=patch.tests,
        lines=lines,
    )


def patch_id(context: Context, patch: Patch) -> str:
    """git's id of a patch, which line numbers and commit ids do not change; see git-patch-id(1)."""
    with tempfile.TemporaryFile() as diff:
        diff.write(patch.diff)
        diff.seek(0)
        return context.mirror.git("patch-id", "--stable", stdin=diff).split()[0]


def _lines(context: Context, prober: Prober, bundle: Bundle, ground: Ground, number: int) -> list[Line]:
    patch = bundle.patches[number]
    stage, whole = ground.stages[number], ground.stages[-1]
    names = [path.rpartition("/")[2] for path in patch.tests]
    if len(set(names)) < len(names):
        raise BadInput(f"{patch.file} brings two test files of one name: {', '.join(sorted(patch.tests))}")
    lines = []
    for device in bundle.devices:
        asked = [(case, bundle.known[case]) for case in bundle.cases[patch.file]]
        if names and (device == "cpu" or has_accelerator(device)):
            asked.append((TESTS, own_tests(context, patch, stage.commit)))
        for what, case in asked:
            rows = [prober.probe(one, case, device) for one in (ground.below(number), stage.subject, whole.subject)]
            lines.append(Line(what, ground.bare.revision, device, *map(sight_of, rows)))
    return lines


def environments(context: Context, grounds: Sequence[Ground]) -> tuple[EnvironmentEvidence, ...]:
    """Where each revision ran; a revision without an environment has none, and its probes say so."""
    found = []
    for ground in grounds:
        try:
            here = context.environments.describe(ground.bare.pin, ground.bare.dated)
        except EnvironmentUnavailable:
            continue
        parts = here.key, here.torch, here.python_version, here.platform
        found.append(EnvironmentEvidence(ground.bare.revision, here.name, *parts))
    return tuple(found)


def case_evidence(known: Mapping[str, Case], wanted: Iterable[str]) -> dict[str, CaseEvidence]:
    """Those of the cases `wanted` that are known, by id."""
    found = {}
    for case in sorted(set(wanted) & known.keys()):
        files = known[case].files
        sums = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
        found[case] = CaseEvidence(known[case].file, sums)
    return found
