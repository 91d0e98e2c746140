# SPDX-License-Identifier: Apache-2.0
"""A reduction: from two subjects that differ to the smallest part of the difference that flips a verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial

from headwater.commands.hunt.ends import learn_at, look_at
from headwater.commands.hunt.oracle import Oracle, first_done
from headwater.core.changesets import Unit
from headwater.core.errors import BadInput, HarnessError
from headwater.core.events import Finished, Note, Started
from headwater.core.likely import Frame, Likely, Recorded, judge_units
from headwater.core.narrowing import PartOutcome, StageLimits
from headwater.core.recording import Recording
from headwater.core.reduction import Reduction, Subset, Tested
from headwater.core.reduction_report import KeptHunk, ReductionReport, Size, Step, Whole
from headwater.core.results import ProbeResult
from headwater.core.revisions import Revision, name_of, short_name
from headwater.core.syntax import Syntax, line_layers
from headwater.core.verdicts import Verdict
from headwater.effects.partial_trees import PartialTrees
from headwater.effects.probe import Subject

_JUDGED = (Verdict.GOOD, Verdict.ABSENT, Verdict.BAD)
# What is no word about the part that was probed; another failure and an import that fails are its own doing.
_SAYS_NOTHING = (Verdict.HARNESS_ERROR, Verdict.FLAKY, Verdict.UNAVAILABLE)


def part_outcome(verdict: Verdict, old: Verdict, new: Verdict) -> PartOutcome:
    """What a verdict between two ends says: the new side's flips; the old side's stays, as does `good` for `absent` and
    the other way round where the new side is `bad`. Everything else cannot tell."""
    if verdict is new:
        return PartOutcome.FLIPS
    unhurt = (Verdict.GOOD, Verdict.ABSENT)
    if verdict is old or (new is Verdict.BAD and verdict in unhurt and old in unhurt):
        return PartOutcome.STAYS
    return PartOutcome.UNJUDGED


def reduce(oracle: Oracle, old: Revision, new: Revision, limits: StageLimits) -> ReductionReport:
    """Reduce what lies between two revisions. Interrupted, it returns the best so far.

    Raises:
        BadInput: both are the same tree.
        HarnessError: the case could not be recorded, or two probes of one tree disagreed.
    """
    if oracle.subject(old).tree == oracle.subject(new).tree:
        raise BadInput(f"{name_of(old)} and {name_of(new)} are the same tree: nothing differs")
    notes = _prove(oracle, old, new)
    verdicts = oracle.row(name_of(old)).verdict, oracle.row(name_of(new)).verdict
    report = ReductionReport(
        oracle.case.id, oracle.device, (name_of(old), name_of(new)), verdicts, "bad-endpoints", (), "", None, (),
        False, False, False, (), oracle.rows(), oracle.ran, False, tuple(notes),
    )  # fmt: skip
    if verdicts[0] is verdicts[1] or not {*verdicts} <= {*_JUDGED}:
        return replace(report, notes=(*notes, *_next_steps(oracle, report)))
    return _Narrower(oracle, old, new, limits, report).run()


def _prove(oracle: Oracle, old: Revision, new: Revision) -> list[str]:
    """Probe both ends, twice; learn how the bug is known where the target says not."""
    for revision in (old, new, old, new):
        if len(oracle.verdicts(name_of(revision))) < 2:
            look_at(oracle, revision)
    if not oracle.target.learns:
        return []
    # The end that failed is the bad one; where both did, the older one is taken for lacking the feature.
    ended = [all(o.end == "returned" for o in oracle.row(name_of(revision)).outcomes) for revision in (old, new)]
    bad, good = (old, new) if ended[1] and not ended[0] else (new, old)
    return learn_at(oracle, bad, good)


def _next_steps(oracle: Oracle, report: ReductionReport) -> list[str]:
    """What can be done about ends that cannot be reduced between."""
    old, new = report.verdicts
    if old is new and old in _JUDGED:
        return ["`headwater bisect ... --find all` shows between which releases the verdict changes"]
    flaky = [end for end, verdict in zip(report.ends, report.verdicts, strict=True) if verdict is Verdict.FLAKY]
    return [
        f"{oracle.case.id} is flaky on {short_name(end)}, and a reduction takes a case that says the same every time: "
        "let it try in `run` as often as it takes to show the bug. `headwater bisect ... --confidence 0.95` finds "
        "the release as it is"
        for end in flaky
    ]


@dataclass
class _Narrower:
    """One reduction under way."""

    oracle: Oracle
    old: Revision
    new: Revision
    limits: StageLimits
    report: ReductionReport
    _probes: dict[str, ProbeResult] = field(default_factory=dict)
    _trees: dict[str, str] = field(default_factory=dict)
    _steps: list[Step] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def run(self) -> ReductionReport:
        oracle, context = self.oracle, self.oracle.context
        subjects = [oracle.subject(revision) for revision in (self.old, self.new)]
        for subject in subjects:
            subject.bring()
            subject.lay_out()
        self._base = self._common_ground(subjects[0], subjects[1])
        self._partial = PartialTrees(
            context.cache, context.mirror.git, context.trees, context.workspace.pins.package,
            subjects[0].tree, subjects[1].tree,
        )  # fmt: skip
        recordings = [self._record(subject) for subject in subjects]
        self._changes = self._partial.difference()
        syntax = Syntax(self._changes)
        old, new = (_recorded(recording) for recording in recordings)
        likely = judge_units(self._changes, old, new, syntax)
        self._machine = Reduction(
            likely,
            split=lambda unit: line_layers(self._changes, unit, new.executed.get(unit.path)),
            valid=syntax, key=self._changes.key, size=self._changes.size, limits=self.limits,
        )  # fmt: skip
        # What is left of a single hunk without it is the old side, which no search asks for.
        self._probes[self._changes.key(())] = self.oracle.row(name_of(self.old))
        interrupted = False
        try:
            self._search()
        except KeyboardInterrupt:
            interrupted = True
        return self._result(likely, interrupted)

    def _common_ground(self, old: Subject, new: Subject) -> Subject:
        """The old subject, in an environment in which both ends show what they show in their own.

        Raises:
            BadInput: there is none: the packages changed the verdict, not the library.
        """
        environments = self.oracle.context.environments
        keys = [environments.describe(subject.pin, subject.dated).key for subject in (old, new)]
        if keys[0] == keys[1]:
            return old
        verdicts = self.report.verdicts
        if self.oracle.probe_in(new, "its own packages").verdict is not verdicts[1]:
            raise BadInput(f"{new.revision} disagrees with itself; --repeat shows how often")
        if self.oracle.probe_in(_in_place_of(new, old), f"the packages of {old.revision}").verdict is verdicts[1]:
            return old
        if self.oracle.probe_in(_in_place_of(old, new), f"the packages of {new.revision}").verdict is verdicts[0]:
            self._notes.append(f"all was tried with the packages of {new.revision}: the change needs them beside it")
            return _in_place_of(old, new)
        raise BadInput(
            f"between {old.revision} and {new.revision} the packages changed the verdict, not the library alone; "
            "`headwater bisect ... --deps both` shows which"
        )

    def _record(self, subject: Subject) -> Recording:
        what = f"recording what {self.oracle.case.id} runs on {short_name(subject.revision)}"
        self.oracle.context.emit(Started(what, what))
        try:
            recording = self.oracle.record(subject)
        finally:
            self.oracle.context.emit(Finished(what))
        if recording.gaps:
            self.oracle.context.emit(Note(f"{what} may have missed something: {'; '.join(recording.gaps)}"))
        return recording

    def _search(self) -> None:
        """Keep `jobs` probes running until nothing is left to test."""
        pending: dict[Future[ProbeResult], Subset] = {}
        try:
            while True:
                free = self.oracle.jobs - len(pending)
                for subset in self._machine.next_steps(free, pending.values()) if free else []:
                    pending[self.oracle.ask_of(self._subject(subset))] = subset
                if not pending:
                    return
                for future in first_done(pending):
                    self._take(pending[future], future.result())
                    del pending[future]
        finally:
            self._abandon(pending)

    def _abandon(self, pending: Mapping[Future[ProbeResult], Subset]) -> None:
        """End what still runs, and take its trees away: nobody will."""
        if not pending:
            return
        self.oracle.abandon()
        for future in pending:
            future.cancel()
        wait(pending)
        for subset in pending.values():
            self._partial.let_go(self._trees[self._changes.key(subset)])

    def _subject(self, subset: Subset) -> Subject:
        tree = self._partial.make(self._changes.applied(subset))
        self._trees[self._changes.key(subset)] = tree
        hunks = len({unit.whole for unit in subset})
        name = f"{self._base.revision} with {hunks} of {len(self._changes.units)} hunks"
        return replace(self._base, revision=name, tree=tree, lay_out=partial(self._partial.passing(tree)))

    def _take(self, subset: Subset, row: ProbeResult) -> None:
        key = self._changes.key(subset)
        outcome = part_outcome(row.verdict, *self.report.verdicts)
        self._probes[key] = row
        try:
            self._machine.mark(subset, outcome)
        except ValueError as error:
            raise HarnessError(f"{error}; --repeat N confirms by repetition") from error
        finally:
            self._partial.let_go(self._trees[key])
        left = self._step(subset, outcome, row).left
        words = f"{len(self._steps)} · {row.revision} · {row.verdict.words} · {row.seconds:.1f} s"
        self.oracle.context.emit(Note(f"{words} · {left.files} files, {left.hunks} hunks, {left.lines} lines left"))

    def _step(self, subset: Subset, outcome: PartOutcome, row: ProbeResult) -> Step:
        """Keep what the search did, for a picture of it."""
        size = self._size(subset)
        before = self._steps[-1].left if self._steps else self._size(self._changes.units)
        left = min(before, size) if outcome is PartOutcome.FLIPS else before
        self._steps.append(Step(self._machine.log[-1].stage, size, outcome, row, left))
        return self._steps[-1]

    def _size(self, units: Collection[Unit]) -> Size:
        return Size(
            len({unit.path for unit in units}), len({unit.whole for unit in units}), sum(map(self._changes.size, units))
        )

    def _result(self, likely: Likely, interrupted: bool) -> ReductionReport:
        answer = self._machine.answer()
        tree = self._partial.make(self._changes.applied(answer.subset))
        hunks: dict[Unit, list[Unit]] = {}
        for unit in sorted(answer.subset):
            hunks.setdefault(unit.whole, []).append(unit)
        kept = tuple(self._kept(hunk, units, answer.needed_by) for hunk, units in hunks.items())
        doubts = _doubts(kept)
        unsure = {step.stage for step in self._steps if step.row.verdict in _SAYS_NOTHING}
        minimal = answer.minimal and not doubts
        whole = Whole(
            len(self._changes.files), len(self._changes.units), len({unit.path for unit in likely.kept}),
            len(likely.kept),
        )  # fmt: skip
        return replace(
            self.report, result="found" if minimal else "not-minimal", hunks=kept,
            diff=self._partial.patch_of(tree).decode("utf-8", "replace"), whole=whole,
            stages=tuple(self._machine.stages), minimal=minimal,
            pair_minimal=minimal and answer.pair_minimal and "pairs" not in unsure,
            line_minimal=answer.line_minimal and "lines" not in unsure, steps=tuple(self._steps),
            rows=self.oracle.rows(), ran=self.oracle.ran, interrupted=interrupted, tree=tree,
            notes=(*self.report.notes, *self._notes, *doubts),
        )  # fmt: skip

    def _kept(self, hunk: Unit, units: list[Unit], needed_by: Mapping[Unit, Tested]) -> KeptHunk:
        tested = needed_by.get(hunk) or needed_by.get(units[0])
        row = self._probes.get(self._changes.key(tested.subset)) if tested else None
        lines = sum(self._changes.size(unit) for unit in units)
        return KeptHunk(hunk.path, self._changes.header(hunk), lines, row, tested.outcome if tested else None)


def _doubts(hunks: Sequence[KeptHunk]) -> list[str]:
    """What is not known of hunks whose probe says nothing of the library."""
    return [
        f"whether {hunk.file} {hunk.header} is needed is not known: without it the probe was {row.verdict.words} "
        f"({row.evidence.message})"
        for hunk in hunks
        if (row := hunk.needed_by) is not None and row.verdict in _SAYS_NOTHING
    ]


def _in_place_of(subject: Subject, other: Subject) -> Subject:
    """A subject in the environment of another."""
    return replace(subject, pin=other.pin, dated=other.dated)


def _recorded(recording: Recording) -> Recorded:
    return Recorded(
        recording.imported, recording.lines, tuple(Frame(frame.file, frame.line) for frame in recording.frames)
    )
