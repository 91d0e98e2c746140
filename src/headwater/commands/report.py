# SPDX-License-Identifier: Apache-2.0
"""`headwater report`: what is known of every case over every release, gathered for one file that a person looks at.

Nothing is probed, imported or fetched: what the workspace says, what the store remembers, what was answered last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from packaging.version import Version

from headwater.commands.audit import audits
from headwater.commands.context import Context
from headwater.commands.patch.status import status
from headwater.core.cases import Case
from headwater.core.errors import HeadwaterError
from headwater.core.events import Advanced, Finished, Note, Started
from headwater.core.patch_results import ReleaseStatus, SeriesStatus
from headwater.core.report_data import PatchOf, ReportData, Seen, report_data
from headwater.core.states import NEEDLESS
from headwater.core.verdicts import judge
from headwater.effects.answers import Answer, kept_answers, read_file
from headwater.effects.probe_keys import key_of, limits_of, plain_device
from headwater.effects.series_folder import Series, series_names
from headwater.effects.store import Store, StoredProbe


def report(context: Context, answers: Sequence[Path] = ()) -> ReportData:
    """Gather a report; `answers` are files that `--output` of `bisect`, `reduce` and `backport` wrote, to be shown
    instead of what is kept about the same case.

    Raises:
        BadInput: a file of the workspace, or one of `answers`, cannot be read.
    """
    workspace = context.workspace
    cases = workspace.atlas_cases()
    trees, statuses = _trees(context), _statuses(context)
    rows = _stored(context, cases)
    patched = _patched(context, statuses, {(row.case, row.revision) for row in rows if row.tree not in trees.values()})
    named = [answer for path in answers for answer in read_file(path)]
    return report_data(
        workspace.pins, workspace.atlas, cases, trees, _seen(context, cases, rows, [trees, *patched.values()]),
        _patches(context), statuses, audits(context, workspace.pins.versions),
        _preferred(named, kept_answers(context.cache)), patched,
    )  # fmt: skip


def _preferred(named: Sequence[Answer], kept: Sequence[Answer]) -> list[Answer]:
    """Of each kind what was named; where a case has none of the kind, what is kept."""
    taken = {(type(answer), answer.case) for answer in named}
    return [*named, *(answer for answer in kept if (type(answer), answer.case) not in taken)]


def _trees(context: Context) -> dict[Version, str]:
    """The trees of the releases, by their pins, or by the mirror where it has them."""
    pins, imported = context.workspace.pins, {*context.mirror.imported()}
    found = {pin.version: pin.tree for pin in pins.releases if pin.tree is not None}
    for pin in pins.releases:
        if pin.tree is None and str(pin.version) in imported:
            found[pin.version] = context.mirror.library_tree(context.mirror.ensure(pin))
    return found


def _patched(
    context: Context, statuses: Sequence[SeriesStatus], probed: Collection[tuple[str, str]]
) -> dict[str, dict[Version, str]]:
    """By series the trees that it makes of releases, where it applies and `probed` (pairs of case and revision) says
    that the store may know of one: each costs a few merges."""
    found = {}
    for one in statuses:
        series = context.workspace.series(one.name)
        cases = {case for patch in series.patches for case in patch.cases}
        wanted = [row for row in one.releases if row.patched and any((case, row.release) in probed for case in cases)]
        found[one.name] = context.mirror.mending(_patched_by, context, series, wanted)
    return found


def _patched_by(context: Context, series: Series, releases: Sequence[ReleaseStatus]) -> dict[Version, str]:
    """The trees of some releases with a series, without the patches that they do not need."""
    trees: dict[Version, str] = {}
    what = f"trees of {len(releases)} releases with {series.name}"
    with ExitStack() as exits:
        context.emit(Started(what, what, len(releases), "releases"))
        exits.callback(context.emit, Finished(what))
        carrier = exits.enter_context(context.subjects.carrier())
        for row in releases:
            pin = context.workspace.pins.find(row.release)
            needless = {cell.patch for cell in row.cells if cell.state in NEEDLESS}
            stack = carrier.stack(series, pin.version)
            applied = carrier.apply(stack, context.mirror.ensure(pin), needless, pin.version)
            trees[pin.version] = context.mirror.library_tree(applied.commit)
            context.emit(Advanced(what, len(trees)))
    return trees


def _stored(context: Context, cases: Mapping[str, Case]) -> list[StoredProbe]:
    """What the store knows of the cases; a store is not made for it."""
    path = context.cache.store
    return Store(path, context.emit).latest(cases.keys()) if path.exists() else []


def _seen(
    context: Context, cases: Mapping[str, Case], rows: Sequence[StoredProbe], trees: Sequence[Mapping[Version, str]]
) -> Iterable[Seen]:
    """What the store knows of the cases, judged anew."""
    environments = _environments(context, trees) if rows else {}
    for row in rows:
        case, device = cases[row.case], plain_device(row.device)
        keys = set()
        if device is not None:
            limits = limits_of(row.device, case.time_limit)
            keys = {key_of(row.tree, case, one, device, limits) for one in environments.get(row.tree, ())}
        verdict = judge(row.outcome, case.signatures, case.absent)
        evidence, current = row.outcome.evidence, row.key in keys
        yield Seen(row.case, row.tree, row.device, verdict, evidence, row.environment, row.recorded, current)


def _environments(context: Context, trees: Sequence[Mapping[Version, str]]) -> dict[str, set[str]]:
    """The keys of the environments that trees of releases run in today, where there are such on this machine."""
    found: dict[str, set[str]] = {}
    missing = {}
    for version in context.workspace.pins.versions:
        for tree in [some[version] for some in trees if version in some]:
            try:
                key = context.environments.describe(context.workspace.pins.pin(version)).key
                found.setdefault(tree, set()).add(key)
            except HeadwaterError as error:
                missing[str(error)] = version
    for reason, version in missing.items():
        words = f"what is recorded of {version}, and maybe of others, is not compared with today's: {reason}"
        context.emit(Note(words, warning=True))
    return found


def _patches(context: Context) -> list[PatchOf]:
    """The patches of every series, by the name of the series."""
    found = []
    for name in series_names(context.workspace.patches):
        series = context.workspace.series(name)
        for patch in series.patches:
            found.append(PatchOf(name, patch.file, patch.subject, str(series.file.base), (*patch.cases, *patch.also)))
    return found


def _statuses(context: Context) -> list[SeriesStatus]:
    """Where the patches apply, on the releases that are in the mirror already."""
    imported = {*context.mirror.imported()}
    here = [str(version) for version in context.workspace.pins.versions if str(version) in imported]
    if not here or not series_names(context.workspace.patches):
        return []
    if len(here) < len(context.workspace.pins.versions):
        missing = len(context.workspace.pins.versions) - len(here)
        words = f"{missing} releases are not in the mirror: the report says of them not where patches apply; "
        context.emit(Note(words + "`headwater cache fill` imports them"))
    return status(context, [], ",".join(here))
