# SPDX-License-Identifier: Apache-2.0
"""`headwater case new`: from a reporter's script to a case of the workspace."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from headwater.commands.atlas.measure import CaseAt, Measured, measure
from headwater.commands.context import Context
from headwater.core.atlas import AtlasEntry
from headwater.core.atlas_text import ranges
from headwater.core.case_making import NewCase, case_id_of, case_source, read_reference, signature_from
from headwater.core.cases import Case, is_case_id, read_case
from headwater.core.errors import BadInput, HarnessError
from headwater.core.learning import Learned, learn
from headwater.core.releases import nearest, select
from headwater.core.results import ProbeResult
from headwater.core.revisions import Revision, name_of, short_name, sort_key
from headwater.core.verdicts import Verdict
from headwater.effects.commit_subjects import CommitSubjects
from headwater.effects.files import write_new
from headwater.effects.probe import ProbeOptions
from headwater.effects.targets import load_target
from headwater.effects.upstream_words import resolve
from headwater.effects.workspace import HELPER

_AROUND = 6  # releases beside the bad one, where nobody says which


@dataclass(frozen=True)
class NewCaseRequest:
    """A case to be made: of which issue, from which script, bad on which revision; `good` is one without the bug; for
    what is no release `repo` is the history.

    Without `case_id` the script's name gives it, without `title` the failure; `releases` (a SPEC) are probed with the
    case once it is made, by default those nearest to the bad one.
    """

    issue: str
    script: Path
    bad: str
    good: str | None
    case_id: str | None
    title: str | None
    releases: str | None
    repo: str | None
    jobs: int
    options: ProbeOptions


@dataclass(frozen=True)
class NewCaseReport:
    """The case that was written, what was learned, the releases it was probed on, and what the atlas may say of it."""

    case: Case
    path: Path
    learned: str
    rows: tuple[ProbeResult, ...]
    proposed: tuple[AtlasEntry, ...]
    notes: tuple[str, ...]
    ran: int
    interrupted: bool


def new_case(context: Context, request: NewCaseRequest) -> NewCaseReport:
    """Run the script on the bad release, learn how its failure is known, write the case, and probe around.

    Nothing is written unless the case, too, is bad there, and not on the good release.

    Raises:
        BadInput: the script cannot be made a case, or does not fail, with the reason; the case is there already.
        HarnessError: a probe could not be run.
    """
    known = context.workspace.pins.versions
    reference = read_reference(request.issue, context.workspace.pins.repository)
    ends = _ends(context, request)
    releases = _around(context, request.releases, ends)
    path = _free_place(context, request)
    learned, seen = _learn(context, request, ends)
    case, source = _make(context, request, reference, path.name, learned, seen.rows[0])
    first = measure(context, [CaseAt(case, one) for one in ends.revisions], request.options, commits=ends.commits)
    _prove(first.rows, ends, first.interrupted)
    write_new(path, source)
    rest = measure(
        context, [CaseAt(case, one) for one in releases if one not in ends.revisions], request.options, request.jobs
    )
    order = {name_of(one): sort_key(one) for one in (*releases, *ends.revisions)}
    rows = sorted((*first.rows, *rest.rows), key=lambda one: order[one.revision])
    cells = {
        (case.id, Version(one.revision)): one.verdict
        for one in rows
        if one.verdict is not Verdict.HARNESS_ERROR and not order[one.revision][0]
    }
    proposed = ranges(case.id, cells, known)
    assert learned.bug is not None
    return NewCaseReport(
        case, path, learned.bug.words, tuple(rows), tuple(proposed), _notes(case, rows),
        seen.ran + first.ran + rest.ran, rest.interrupted,
    )  # fmt: skip


@dataclass(frozen=True)
class _Ends:
    """Where the bug is, and where it is not, if that was said; `commits` is for an end that is one."""

    bad: Revision
    good: Revision | None
    commits: CommitSubjects | None

    @property
    def revisions(self) -> list[Revision]:
        """Both, the bad one first."""
        return [self.bad] if self.good is None else [self.bad, self.good]


def _ends(context: Context, request: NewCaseRequest) -> _Ends:
    known = context.workspace.pins.versions
    upstream = context.upstream(request.repo) if request.repo else None
    bad = resolve(upstream, request.bad, known)
    good = resolve(upstream, request.good, known) if request.good is not None else None
    if good == bad:
        raise BadInput(f"--good and --bad are both {short_name(name_of(bad))}")
    return _Ends(bad, good, context.commits(upstream) if upstream else None)


def _around(context: Context, spec: str | None, ends: _Ends) -> list[Version]:
    """The releases to probe: those that were asked for; else the bad one and those around it, of a commit those around
    the last one that was published before it."""
    pins = context.workspace.pins
    if spec is not None:
        return select(spec, pins.versions)
    bad = ends.bad
    if not isinstance(bad, Version):
        bad = max((v for v in pins.versions if pins.pin(v).uploaded <= bad.date), default=pins.versions[0])
    named = [one for one in (bad, ends.good) if isinstance(one, Version)]
    return sorted({*named, *nearest(bad, [v for v in pins.versions if v != bad], _AROUND)})


def _free_place(context: Context, request: NewCaseRequest) -> Path:
    """Where the case will be written."""
    if not (context.workspace.own_cases / HELPER).is_file():
        raise BadInput(f"tests/repro/{HELPER} is missing, which cases use; restore it")
    case_id = request.case_id if request.case_id is not None else case_id_of(request.script.stem)
    if not is_case_id(case_id):
        raise BadInput(f"{case_id!r} is no case id; name one in kebab-case with --id")
    if case_id in context.workspace.cases():
        raise BadInput(f"there is a case {case_id} already; name another with --id")
    path = context.workspace.own_cases / f"{case_id.replace('-', '_')}.py"
    if path.exists():
        raise BadInput(f"{path.relative_to(context.workspace.root)} is there already; name another case with --id")
    return path


def _learn(context: Context, request: NewCaseRequest, ends: _Ends) -> tuple[Learned, Measured]:
    """What the script's failure on the bad revision teaches, and the rows of both ends, the bad one's first."""
    if not request.script.is_file():
        raise BadInput(f"--script {request.script}: no such file")
    target = load_target(
        context.workspace, request.script.name, folder=request.script.parent.absolute(),
        network=request.options.allow_network,
    )  # fmt: skip
    if target.kind != "script":
        what = {"case": "a case already; copy it to tests/repro", "tests": "a test; name a script that runs"}
        raise BadInput(f"{request.script} is {what.get(target.kind, 'no python script')}")
    beside = [name for name in target.case.files if not name.startswith("headwater_")]
    needed = [name for name in beside if name not in (request.script.name, *context.workspace.helpers)]
    if needed:
        raise BadInput(f"{request.script} needs {needed[0]} beside it; put all of it into one file")
    cells = [CaseAt(target.case, one) for one in ends.revisions]
    measured = measure(context, cells, request.options, commits=ends.commits)
    if measured.interrupted:
        raise KeyboardInterrupt
    for row in measured.rows:
        if row.verdict is Verdict.HARNESS_ERROR:
            raise HarnessError(f"{request.script.name} on {row.revision}: {row.evidence.message}")
    outcomes = [row.outcomes for row in measured.rows]
    learned = learn(target.case, context.workspace.pins.package, outcomes[0], outcomes[1] if ends.good else ())
    if learned.bug is None:
        bad = short_name(name_of(ends.bad))
        raise BadInput(f"nothing can be learned from {request.script.name} on {bad}: {learned.why}")
    return learned, measured


def _make(
    context: Context, request: NewCaseRequest, reference: str, file: str, learned: Learned, row: ProbeResult
) -> tuple[Case, str]:
    """The case, and its text."""
    bug = learned.bug
    assert bug is not None
    if bug.type.startswith("ExitStatus"):
        raise BadInput(
            f"{request.script.name} tells by an exit status what it saw; a case raises an exception that says it"
        )
    script = request.script.read_text(encoding="utf-8-sig")
    severity = "crash" if bug.frame is not None else "wrong-result" if bug.type == "AssertionError" else "unclear"
    title = request.title or textwrap.shorten(f"{bug.type}: {row.evidence.message}", 100, placeholder=" ...")
    case_id = file.removesuffix(".py").replace("_", "-")
    signature = signature_from(bug, row.evidence)
    new = NewCase(case_id, title, reference, severity, signature, network=request.options.allow_network)
    source = case_source(new, script)
    return read_case(file, source, context.workspace.helpers), source


def _prove(rows: Sequence[ProbeResult], ends: _Ends, interrupted: bool) -> None:
    """See that the case says of both ends what the script did."""
    if interrupted:
        raise KeyboardInterrupt
    for row in rows:
        seen = f"{row.verdict.words} on {short_name(row.revision)} ({row.evidence.type}: {row.evidence.message})"
        if row.verdict is Verdict.HARNESS_ERROR:
            raise HarnessError(f"{row.case} is {seen}")
        if (row.verdict is Verdict.BAD) != (row.revision == name_of(ends.bad)):
            wanted = "bad" if row.revision == name_of(ends.bad) else "without the bug"
            raise BadInput(f"as a case it is {seen}, and should be {wanted}; nothing was written")


def _notes(case: Case, rows: Sequence[ProbeResult]) -> tuple[str, ...]:
    """What is left for a person to do."""
    notes = [
        f"Read {case.file}: say in its title, user_sees and meanwhile what a user needs, keep what the bug needs, and "
        "judge behaviour, so that it tells the truth on every release.",
        f"`headwater atlas update --cases {case.id} --write` measures it on all releases and writes the atlas.",
    ]
    if not any(row.verdict is Verdict.GOOD for row in rows):
        notes.append("No release was seen good; if none is, mark the case `open = true`.")
    if not any(row.verdict is Verdict.ABSENT for row in rows):
        notes.append("Where the feature is not there, the case must say `casekit.absent(reason)`.")
    return tuple(notes)
