# SPDX-License-Identifier: Apache-2.0
"""`headwater bisect`: from a failing script, test or case to the release and the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.hunt.crossing import cross
from headwater.commands.hunt.ends import find_ends, learn_at
from headwater.commands.hunt.flaky import PATIENCE, hunt_flaky
from headwater.commands.hunt.logs import Log, git_bisect_log, read_log, write_log
from headwater.commands.hunt.oracle import Oracle
from headwater.commands.hunt.plain import HuntInterrupted, commit_of, commits_between, hunt_releases, search
from headwater.commands.hunt.request import HuntRequest
from headwater.commands.hunt.survey import Survey, SurveyInterrupted, survey
from headwater.commands.reduce.origin import traced
from headwater.commands.reduce.reduce import reduce
from headwater.commands.reduce.request import FEW_LINES
from headwater.commands.remote.hands import hands, workers_of
from headwater.commands.remote.workers import Workers
from headwater.core.commits import Commit
from headwater.core.errors import BadInput, HarnessError, ToldToStop
from headwater.core.history import lines, path
from headwater.core.hunt_report import Crossing, Found, HuntChange, HuntReport, Obstacle, obstacle_of, overall
from headwater.core.marks import JUDGED, Find
from headwater.core.narrowing import StageLimits
from headwater.core.reduction_report import ReductionReport
from headwater.core.releases import is_on_main_line
from headwater.core.results import HuntResult, parse_devices
from headwater.core.revisions import Revision, name_of
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.files import write_atomically
from headwater.effects.targets import Target, load_target, upstream_files
from headwater.effects.upstream_git import Upstream
from headwater.effects.upstream_words import resolve

# Over commits a survey probes so many revisions first: every one of some hundreds would take an hour.
_COMMIT_GRID = 16


def bisect(context: Context, request: HuntRequest) -> HuntReport:
    """Hunt. Interrupted, it returns the best so far.

    Raises:
        BadInput: no such case, file, release, commit or repository; ends in the wrong order; options that exclude one
            another.
    """
    return _Hunt(context, request).run()


@dataclass
class _Hunt:
    """One hunt under way: what was found and what a reader must know grows step by step."""

    context: Context
    request: HuntRequest
    changes: list[HuntChange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    posterior: tuple[tuple[str, float], ...] = ()
    crossing: Crossing | None = None
    reduction: ReductionReport | None = None
    commits: tuple[str, ...] = ()
    workers: Workers | None = None
    result: HuntResult = "inconclusive"
    obstacle: Obstacle = "ends"
    interrupted: bool = False

    def run(self) -> HuntReport:
        self.request.check()
        oracle = self.oracle
        try:
            if self.request.find == "all":
                self._survey()
            else:
                self._hunt(self.request.find)
        except HuntInterrupted as stopped:
            self._take(stopped.found)
            self.interrupted = True
        except SurveyInterrupted as stopped:
            self._take_survey(stopped.survey)
            self.interrupted = True
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            # Whatever ends a hunt, its log holds what was seen up to there.
            self._write_logs()
        request = self.request
        return HuntReport(
            oracle.case.id, request.find, oracle.device, self.result, tuple(self.changes), oracle.rows(), oracle.ran,
            self.interrupted, tuple(self.notes), request.series, self.crossing, self.posterior, request.command,
            self.reduction, self.obstacle, self.commits, self.workers.report if self.workers else None,
        )  # fmt: skip

    @cached_property
    def upstream(self) -> Upstream | None:
        """The repository that `--repo` names, None without."""
        return self.context.upstream(self.request.repo) if self.request.repo else None

    @cached_property
    def oracle(self) -> Oracle:
        """Who answers."""
        request, context = self.request, self.context
        device, *others = parse_devices([request.device])
        if others:
            raise BadInput(f"--device {request.device}: a hunt goes over one device; hunt on each by itself")
        target = self._target()
        series = context.workspace.series(request.series) if request.series else None
        log = read_log(request.replay, request.what, device) if request.replay else Log({})
        if target.learns and log.bug:
            # What its verdicts were judged by is what the rest is judged by: nothing is learned anew.
            case = replace(target.case, signatures=log.bug, absent=log.absent)
            target = replace(target, case=case, learns=False)
            self.notes += [f"learned before, says the log: {one.words}" for one in log.bug]
            self.notes += [f"taken for absent, says the log: {one.words}" for one in log.absent]
        undo = {name_of(self._point(word)) for word in request.undo}
        self.workers = workers_of(context, request.way, series is not None)
        remote = hands(context, request.options, request.way, self.workers, request.repo) if self.workers else ()
        return Oracle(
            context, target, device, request.options, request.way.jobs, series, lambda: self._commits, log.answers,
            undo, request.deps == "period", remote,
        )  # fmt: skip

    def _target(self) -> Target:
        request, tests = self.request, None
        if self.upstream is not None and "::" in request.what:
            # The test stays as it is on the newest commit, while the library moves.
            tip = self.upstream.main()
            tests = upstream_files(self.upstream.git, tip.sha)
        target = load_target(
            self.context.workspace, request.what, cases_dir=request.cases_dir, upstream=tests,
            network=request.options.allow_network,
        )  # fmt: skip
        if target.tests_at:
            self.notes.append(f"the test is taken from commit {target.tests_at[:12]}")
        return target

    @cached_property
    def _commits(self) -> CommitSubjects:
        assert self.upstream is not None  # without a repository no word names a commit
        return self.context.commits(self.upstream)

    def _point(self, word: str) -> Revision:
        return resolve(self.upstream, word, self.context.workspace.pins.versions)

    def _hunt(self, find: Find) -> None:
        good, bad = self._ends(find)
        if good is None or bad is None:
            return
        if good == bad:
            raise BadInput(f"{self.request.good} and {self.request.bad} are the same revision; give two")
        if self.oracle.target.learns:
            self._learn(bad, good)
        by_commit = self.request.history == "commits" or any(isinstance(revision, Commit) for revision in (good, bad))
        if self.request.confidence is not None:
            self._hunt_flaky(good, bad, find, by_commit)
        elif by_commit:
            self._over_commits(_ordered(good, bad, find), find)
        else:
            assert isinstance(good, Version) and isinstance(bad, Version)
            self._take(hunt_releases(self.oracle, good, bad, find))
            self._go_on()
        if self.request.deps == "both" and self.changes:
            self._cross(self.changes[-1])
        if self.request.reduce and self.changes:
            self._reduce(self.changes[-1])

    def _ends(self, find: Find) -> tuple[Revision | None, Revision | None]:
        """Both ends; where one cannot be found the result says so."""
        good, bad = (self._point(word) if word else None for word in (self.request.good, self.request.bad))
        if good is not None and bad is not None:
            return good, bad
        if isinstance(good, Commit) or isinstance(bad, Commit):
            raise BadInput("beside a commit or a date the other end must be named too, by --good or --bad")
        if self.oracle.target.learns:
            if bad is None:
                raise BadInput(
                    f"{self.request.what} says not how its bug is known: --bad REV, where it is to be learned"
                )
            self._learn(bad, None)
        ends = find_ends(self.oracle, good, bad, find)
        if ends.missing is not None:
            self.result, self.obstacle = "bad-endpoints", ends.obstacle
            self.notes.append(ends.missing)
        return ends.good, ends.bad if ends.missing is None else None

    def _learn(self, bad: Revision, good: Revision | None) -> None:
        patience = 1 if self.request.confidence is None else PATIENCE
        told = learn_at(self.oracle, bad, good, patience)
        self.notes += [words for words in told if words not in self.notes]

    def _over_commits(self, ends: Sequence[Revision], find: Find) -> None:
        assert self.upstream is not None  # without a repository no word names a commit
        commits = commits_between(self.oracle, self.upstream, ends)
        self.commits = tuple(map(name_of, commits))
        self._commits.prefetch([commits[0], commits[-1]])
        self._take(search(self.oracle, commits, find, "commits"))

    def _go_on(self) -> None:
        """From two releases to the commits between those nearest to them. Releases that could not be judged may lie
        between the two: their commits may well be."""
        if self.request.history == "releases" or not self.changes:
            return
        change = self.changes[-1]
        where = "it ends at the release" if change.found else "it ends at the releases"
        ends = [Version(change.before), Version(change.after)]
        if not all(is_on_main_line(end) for end in ends):
            self.notes.append(f"{change.after} is a maintenance release: what it took over is not on the main line")
            return
        if self.upstream is None:
            self.notes.append(f"{where}; --repo with a clone or an address goes on to the commit")
            return
        find: Find = "fixed" if change.find == "fixed" else "introduced"
        try:
            commits = commits_between(self.oracle, self.upstream, ends)
        except BadInput as error:
            self.notes.append(f"{where}: {error}")
            return
        self.commits = tuple(map(name_of, commits))
        found = search(self.oracle, commits, find, "commits")
        if found.change is None:
            seen = [self.oracle.row(name_of(end)).verdict.words for end in (commits[0], commits[-1])]
            self.notes.append(
                f"{where}: the commits nearest to {change.before} and {change.after} are {seen[0]} and {seen[1]}"
            )
            self.notes += found.notes
            return
        self._take(found)

    def _hunt_flaky(self, good: Revision, bad: Revision, find: Find, by_commit: bool) -> None:
        ends = _ordered(good, bad, find)
        revisions: Sequence[Revision]
        if by_commit:
            assert self.upstream is not None
            revisions = commits_between(self.oracle, self.upstream, ends)
        else:
            old, new = ends
            assert isinstance(old, Version) and isinstance(new, Version)
            revisions = path(old, new, self.context.workspace.pins.versions)
            self._note_no_commits("--confidence")
        confidence = self.request.confidence
        assert confidence is not None
        self._take(hunt_flaky(self.oracle, revisions, find, "commits" if by_commit else "releases", confidence))

    def _note_no_commits(self, option: str) -> None:
        """Say where a repository was named, and is not used."""
        if self.request.repo is not None and self.request.history == "auto":
            self.notes.append(f"with {option} a hunt over releases stays there; --history commits goes over commits")

    def _survey(self) -> None:
        known = self.context.workspace.pins.versions
        good, bad = (self._point(word) if word else None for word in (self.request.good, self.request.bad))
        if self.oracle.target.learns:
            if bad is None:
                raise BadInput(
                    f"{self.request.what} says not how its bug is known: --bad REV, where it is to be learned"
                )
            self._learn(bad, good)
            if not self.oracle.case.signatures:
                # Whatever else was probed, nothing could be bad.
                self.result = "bad-endpoints"
                self.obstacle = obstacle_of([self.oracle.row(name_of(bad)).verdict])
                return
        if self.request.history == "commits" or isinstance(good, Commit) or isinstance(bad, Commit):
            self._survey_commits(good, bad)
            return
        tree = lines(*_range(good, bad, known), known)
        self._note_no_commits("--find all")
        found = survey(self.oracle, tree, "releases", self.request.grid, self.request.exhaustive)
        self._take_survey(found)

    def _survey_commits(self, good: Revision | None, bad: Revision | None) -> None:
        if good is None or bad is None or self.upstream is None:
            raise BadInput("--find all over commits needs --repo, and both ends by --good and --bad")
        ends = [commit_of(self.oracle, self.upstream, end) for end in (good, bad)]
        commits = self.upstream.first_parent(*sorted(ends, key=lambda commit: commit.date))
        grid = self.request.grid or min(_COMMIT_GRID, len(commits))
        self._take_survey(survey(self.oracle, [commits], "commits", max(2, grid), self.request.exhaustive))

    def _cross(self, change: HuntChange) -> None:
        before, after = (self._point(word) for word in (change.before, change.after))
        try:
            self.crossing, why = cross(self.oracle, before, after)
        except ToldToStop:
            raise
        except HarnessError as error:
            # What was found stays found.
            why = f"code and packages were not crossed: {error}"
        if why:
            self.notes.append(why)

    def _reduce(self, change: HuntChange) -> None:
        """Go on from two neighbours to the hunks between them."""
        if not change.found:
            self.notes.append("it was not reduced: no two neighbours were found")
            return
        before, after = (self._point(word) for word in (change.before, change.after))
        try:
            self.reduction = reduce(self.oracle, before, after, StageLimits(lines=FEW_LINES))
        except ToldToStop:
            raise
        except (BadInput, HarnessError) as error:
            # What was found stays found.
            self.notes.append(f"it was not reduced: {error}")
            return
        if self.upstream is not None and self.reduction.hunks:
            self.reduction = traced(self.oracle, self.upstream, self.reduction, before, after)
        self.interrupted = self.reduction.interrupted

    def _take(self, found: Found) -> None:
        self.notes += found.notes
        self.posterior, self.obstacle = found.posterior, found.obstacle
        if found.change is not None:
            self.changes.append(found.change)
        # Interrupted before the commits' ends are proved, what was found over releases stays found.
        known = len(self.changes) > 1 or (self.changes and found.change is None)
        self.result = overall(self.changes) if known else found.result

    def _take_survey(self, found: Survey) -> None:
        self.changes = list(found.changes)
        self.notes += found.notes
        self.result = overall(self.changes) if found.complete else "range"
        seen = {row.verdict for row in self.oracle.rows()}
        if not self.changes and found.complete and seen.isdisjoint(JUDGED):
            self.result, self.obstacle = "inconclusive", obstacle_of(seen)

    def _write_logs(self) -> None:
        request = self.request
        if request.log is not None:
            write_log(request.log, self.oracle, request.what)
        if request.git_log is not None:
            over_commits = [change for change in self.changes if change.level == "commits"]
            if not over_commits:
                self.notes.append(f"{request.git_log} was not written: the hunt did not go over commits")
                return
            write_atomically(request.git_log, git_bisect_log(self.oracle, over_commits[-1]))


def _ordered(good: Revision, bad: Revision, find: Find) -> tuple[Revision, Revision]:
    """The older end first."""
    return (good, bad) if find == "introduced" else (bad, good)


def _range(good: Revision | None, bad: Revision | None, known: Sequence[Version]) -> tuple[Version, Version]:
    """What a survey of releases goes over: from the one end to the other; from a good end on. A bad end alone says
    where the bug is known, and not where it began or ended: then all are gone over."""
    ends = [end for end in (good, bad) if isinstance(end, Version)]
    if len(ends) == 2:
        return min(ends), max(ends)
    return (good if isinstance(good, Version) and good != max(known) else min(known)), max(known)
