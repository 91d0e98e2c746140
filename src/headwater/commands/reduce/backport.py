# SPDX-License-Identifier: Apache-2.0
"""`headwater backport`: find what mended a bug, reduce it, carry it to an older release, and write it as a series."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from packaging.version import Version

from headwater.commands.conformance import comparison
from headwater.commands.context import Context
from headwater.commands.hunt.ends import find_ends, look_at
from headwater.commands.hunt.oracle import Oracle
from headwater.commands.hunt.plain import hunt_releases
from headwater.commands.reduce.origin import traced
from headwater.commands.reduce.reduce import reduce
from headwater.commands.reduce.request import ReduceOptions, make_oracle
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.events import Note
from headwater.core.mail import Patch
from headwater.core.pins import Pin
from headwater.core.reduction_report import BackportReport, ReductionReport, require_judged
from headwater.core.releases import is_on_main_line
from headwater.core.results import ProbeResult
from headwater.core.series import require_name
from headwater.core.series_text import file_name, new_series
from headwater.core.verdicts import Verdict
from headwater.effects.anchored_merge import anchored_merge
from headwater.effects.carrying import commit_tree
from headwater.effects.merging import Bench, PatchStep
from headwater.effects.patch_text import patch_text
from headwater.effects.probe import Subject
from headwater.effects.series_folder import SERIES
from headwater.effects.series_writing import write_new_series

# How a suite ends whose tests can be compared.
_ENDED = (Verdict.GOOD, Verdict.BAD)
_AUTHOR = "Headwater <headwater@invalid.example>"


def backport(context: Context, what: str, onto: str, name: str | None, options: ReduceOptions) -> BackportReport:
    """Make a series of the fix for a case, for a release that has the bug.

    Raises:
        BadInput: no such case or release, a series of the name is there, the case is not bad on the release, or no
            later release has a fix.
        PatchFailed: the reduced fix conflicts there, the case stays bad, or a test of the conformance suite ceases to
            hold.
    """
    pin = context.workspace.pins.find(onto)
    series = require_name(name or f"backport-{what}", "the series' name")
    if (context.workspace.patches / series).exists():
        raise BadInput(f"patches/{series} is there already; name another series with --as, or remove it")
    oracle, upstream = make_oracle(context, what, options)
    if oracle.target.kind != "case":
        raise BadInput(
            f"{what} is no case: a backport names the case that it mends. docs/cases.md says how to write one"
        )
    seen = look_at(oracle, pin.version)
    require_judged([seen])
    if seen.verdict is not Verdict.BAD:
        raise BadInput(
            f"{oracle.case.id} is {seen.verdict.words} on {pin.version}: a fix is carried to where it is bad"
        )
    before, after = _fix(oracle, pin.version)
    report = reduce(oracle, before, after, options.limits)
    if report.interrupted:
        # The best so far is good enough to look at, and not to be carried.
        raise KeyboardInterrupt
    if report.result == "bad-endpoints" or report.tree is None:
        require_judged(report.rows)
        verdicts = f"{before} is {report.verdicts[0].words} and {after} {report.verdicts[1].words}"
        raise BadInput("; ".join([f"nothing to reduce: {verdicts}", *report.notes]))
    if upstream is not None:
        report = traced(oracle, upstream, report, before, after)
    return context.mirror.mending(_carry, oracle, report, pin, series)


def _fix(oracle: Oracle, onto: Version) -> tuple[Version, Version]:
    """The neighbouring releases between which the bug was fixed, on the way from a bad release."""
    known = oracle.context.workspace.pins.versions
    # A maintenance line ends somewhere, and most fixes come on the main line: from where it left that.
    start = max((v for v in known if is_on_main_line(v) and v <= onto), default=onto)
    ends = find_ends(oracle, None, start, "fixed")
    if not isinstance(ends.good, Version):
        raise BadInput(f"{oracle.case.id} on {onto} has no fix to port back: {ends.missing}")
    found = hunt_releases(oracle, ends.good, onto, "fixed")
    change = found.change
    if change is None or change.find != "fixed":
        # On a maintenance line that took the bug over alone, nothing later mends it.
        why = "; ".join(found.notes) or found.result
        raise BadInput(f"no fix of {oracle.case.id} was found after {onto}, on the way to {ends.good}: {why}")
    if not change.found:
        oracle.context.emit(Note(f"the fix lies in one of {', '.join(change.candidates)}", warning=True))
    return Version(change.before), Version(change.after)


def _carry(oracle: Oracle, report: ReductionReport, pin: Pin, series: str) -> BackportReport:
    context = oracle.context
    onto = context.mirror.ensure(pin)
    patch = _patch(oracle, report)
    commit = _merged(oracle, report, patch, pin, onto)
    subject = context.subjects.release(pin)
    tree = context.mirror.library_tree(commit)
    patched = replace(subject, tree=tree, lay_out=partial(context.trees.ensure, tree), series=series)
    with ExitStack() as refused:
        refused.callback(context.trees.let_go, tree)
        before, after = _judged(oracle, subject, patched)
        conformance = _conformance(oracle, subject, patched)
        file = file_name(1, patch.subject)
        library = context.mirror.library_tree(onto)
        text = new_series(str(pin.version), library, (file,), _comment(oracle, report))
        contents = {file: patch_text(context.mirror.git, commit), SERIES: text.encode("utf-8")}
        write_new_series(context.workspace.patches / series, contents)
        refused.pop_all()
    return BackportReport(report, str(pin.version), series, (file,), before, after, conformance)


def _merged(oracle: Oracle, report: ReductionReport, patch: Patch, pin: Pin, onto: str) -> str:
    """The release's commit `onto` with the reduced fix.

    Raises:
        PatchFailed: it conflicts.
    """
    context = oracle.context
    git, package = context.mirror.git, context.workspace.pins.package
    with context.cache.building("backport") as folder:
        bench = Bench(git, folder)
        base = context.mirror.ensure(context.workspace.pins.find(report.ends[0]))
        fixed = commit_tree(context.cache, git, package, str(report.tree))
        step = PatchStep(patch, base, fixed)
        merged = bench.merge(step, onto)
        if merged.tree is None and not merged.misplaced:
            merged = anchored_merge(bench, step, onto) or merged
        if merged.tree is None:
            kind = "is misplaced" if merged.misplaced else "conflicts"
            raise PatchFailed(
                f"the fix of {oracle.case.id}, reduced between {report.ends[0]} and {report.ends[1]}, {kind} on "
                f"{pin.version}: {merged.reason}. Apply it by hand: `headwater checkout {pin.version}`, and "
                "`headwater patch new`"
            )
        return bench.commit(patch, merged.tree, onto)


def _judged(oracle: Oracle, subject: Subject, patched: Subject) -> tuple[ProbeResult, ProbeResult]:
    """The case before and with the fix.

    Raises:
        PatchFailed: it is not bad and then good.
    """
    before, after = oracle.ask_of(subject).result(), oracle.ask_of(patched).result()
    require_judged([before, after])
    if before.verdict is not Verdict.BAD or after.verdict is not Verdict.GOOD:
        raise PatchFailed(
            f"{oracle.case.id} on {subject.revision} is {before.verdict.words} before and {after.verdict.words} with "
            f"the reduced fix ({after.evidence.type}: {after.evidence.message}); it must be bad and then good"
        )
    return before, after


def _conformance(oracle: Oracle, before: Subject, after: Subject) -> str:
    """The conformance suite on the release and on the patched one.

    Raises:
        PatchFailed: a test that held holds no more.
    """
    case = oracle.context.workspace.conformance()
    if case is None:
        return "not available: the workspace has no tests/conformance"
    prober = oracle.borrowed
    line = comparison(prober.probe(before, case, oracle.device), prober.probe(after, case, oracle.device))
    require_judged([line.before, line.after])
    if line.changes is None:
        where, row = ("patched", line.after) if line.before.verdict in _ENDED else ("unpatched", line.before)
        raise PatchFailed(
            f"the conformance suite did not come to its end on the {where} release, where it is {row.verdict.words} "
            f"({row.evidence.type}: {row.evidence.message}): what the fix does to it cannot be told"
        )
    if not line.sound:
        names = ", ".join(test.name for test in (*line.changes.new_failures, *line.changes.lost))
        raise PatchFailed(f"with the reduced fix tests of the conformance suite hold no more: {names}")
    mended = len(line.changes.newly_passing)
    return f"no new failure, {len(line.changes.still_failing)} failing before and after, {mended} newly passing"


def _comment(oracle: Oracle, report: ReductionReport) -> str:
    return (
        f"{oracle.case.title}\n\nMade by `headwater backport`: the part of the difference between {report.ends[0]} and "
        f"{report.ends[1]} that mends\nthe case {oracle.case.id}, {_hunks(report)}, by {report.asked} probes."
    )


def _hunks(report: ReductionReport) -> str:
    return f"{len(report.hunks)} hunk{'s' * (len(report.hunks) != 1)}"


def _patch(oracle: Oracle, report: ReductionReport) -> Patch:
    """The patch's words. Its lines are upstream's own, and its trailers say so."""
    case = oracle.case
    package = oracle.context.workspace.pins.package
    commits = sorted({hunk.commit for hunk in report.hunks if hunk.commit})
    origin = ", ".join(commits) if commits else f"{package} {report.ends[1]}"
    trailers = [
        *(f"Bug: {reference}" for reference in case.references[:1]),
        f"Origin: backport, {origin}",
        f"Applied-Upstream: {report.ends[1]}",
        f"Headwater-Case: {case.id}",
    ]
    needed = ", each of them needed" if report.minimal else ""
    body = (
        f"{case.title}.\n\nThe part of the difference between {report.ends[0]} and {report.ends[1]} that mends it: "
        f"{_hunks(report)}{needed}.\n\n" + "\n".join(trailers)
    )
    date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
    return Patch("backport", b"", f"mend {case.id} as {report.ends[1]} does", body, _AUTHOR, date, ())
