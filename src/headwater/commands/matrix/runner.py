# SPDX-License-Identifier: Apache-2.0
"""From a cell to its verdict: what a hand needs, on this machine or another, to run cells that are sent to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from headwater.commands.context import Context
from headwater.commands.hand import Hand
from headwater.core.cases import Case
from headwater.core.errors import BadInput, HarnessError, PatchFailed
from headwater.core.matrix import Cell
from headwater.core.releases import parse_version
from headwater.core.results import ProbeResult
from headwater.core.verdicts import Evidence, Verdict
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.probe import Subject
from headwater.effects.targets import UpstreamFiles, upstream_files, upstream_suite
from headwater.effects.upstream_git import Upstream


@dataclass
class CellRunner:
    """Runs cells with the workspace and caches of `context`. `repo` is the upstream repository that the cells' commits
    are from, None without one; `cases_dir` a folder with cases beside the workspace's, unless `known` are the cases by
    id. Threads may share one, each with a hand of its own."""

    context: Context
    repo: str | None
    cases_dir: Path | None
    known: Mapping[str, Case] | None = None
    _subjects: dict[tuple[str, str | None], Subject] = field(default_factory=dict, init=False)
    _cases: dict[tuple[str, str, str | None], Case | None] = field(default_factory=dict, init=False)
    _commits: CommitSubjects | None = field(default=None, init=False)
    _upstream: Upstream | None = field(default=None, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def run(self, cell: Cell, hand: Hand) -> ProbeResult:
        """Run one cell, or recall it. What keeps one cell from being run is its result, and no end of the others.

        Raises:
            ToldToStop: what was run ended with an exit status from 128 on.
        """
        try:
            # Worked out by one thread at a time: for the others it is there then.
            with self._lock:
                case, subject = self._case(cell), self._subject(cell)
        except PatchFailed as error:
            return _without_probe(cell, Verdict.UNTESTABLE, "PatchFailed", str(error))
        except (BadInput, HarnessError) as error:
            verdict = Verdict.UNTESTABLE if isinstance(error, BadInput) else Verdict.HARNESS_ERROR
            return _without_probe(cell, verdict, type(error).__name__, str(error))
        if case is None:
            return self._without_tests(cell)
        return hand.probe(subject, case, cell.device)

    def give(self, revision: str, subject: Subject) -> None:
        """Say what a revision is, so that it is not looked for."""
        self._subjects[revision, None] = subject

    def _subject(self, cell: Cell) -> Subject:
        """The cell's tree, patched or not."""
        place = cell.revision, cell.series
        if place not in self._subjects:
            found = self.subject_of(cell.revision)
            if cell.series is not None:
                series = self.context.workspace.series(cell.series)
                found = self.context.subjects.patched(found, series, cell.drop).subject
            self._subjects[place] = found
        return self._subjects[place]

    def subject_of(self, revision: str) -> Subject:
        """A release, or a commit by its whole id, unpatched."""
        if len(revision) < 40:
            return self.context.subjects.release(self.context.workspace.pins.pin(parse_version(revision)))
        if self._commits is None:
            self._commits = self.context.commits(self.upstream)
        return self._commits.subject(self.upstream.commit(revision))

    @property
    def upstream(self) -> Upstream:
        """The upstream repository.

        Raises:
            BadInput: none was named.
        """
        if self._upstream is None:
            if self.repo is None:
                raise BadInput("commits are cells of a matrix only with a repository (--repo)")
            self._upstream = self.context.upstream(self.repo)
        return self._upstream

    def _case(self, cell: Cell) -> Case | None:
        """What the cell runs; None where the revision has no such tests."""
        place = cell.row.kind, cell.row.name, cell.revision if cell.row.kind == "upstream" else None
        if place not in self._cases:
            self._cases[place] = self._find_case(cell)
        return self._cases[place]

    def _find_case(self, cell: Cell) -> Case | None:
        workspace = self.context.workspace
        if cell.row.kind == "case":
            if self.known is None:
                self.known = workspace.cases(self.cases_dir)
            return self.known[cell.row.name]
        if cell.row.kind == "conformance":
            return workspace.conformance()
        files = self._test_files(cell)
        return upstream_suite(workspace, cell.row.name, files) if files.read(cell.row.name) is not None else None

    def _test_files(self, cell: Cell) -> UpstreamFiles:
        """Where the library's own tests for a revision are read."""
        if cell.tests_at is not None:
            return upstream_files(self.upstream.git, cell.tests_at)
        return self.context.sdist(self.context.workspace.pins.find(cell.revision))

    def _without_tests(self, cell: Cell) -> ProbeResult:
        """A commit without these tests lacks what they test; an sdist merely does not hold them."""
        if cell.tests_at is not None:
            return _without_probe(cell, Verdict.ABSENT, "NoSuchFile", f"commit {cell.tests_at[:12]} has no such file")
        message = f"not available: the sdist of {cell.revision} does not hold it; a git repository (--repo) does"
        return _without_probe(cell, Verdict.UNAVAILABLE, "NotAvailable", message)


def _without_probe(cell: Cell, verdict: Verdict, kind: str, message: str) -> ProbeResult:
    return ProbeResult(
        cell.row.name, cell.revision, cell.series, cell.device, verdict, Evidence(kind, message), 0.0, False, "", None
    )
