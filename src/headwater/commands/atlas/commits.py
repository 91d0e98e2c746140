# SPDX-License-Identifier: Apache-2.0
"""`headwater atlas commits`: hunt the commit of every change-over that has none, or prove those that are recorded."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Literal

from headwater.commands.atlas.writing import draft, present, write
from headwater.commands.context import Context
from headwater.commands.hunt.bisect import bisect
from headwater.commands.hunt.request import HuntRequest
from headwater.commands.repro import choose_cases
from headwater.commands.way import Way
from headwater.core.atlas import AtlasChange
from headwater.core.atlas_commits import ChangeOver, CommitOf, CommitState, change_overs, with_change
from headwater.core.errors import HarnessError, ToldToStop
from headwater.core.events import Advanced, Finished, Note, Started
from headwater.core.hunt_report import HuntChange, HuntReport
from headwater.core.results import INTERRUPTED
from headwater.core.revisions import short_name
from headwater.core.verdicts import Verdict
from headwater.effects.probe import ProbeOptions


@dataclass(frozen=True)
class CommitsRequest:
    """Which change-overs: of `cases` (ids, with commas; all without); in the history of `repo`. `check`: not those
    without a commit, but those with one, which is proved again. `deps` as in a hunt, but that what `latest` serves on
    neither side is proved with `period`; `jobs` probes run at a time."""

    cases: Sequence[str]
    repo: str
    check: bool
    deps: Literal["latest", "period"]
    jobs: int
    options: ProbeOptions


@dataclass(frozen=True)
class CommitsReport:
    """What `atlas commits` came to: a row a change-over, in the atlas' order, those that were not looked at left out;
    whether the atlas was written, the lines of its file whose comments were lost by that, and whether the run was
    interrupted."""

    rows: tuple[CommitOf, ...]
    written: bool
    lost_comments: tuple[int, ...]
    interrupted: bool

    @property
    def exit_status(self) -> int:
        """0 where every change-over that was looked at has its commit."""
        if self.interrupted:
            return INTERRUPTED
        states = {row.state for row in self.rows}
        return 5 if "failed" in states else 1 if states & {"open", "broken"} else 0


def commits(context: Context, request: CommitsRequest, writes: bool) -> CommitsReport:
    """Hunt one change-over after the other. With `writes` each commit is in the atlas before the next hunt begins.

    Raises:
        BadInput: there is no such case or repository.
        HarnessError: the repository cannot be had.
    """
    workspace = context.workspace
    cases = choose_cases(workspace.atlas_cases(), request.cases)
    overs = change_overs(workspace.atlas, [case.id for case in cases])
    # Found out now, and not by every hunt again.
    context.upstream(request.repo).main()
    work = _Work(context, request, writes and not request.check)
    interrupted = work.run(overs)
    return CommitsReport(tuple(work.rows), work.lost is not None, work.lost or (), interrupted)


class _Work:
    """The hunts under way: the rows grow one by one; `lost` are the lines of comments that writing took, None before
    anything was written."""

    def __init__(self, context: Context, request: CommitsRequest, writes: bool) -> None:
        self._context, self._request, self._writes = context, request, writes
        self.rows: list[CommitOf] = []
        self.lost: tuple[int, ...] | None = None

    def run(self, overs: Sequence[ChangeOver]) -> bool:
        """Look at each; whether that was interrupted."""
        key, verb = "change-overs", "proving" if self._request.check else "hunting"
        total = sum((over.known is not None) is self._request.check for over in overs)
        self._context.emit(Started(key, f"{verb} the commits of {total} change-overs", total, key, long=True))
        done = 0
        try:
            for over in overs:
                if (over.known is not None) is not self._request.check:
                    self.rows += [] if self._request.check else [CommitOf(over, "recorded", over.known)]
                    continue
                self._take(_look(self._context, self._request, over))
                done += 1
                self._context.emit(Note(f"{done} of {total}: {_words(self.rows[-1])}"))
                self._context.emit(Advanced(key, done))
        except KeyboardInterrupt:
            return True
        finally:
            self._context.emit(Finished(key))
        return False

    def _take(self, row: CommitOf) -> None:
        self.rows.append(row)
        if self._writes and row.change is not None and row.state == "found":
            # Read anew: hunts take hours, and somebody may have written meanwhile.
            workspace = self._context.workspace
            made = draft(workspace, with_change(present(workspace), row.change))
            write(workspace, made)
            self.lost = (*(self.lost or ()), *made.lost_comments)


def _words(row: CommitOf) -> str:
    """What came of one, in a line."""
    commit = row.hunted.commit if row.hunted else None
    return f"{row.over.words}: {row.state}, {commit or row.why}"


def _look(context: Context, request: CommitsRequest, over: ChangeOver) -> CommitOf:
    """Hunt a change-over, or prove its commit: two commits, each probed twice, are a hunt of their own."""
    if over.known is not None:
        ends = f"{over.known.commit}^", over.known.commit
    elif over.old is not None and over.new is not None:
        ends = str(over.old), str(over.new)
    else:
        return CommitOf(over, "open", why="on one side of it there are maintenance releases alone")
    row, unserved = _hunted(context, request, over, *ends)
    # A commit of which the locks serve neither side was found with the packages of its day: so it is proved with those.
    if over.known is not None and unserved and request.deps == "latest":
        row, _unserved = _hunted(context, replace(request, deps="period"), over, *ends)
    return row


def _hunted(context: Context, request: CommitsRequest, over: ChangeOver, old: str, new: str) -> tuple[CommitOf, bool]:
    """One hunt, and whether all that was judged in it is untestable."""
    hunt = _hunt(request, over, old, new)
    # Each with an end of its own: what one hunt started does not stay while the others run.
    with ExitStack() as exits:
        try:
            report = bisect(replace(context, exits=exits), hunt)
        except ToldToStop:
            raise
        except HarnessError as error:
            return CommitOf(over, "failed", over.known, why=str(error), command=hunt.command), False
    if report.interrupted:
        raise KeyboardInterrupt
    unserved = bool(report.rows) and all(row.verdict is Verdict.UNTESTABLE for row in report.rows)
    return _judged(over, report), unserved


def _hunt(request: CommitsRequest, over: ChangeOver, old: str, new: str) -> HuntRequest:
    good, bad = (old, new) if over.find == "introduced" else (new, old)
    words = ["headwater", "bisect", over.case, "--find", over.find, "--good", good, "--bad", bad]
    words += ["--deps", request.deps] if request.deps != "latest" else []
    return HuntRequest(
        over.case, good, bad, over.find, "auto", request.repo, "cpu", None, None, Way("local", None, request.jobs),
        None, request.deps, None, False, (), None, None, None, request.options,
        shlex.join([*words, "--repo", request.repo]),
    )  # fmt: skip


def _judged(over: ChangeOver, report: HuntReport) -> CommitOf:
    change = next((one for one in reversed(report.changes) if one.level == "commits"), None)
    if change is not None and change.commit is not None:
        commit = change.commit
        found = over.known or AtlasChange(over.case, over.find, over.release, commit.sha, commit.pull)
        return CommitOf(over, "found", found, change, "", report.command, report.ran)
    state: CommitState = "failed" if report.exit_status == 5 else "open" if over.known is None else "broken"
    return CommitOf(over, state, over.known, change, _why(change, report), report.command, report.ran)


def _why(change: HuntChange | None, report: HuntReport) -> str:
    """Why there is no one commit."""
    if change is not None:
        first, last = short_name(change.candidates[0]), short_name(change.candidates[-1])
        return f"one of {len(change.candidates)} commits from {first} to {last}; those between were not judged"
    seen = ", ".join(f"{short_name(row.revision)} is {row.verdict.words}" for row in report.rows)
    return "; ".join(report.notes) or seen or "nothing was probed"
