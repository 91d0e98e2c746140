# SPDX-License-Identifier: Apache-2.0
"""Carrying a series: from the base that it is written against to any other revision, inside the mirror.

On its base a series must apply as it stands. Onto anything else each patch is carried by a three-way merge against
that base, and never by searching for a place where its context happens to fit: `cache_utils.py` is full of look-alike
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import Patch
from headwater.core.states import Merged, PatchState, judge_state
from headwater.effects.git import GitDir
from headwater.effects.merging import Bench, PatchStep
from headwater.effects.series_folder import Series, Variant
from headwater.effects.workspace import Cache


@dataclass(frozen=True)
class Stack:
    """A series, or its variant, on its own base: the commit of that, and a step for each patch in order."""

    series: Series
    variant: Variant | None
    base: str
    steps: tuple[PatchStep, ...]


@dataclass(frozen=True)
class Carried:
    """A patch on another revision: its state there, the commit on top of the patches before it (None where it is
    refused or changes nothing), and a reason where there is one."""

    step: PatchStep
    state: PatchState
    commit: str | None
    reason: str = ""


@dataclass(frozen=True)
class Applied:
    """A patched revision: its commit, whose parents are the patches below it, and what became of each patch."""

    commit: str
    carried: tuple[Carried, ...]

    @property
    def patches(self) -> tuple[Patch, ...]:
        """The patches that were applied, or were there already."""
        return tuple(one.step.patch for one in self.carried)


class Carrier:
    """Carries series in one repository. `commit_of` gives the commit of a release, imported if need be."""

    def __init__(self, bench: Bench, commit_of: Callable[[Version], str], package: str) -> None:
        self._bench, self._commit_of, self._package = bench, commit_of, package
        self._stacks: dict[tuple[Path, str | None], Stack] = {}

    def stack(self, series: Series, release: Version | None) -> Stack:
        """The series on the base from which it is carried to a release.

        Raises:
            PatchFailed: a patch does not apply to its base as it stands.
            BadInput: the base has another tree than its `series` file says.
        """
        variant = series.variant_for(release)
        key = series.folder, variant.name if variant else None
        if key not in self._stacks:
            self._stacks[key] = self._variant_stack(series, variant) if variant else self._default_stack(series)
        return self._stacks[key]

    def _default_stack(self, series: Series) -> Stack:
        base = self._base(series, None)
        steps = []
        onto = base
        for patch in series.patches:
            steps.append(self._strict_step(series, patch, onto, series.file.base))
            onto = steps[-1].after
        return Stack(series, None, base, tuple(steps))

    def _variant_stack(self, series: Series, variant: Variant) -> Stack:
        """A variant's own patches stand on its base as they are; the others are carried to it."""
        default = self.stack(series, series.file.base)
        own = {patch.file: patch for patch in variant.patches}
        onto = base = self._base(series, variant)
        steps = []
        for step in default.steps:
            if patch := own.get(step.patch.file):
                steps.append(self._strict_step(series, patch, onto, variant.file.base))
            else:
                carried = self.carry(step, onto)
                _require_applied(
                    series, carried, f"to {variant.file.base}, the base of variant {variant.name}",
                    f"Remove that variant, folder and `range` line, and make it anew: `headwater patch carry "
                    f"{series.name} --to {variant.file.base} --as {variant.name}`",
                )  # fmt: skip
                steps.append(PatchStep(step.patch, onto, carried.commit or onto))
            onto = steps[-1].after
        return Stack(series, variant, base, tuple(steps))

    def _base(self, series: Series, variant: Variant | None) -> str:
        file, label = (variant.file, f"{series.name}/{variant.name}") if variant else (series.file, series.name)
        commit = self._commit_of(file.base)
        seen = self._bench.git("rev-parse", f"{commit}:src/{self._package}")
        if seen != file.base_tree:
            raise BadInput(
                f"patches/{label}/series names {file.base} with tree {file.base_tree}, and that release has tree {seen}"
            )
        return commit

    def _strict_step(self, series: Series, patch: Patch, onto: str, base: Version) -> PatchStep:
        return PatchStep(patch, onto, self.add(patch, onto, series.name, str(base)))

    def add(self, patch: Patch, onto: str, series: str, base: str) -> str:
        """The commit of a patch on top of `onto`, where it must apply as it stands.

        Raises:
            PatchFailed: it does not; `series` and its `base` are named.
        """
        return self._bench.commit(patch, self._bench.apply_strictly(patch, onto, series, base), onto)

    def carry(self, step: PatchStep, onto: str) -> Carried:
        """Carry one patch onto the commit `onto`."""
        tree = self._bench.tree_of(onto)
        here = onto == step.before
        merged = Merged(self._bench.tree_of(step.after)) if here else self._bench.merge(step, onto)
        attempt = self._bench.attempt(step.patch, onto)
        state = judge_state(tree, merged, attempt)
        if state is PatchState.MISPLACED and not merged.misplaced:
            elsewhere = "git apply would put it into another place than the merge does"
            reason = elsewhere if merged.tree else f"git apply would put it somewhere, and the merge {merged.reason}"
            return Carried(step, state, None, reason)
        if not state.applies or merged.tree is None:
            return Carried(step, state, None, merged.reason)
        return Carried(step, state, step.after if here else self._bench.commit(step.patch, merged.tree, onto))

    def commit(self, patch: Patch, tree: str, onto: str) -> str:
        """A commit of `tree` with a patch's author, date and message."""
        return self._bench.commit(patch, tree, onto)

    def draft(self, step: PatchStep, onto: str) -> str:
        """The tree from which a person resolves a patch that is refused: the merge, with conflict markers."""
        return self._bench.merged_tree(step, onto)[0]

    def walk(self, stack: Stack, target: str, skip: Collection[str] = ()) -> Iterator[Carried]:
        """Carry every patch that is not skipped, each on top of those before it that apply."""
        onto = target
        for step in stack.steps:
            if step.patch.file not in skip:
                carried = self.carry(step, onto)
                onto = carried.commit or onto
                yield carried

    def texts(self, stack: Stack, targets: Sequence[str]) -> list[tuple[str | None, ...]]:
        """For each of the commits `targets` a key that is equal where the files that the series touches are: there its
        patches have the same states."""
        paths = list(dict.fromkeys(path for step in stack.steps for path in step.patch.paths))
        ids = self._bench.ids([f"{commit}:{path}" for commit in (stack.base, *targets) for path in paths])
        rows = [tuple(ids[n : n + len(paths)]) for n in range(0, len(ids), len(paths))]
        # A file that the base has and the target has not is looked for under another name: the whole tree counts.
        return [
            (*row, target) if any(had and not has for had, has in zip(rows[0], row, strict=True)) else row
            for target, row in zip(targets, rows[1:], strict=True)
        ]

    def apply(self, stack: Stack, target: str, skip: Collection[str] = (), release: Version | None = None) -> Applied:
        """Carry all patches, or none; `release` is what the commit `target` is called in errors.

        Raises:
            PatchFailed: naming the first patch that does not apply, its state and the next step.
        """
        commit = target
        done = []
        for carried in self.walk(stack, target, skip):
            base = stack.variant.file.base if stack.variant else stack.series.file.base
            _require_applied(
                stack.series, carried, f"from {base} to {release}" if release else f"from {base}",
                f"`headwater patch carry {stack.series.name} --to {release or 'RELEASE'}` makes a variant",
            )  # fmt: skip
            commit = carried.commit or commit
            done.append(carried)
        return Applied(commit, tuple(done))


def _require_applied(series: Series, carried: Carried, way: str, hint: str) -> None:
    if carried.state.refused:
        verb = "conflicts" if carried.state is PatchState.CONFLICT else "is misplaced"
        raise PatchFailed(
            f"patch {carried.step.patch.file} of series {series.name} {verb} when it is carried {way} by a three-way "
            f"merge: {carried.reason}. {hint}"
        )


@contextmanager
def carrying(cache: Cache, git: GitDir, commit_of: Callable[[Version], str], package: str) -> Iterator[Carrier]:
    """A carrier that works in a folder of its own, which goes away afterwards."""
    with cache.building("series") as folder:
        yield Carrier(Bench(git, folder), commit_of, package)


def commit_tree(cache: Cache, git: GitDir, package: str, tree: str) -> str:
    """A commit whose only content is `tree`, as `src/<package>`: what a folder of a person's is patched as."""
    with cache.building("commit") as folder:
        index, work = folder / "index", folder / "work"
        work.mkdir()
        git("read-tree", f"--prefix=src/{package}/", tree, index=index, work_tree=work)
        return git("commit-tree", "-m", f"tree {tree}", git("write-tree", index=index))
