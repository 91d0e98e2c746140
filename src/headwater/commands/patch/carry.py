# SPDX-License-Identifier: Apache-2.0
"""`headwater patch carry`: a variant of a series for a release, by three-way merge, and by hand where it conflicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from headwater.commands.context import Context
from headwater.commands.patch.choosing import needless_patches, require_some
from headwater.core.errors import BadInput
from headwater.core.mail import read_patch
from headwater.core.patch_results import CarryReport, PatchStatus
from headwater.core.pins import Pin
from headwater.core.series import Range, SeriesFile, require_name
from headwater.core.series_text import new_series, with_range
from headwater.core.states import PatchState
from headwater.effects.carry_session import CarryTree, Session
from headwater.effects.carrying import Carrier, Stack
from headwater.effects.merging import PatchStep
from headwater.effects.patch_text import patch_text
from headwater.effects.series_folder import SERIES, Series, Variant
from headwater.effects.series_writing import write_together

# What `git apply` puts at the right place by itself needs no file of its own.
_FITS = (PatchState.CLEAN, PatchState.OFFSET, PatchState.ALREADY_APPLIED)


def carry(context: Context, name: str, release: str, folder: str | None) -> CarryReport:
    """Begin to carry a series to a release.

    Raises:
        BadInput: no such series or release, a carry to it that has stopped, a folder's name that is none or taken, a
            variant that serves it alone.
        PatchFailed: no patch is needed there.
    """
    series = context.workspace.series(name)
    pin = context.workspace.pins.find(release)
    chosen = folder or f"rebase-{'-'.join(map(str, pin.version.release))}"
    require_name(chosen, "the variant's folder")
    entry = series.range_for(pin.version)
    if entry is not None and entry.exact:
        raise BadInput(f"variant {entry.folder} serves {release} already; edit it with `headwater patch refresh`")
    _require_free(series, chosen)
    tree = _tree(context, name, release)
    if tree.is_there:
        raise BadInput(
            f"a carry of {name} to {release} has stopped at {tree.path}; go on with "
            f"`headwater patch carry {name} --to {release} --continue`, or give it up with --abort"
        )
    require_some(series, needless_patches(context, series, pin.version), release)
    return context.mirror.mending(_begin, context, series, pin, chosen)


def _require_free(series: Series, folder: str) -> None:
    if (series.folder / folder).exists():
        raise BadInput(f"patches/{series.name}/{folder} is there already; name another folder with --as")


def _begin(context: Context, series: Series, pin: Pin, folder: str) -> CarryReport:
    session = Session(series.name, str(pin.version), folder, {}, (), "", context.mirror.ensure(pin))
    with context.subjects.carrier() as carrier:
        return _go_on(context, carrier, carrier.stack(series, pin.version), pin, session)


def resume(context: Context, name: str, release: str) -> CarryReport:
    """Go on with a carry once its conflict is resolved.

    Raises:
        BadInput: none has stopped, conflict markers are left, or the edits leave nothing of the patch.
    """
    series = context.workspace.series(name)
    pin = context.workspace.pins.find(release)
    tree = _tree(context, name, release)
    session = tree.session()
    edited = tree.edited_tree(session)
    git = context.mirror.git
    if edited == git("rev-parse", f"{session.onto}^{{tree}}"):
        raise BadInput(f"nothing is changed at {tree.path}: {session.patch} would be empty. Edit it there, or --abort")
    with context.subjects.carrier() as carrier:
        stack = carrier.stack(series, pin.version)
        steps = {step.patch.file: step for step in stack.steps}
        if session.patch not in steps:
            raise BadInput(f"series {name} has no patch {session.patch} any more; give the carry up with --abort")
        commit = carrier.commit(steps[session.patch].patch, edited, session.onto)
        done = replace(
            session,
            done={**session.done, session.patch: commit},
            written=(*session.written, session.patch),
            onto=commit,
        )
        return _go_on(context, carrier, stack, pin, done)


def abort(context: Context, name: str, release: str) -> Path:
    """Give a carry up; the work tree goes, with what was edited there.

    Raises:
        BadInput: none has stopped.
    """
    tree = _tree(context, name, release)
    if not tree.is_there:
        raise BadInput(f"no carry of {name} to {release} has stopped at {tree.path}")
    tree.remove()
    return tree.path


def _tree(context: Context, name: str, release: str) -> CarryTree:
    version = context.workspace.pins.find(release).version
    path = context.workspace.checkouts / f"{name}-onto-{version}"
    context.mirror.prepare()
    return CarryTree(context.mirror.git, context.cache, path)


def _go_on(context: Context, carrier: Carrier, stack: Stack, pin: Pin, session: Session) -> CarryReport:
    skipped = needless_patches(context, stack.series, pin.version)
    cells = [PatchStatus(patch, PatchState.CLEAN, "done") for patch in session.done]
    for step in stack.steps:
        file = step.patch.file
        if file in session.done:
            continue
        if file in skipped:
            cells.append(PatchStatus(file, skipped[file], ""))
            continue
        carried = carrier.carry(step, session.onto)
        cells.append(PatchStatus(file, carried.state, carried.reason))
        if carried.state.refused:
            return _stop(context, carrier, step, session, cells)
        written = session.written if carried.state in _FITS else (*session.written, file)
        session = replace(
            session, done={**session.done, file: carried.commit}, written=written, onto=carried.commit or session.onto
        )
    return _finish(context, carrier, stack, pin, session, cells)


def _stop(
    context: Context, carrier: Carrier, step: PatchStep, session: Session, cells: list[PatchStatus]
) -> CarryReport:
    tree = _tree(context, session.series, session.release)
    tree.stop(replace(session, patch=step.patch.file), carrier.draft(step, session.onto))
    return CarryReport(session.series, session.release, tuple(cells), step.patch.file, tree.path)


def _finish(
    context: Context, carrier: Carrier, stack: Stack, pin: Pin, session: Session, cells: list[PatchStatus]
) -> CarryReport:
    report = CarryReport(session.series, session.release, tuple(cells))
    tree = _tree(context, session.series, session.release)
    if session.written:
        git = context.mirror.git
        # What the variant holds that served the release so far the default lacks, which serves the rest from now on.
        own = stack.variant.file.patches if stack.variant else ()
        files = [file for file, commit in session.done.items() if file in session.written or (commit and file in own)]
        texts = {file: patch_text(git, str(session.done[file])) for file in files}
        entry = _write(context, carrier, stack, pin, session.folder, texts)
        report = replace(report, variant=session.folder, serves=str(entry), files=tuple(texts))
    if tree.is_there:
        tree.remove()
    return report


def _write(context: Context, carrier: Carrier, stack: Stack, pin: Pin, folder: str, texts: dict[str, bytes]) -> Range:
    """Write a variant, once it is seen to apply as it stands; the range that it serves."""
    series = stack.series
    _require_free(series, folder)
    library = context.mirror.library_tree(context.mirror.ensure(pin))
    entry = _serves(context, carrier, stack, pin, folder)
    made = Variant(
        folder,
        SeriesFile(pin.version, library, tuple(texts)),
        tuple(read_patch(file, content) for file, content in texts.items()),
    )
    file = replace(series.file, ranges=(*series.file.ranges, entry))
    carrier.stack(replace(series, file=file, variants={**series.variants, folder: made}), pin.version)
    comment = f"The patches of {series.name} that read otherwise here."
    text = new_series(str(pin.version), library, tuple(texts), comment)
    listing = with_range(context.workspace.read_text(series.folder / SERIES), entry)
    contents = {f"{folder}/{name}": content for name, content in texts.items()}
    contents |= {f"{folder}/{SERIES}": text.encode("utf-8"), SERIES: listing.encode("utf-8")}
    write_together(series.folder, contents)
    return entry


def _serves(context: Context, carrier: Carrier, stack: Stack, pin: Pin, folder: str) -> Range:
    """The releases that a variant made for `pin` can serve: it, and its neighbours with the same files, as far as no
    range names them yet and they are in the mirror."""
    pins = context.workspace.pins
    if stack.variant is not None:
        # Another range holds it: one that names it alone goes before that, and a longer one would overlap.
        return Range(pin.version, pin.version, folder)
    imported = {Version(version) for version in context.mirror.imported()}
    known = [pins.pin(version) for version in pins.versions if version in imported]
    texts = dict(zip(known, carrier.texts(stack, [context.mirror.ensure(one) for one in known]), strict=True))
    free = [one for one in known if texts[one] == texts[pin] and stack.series.range_for(one.version) is None]
    first = last = pins.versions.index(pin.version)
    order = {pins.versions.index(one.version) for one in free}
    while first - 1 in order:
        first -= 1
    while last + 1 in order:
        last += 1
    return Range(pins.versions[first], pins.versions[last], folder)
