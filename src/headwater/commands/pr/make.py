# SPDX-License-Identifier: Apache-2.0
"""`headwater pr SERIES`: a bundle that `git am` takes, with the evidence for it; or why there is nothing to send."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from packaging.version import Version

from headwater import __version__
from headwater.commands.context import Context
from headwater.commands.patch.choosing import probed_needless, require_some
from headwater.commands.patch.probing import require_known_cases
from headwater.commands.pr.former import Former, former_in, range_diff
from headwater.commands.pr.replay import Bundle, describe_target
from headwater.commands.pr.showing import show
from headwater.commands.pr.target import Target, find_target
from headwater.core.cases import Case
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import Patch, read_patch
from headwater.core.pr_body import headings_of, make_body, questions
from headwater.core.pr_evidence import (
    BODY,
    CASES,
    CHECKLIST,
    EVIDENCE,
    EVIDENCE_TEXT,
    RANGE_DIFF,
    SCHEMA,
    LeftOut,
    PrEvidence,
    Times,
    write_evidence,
)
from headwater.core.pr_mail import fixed_in as stated_fix
from headwater.core.pr_mail import for_upstream, issues, note_on_authors
from headwater.core.pr_results import PrReport, Refusal, fixed_in, still_bad
from headwater.core.releases import select
from headwater.core.results import devices_of_patches, parse_devices
from headwater.core.series_text import file_name
from headwater.core.states import PatchState
from headwater.core.verdicts import Verdict
from headwater.effects.patch_text import patch_text
from headwater.effects.pr_folder import write_bundle
from headwater.effects.probe import ProbeOptions
from headwater.effects.series_folder import Series
from headwater.report.pr_files import checklist_text, evidence_text

TEMPLATE = ".github/PULL_REQUEST_TEMPLATE.md"
GUIDES = (TEMPLATE, "CONTRIBUTING.md")


@dataclass(frozen=True)
class PrRequest:
    """What to make. `onto` and `repo` name the target; `folder` is where the bundle goes, `former` an earlier export;
    `releases` is a SPEC of more releases to probe on."""

    series: str
    onto: str | None
    repo: str | None
    folder: Path | None
    former: Path | None
    devices: Sequence[str]
    releases: str | None
    cases_dir: Path | None
    options: ProbeOptions


def make_pr(context: Context, request: PrRequest) -> PrReport:
    """Make a bundle, and replace an earlier one in the same folder; what a person wrote there stays.

    Raises:
        BadInput: no such series, target, case or device; files of a person's are in the way.
        PatchFailed: a patch does not apply, or the target has all of them.
    """
    series = context.workspace.series(request.series)
    known = context.workspace.cases(request.cases_dir)
    require_known_cases(series, known)
    devices = tuple(parse_devices(request.devices or devices_of_patches(context.workspace.pins.torch)))
    folder = (request.folder or context.workspace.root / "outgoing" / series.name).resolve()
    former = former_in(request.former, folder, series.name)
    target = find_target(context, request.onto, request.repo)
    prober = context.prober(request.options)
    is_base = target.release in series.bases
    needless = {} if is_base else probed_needless(prober, series, target.subject, known, devices[0])
    empty = PrReport(series.name, target.subject.revision, folder, (), (), (), None, None, prober.ran)
    if len(needless) == len(series.patches) and PatchState.FIXED_UPSTREAM in needless.values():
        return replace(empty, refusal=_refusal(context, series, target), ran=prober.ran)
    require_some(series, needless, target.subject.revision)
    bundle, states = context.mirror.mending(_outgoing, context, series, target, needless, known)
    chosen = [str(one) for one in select(request.releases, context.workspace.pins.versions)] if request.releases else []
    bundle = replace(bundle, devices=devices, releases=tuple(one for one in chosen if one != target.subject.revision))
    said = _unseen(context, target, bundle, _left_out(series, states, devices[0]), request.options.repeat)
    seen = context.mirror.mending(show, context, prober, target, bundle, said)
    contents, evidence, notes = _files(context, series, target, bundle, seen, former)
    written, kept = write_bundle(folder, contents, former.evidence if former and former.folder == folder else None)
    notes += _notes(context, bundle, target)
    return replace(empty, files=written, kept=kept, notes=tuple(notes), evidence=evidence, ran=prober.ran)


def _refusal(context: Context, series: Series, target: Target) -> Refusal:
    """Upstream has its own fix: since when, and what can be had instead of a pull request."""
    atlas = context.workspace.atlas
    cases = list(dict.fromkeys(case for patch in series.patches for case in patch.cases))
    stated = [Version(word) for patch in series.patches if (word := stated_fix(patch))]
    since = fixed_in(atlas, cases, target.version) or max(stated, default=None)
    onto = still_bad(atlas, cases) or series.file.base
    return Refusal(
        str(since) if since else None,
        (
            f"headwater patch export {series.name} --release {onto} --to DIR",
            *(f"headwater backport {case} --onto {onto}" for case in cases[:1]),
        ),
    )


def _outgoing(
    context: Context, series: Series, target: Target, needless: Mapping[str, PatchState], known: Mapping[str, Case]
) -> tuple[Bundle, dict[str, PatchState]]:
    """The patches as they are sent: carried to the target, without Headwater's trailers, numbered anew; and the states
    of those that are left out, by their files."""
    left_out = dict(needless)
    made: list[Patch] = []
    cases, sources = {}, {}
    with context.subjects.carrier() as carrier:
        stack = carrier.stack(series, target.version)
        applied = carrier.apply(stack, target.commit, needless, target.version)
        onto = target.commit
        for one in applied.carried:
            patch = one.step.patch
            if one.commit is None:
                left_out[patch.file] = one.state
                continue
            tree = context.mirror.git("rev-parse", f"{one.commit}^{{tree}}")
            onto = carrier.commit(for_upstream(patch), tree, onto)
            name = file_name(len(made) + 1, patch.subject)
            made.append(read_patch(name, patch_text(context.mirror.git, onto)))
            cases[name] = patch.cases
            sources[name] = hashlib.sha256(patch.content).hexdigest()
    if not made:
        raise PatchFailed(
            f"every patch of series {series.name} is applied on {target.subject.revision} already: there is none"
        )
    return Bundle(series.name, tuple(made), cases, sources, known, ()), left_out


def _left_out(series: Series, states: Mapping[str, PatchState], device: str) -> tuple[LeftOut, ...]:
    """The patches that are left out, in order, with cases whose verdicts are still to be seen."""
    return tuple(
        LeftOut(patch.file, states[patch.file], device, dict.fromkeys(patch.cases, Verdict.UNTESTABLE))
        for patch in series.patches
        if patch.file in states
    )


def _unseen(context: Context, target: Target, bundle: Bundle, left_out: tuple[LeftOut, ...], repeat: int) -> PrEvidence:
    """The evidence for a bundle before anything was looked at."""
    return PrEvidence(
        schema=SCHEMA,
        package=context.workspace.pins.package,
        series=bundle.series,
        headwater=__version__,
        target=describe_target(target, ""),
        devices=bundle.devices,
        repeat=repeat,
        releases=(),
        patches=(),
        left_out=left_out,
        cases={},
        library=(),
        environments=(),
        headings=(),
        written={},
        times=Times(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")),
    )


def _files(
    context: Context, series: Series, target: Target, bundle: Bundle, evidence: PrEvidence, former: Former | None
) -> tuple[dict[str, bytes], PrEvidence, list[str]]:
    """The bundle's files by their paths in it, `evidence.json` last; the whole evidence; and notes."""
    contents = {**dict(bundle.contents), **_case_files(bundle, evidence)}
    notes = []
    if former is not None:
        text, note = range_diff(context, series, target, bundle, former)
        contents |= {RANGE_DIFF: text.encode()} if text else {}
        notes += [note] if note else []
    texts = {path: _rule(target, path) for path in GUIDES}
    asked = [one for path, text in texts.items() for one in questions(text or "", path)]
    origin = target.rules.revision[:12] if target.rules and any(texts.values()) else None
    drafts = {
        BODY: make_body(texts[TEMPLATE], issues(bundle.patches)).encode(),
        CHECKLIST: checklist_text(asked, origin).encode(),
        EVIDENCE_TEXT: evidence_text(evidence).encode(),
    }
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in drafts.items()}
    whole = replace(evidence, headings=headings_of(texts[TEMPLATE]), written=sums)
    contents |= {**drafts, EVIDENCE: write_evidence(whole).encode()}
    return contents, whole, notes


def _case_files(bundle: Bundle, evidence: PrEvidence) -> dict[str, bytes]:
    """The files of the cases, all in one folder.

    Raises:
        BadInput: two cases bring different files of one name.
    """
    found: dict[str, bytes] = {}
    for case in evidence.cases:
        for name, content in bundle.known[case].files.items():
            if found.setdefault(f"{CASES}/{name}", content) != content:
                raise BadInput(f"two cases of series {bundle.series} bring different files called {name}; rename one")
    return found


def _rule(target: Target, path: str) -> str | None:
    content = target.rules.read(path) if target.rules else None
    return content.decode("utf-8", "replace") if content is not None else None


def _notes(context: Context, bundle: Bundle, target: Target) -> list[str]:
    notes = [note] if (note := note_on_authors(bundle.patches)) else []
    cases = [case for names in bundle.cases.values() for case in names]
    atlas, newest = context.workspace.atlas, context.workspace.pins.versions[-1]
    if cases and all(atlas.expected(case, newest) is Verdict.GOOD for case in cases):
        notes.append(
            f"fixed upstream in {fixed_in(atlas, cases, newest)}: this bundle is for a maintenance line or a fork of "
            f"{target.subject.revision[:12]}, and main needs no pull request"
        )
    return notes
