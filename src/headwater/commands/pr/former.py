# SPDX-License-Identifier: Apache-2.0
"""An earlier export of a series, and what changed since, patch by patch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater.commands.context import Context
from headwater.commands.pr.replay import Bundle
from headwater.commands.pr.target import Target
from headwater.core.errors import BadInput, PatchFailed
from headwater.core.mail import Patch
from headwater.core.pr_evidence import EVIDENCE, RANGE_DIFF, PrEvidence
from headwater.core.releases import parse_version
from headwater.effects.carrying import Carrier
from headwater.effects.mailbox import read_mails
from headwater.effects.pr_folder import read_bundle_evidence
from headwater.effects.series_folder import Series


@dataclass(frozen=True)
class Former:
    """An earlier export: its folder, and its evidence where it is a bundle. `named`: the user asked for it."""

    folder: Path
    evidence: PrEvidence | None
    named: bool


def former_in(former: Path | None, folder: Path, series: str) -> Former | None:
    """The earlier export that was named, else the bundle that lies where the new one goes.

    Raises:
        BadInput: there is no patch in the one that was named, or the one in place is of another series.
    """
    evidence = read_bundle_evidence(folder) if (folder / EVIDENCE).is_file() else None
    if evidence is not None and evidence.series != series:
        raise BadInput(f"{folder} holds a bundle of series {evidence.series}; name another folder by --output")
    if former is not None and former.resolve() != folder:
        if not any(former.glob("*.patch")):
            raise BadInput(f"--former {former}: no *.patch file in it")
        known = read_bundle_evidence(former) if (former / EVIDENCE).is_file() else None
        return Former(former.resolve(), known, named=True)
    return Former(folder, evidence, named=former is not None) if evidence is not None else None


def range_diff(
    context: Context, series: Series, target: Target, bundle: Bundle, former: Former
) -> tuple[str, str | None]:
    """git's range-diff from an earlier export to a bundle, and a note where there can be none. A bundle that is made
    again where it lies has what its folder had, as long as no patch changes: so it is the same every time.

    Raises:
        BadInput: the export was named, and applies neither to the target nor to where it came from.
    """
    old = {path.name: path.read_bytes() for path in former.folder.glob("*.patch")}
    if old == dict(bundle.contents) and not former.named:
        there = former.folder / RANGE_DIFF
        return there.read_text(encoding="utf-8") if there.is_file() else "", None
    context.mirror.prepare()
    with context.cache.building("former") as folder, context.subjects.carrier() as carrier:
        patches = read_mails(context.mirror.git, [former.folder], folder)
        places = [target.commit, *_other_places(context, series, former)]
        onto, top = _applied(carrier, patches, places, series.name)
        if top is None or onto is None:
            words = (
                f"the patches in {former.folder} apply neither to {target.subject.revision} nor to where they came from"
            )
            if former.named:
                raise BadInput(f"--former: {words}")
            return "", f"no range-diff: {words}"
        new = target.commit
        for patch in bundle.patches:
            new = carrier.add(patch, new, series.name, target.subject.revision)
        text = context.mirror.git("range-diff", "--no-color", f"{onto}..{top}", f"{target.commit}..{new}")
        return f"{text}\n", None


def _other_places(context: Context, series: Series, former: Former) -> list[str]:
    """Commits that an export may be made for: the release of its bundle, and the series' base."""
    releases = [series.file.base]
    if former.evidence is not None:
        releases.insert(0, parse_version(former.evidence.target.release))
    pins = context.workspace.pins
    return [context.mirror.ensure(pins.pin(release)) for release in releases if release in pins.versions]


def _applied(carrier: Carrier, patches: list[Patch], places: list[str], series: str) -> tuple[str | None, str | None]:
    for place in dict.fromkeys(places):
        top = place
        try:
            for patch in patches:
                top = carrier.add(patch, top, series, place[:12])
        except PatchFailed:
            continue
        return place, top
    return None, None
