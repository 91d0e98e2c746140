# SPDX-License-Identifier: Apache-2.0
"""`headwater audit`: the known bugs of a release, or of what is installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from headwater.commands.context import Context
from headwater.commands.patch.choosing import needless_patches
from headwater.core.auditing import Audit, Remedy, audit_release
from headwater.core.errors import BadInput
from headwater.core.releases import nearest, require_known
from headwater.effects.installed import Installed, find_installed
from headwater.effects.series_folder import Series, series_names


@dataclass(frozen=True)
class AuditReport:
    """What is known of one release, which `installed` may have named; `notes` are what a reader must know besides."""

    package: str
    named: str
    installed: Installed | None
    audit: Audit
    covered: int
    notes: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """0 only where the atlas was measured on this very release, and all is good or absent."""
        unknown = self.audit.release is None or (self.installed is not None and self.installed.origin is not None)
        return 1 if unknown else self.audit.exit_status


def audit(context: Context, release: str | None, python: Path | None) -> AuditReport:
    """Look up a release, or what is installed, in the atlas. Works from the workspace's files alone.

    Raises:
        BadInput: there is no such release; or nothing is installed, with where that was looked for.
    """
    pins = context.workspace.pins
    if release is not None:
        if python is not None:
            raise BadInput("name a release, or an interpreter with --python, not both")
        return _report(context, require_known(release, pins.versions), release, None, [])
    installed = find_installed(pins.package, python, os.environ, Path(sys.executable))
    return _report(context, *_as_release(installed, pins.versions))


def _as_release(installed: Installed, known: tuple[Version, ...]) -> tuple[Version | None, str, Installed, list[str]]:
    """The pinned release that an installed version is, None where it is none, and what to say of it."""
    notes = []
    if installed.origin is not None:
        notes.append(
            f"It was installed from {installed.origin}, and may differ from the release; "
            f"`headwater repro --tree {installed.place}` probes it as it is."
        )
    try:
        version = Version(installed.version)
    except InvalidVersion:
        return None, installed.version, installed, [*notes, f"{installed.version!r} is no version by PEP 440."]
    if version in known:
        return version, installed.version, installed, notes
    kind = "a development version" if version.is_devrelease or version.local else "not among the pinned releases"
    names = ", ".join(str(v) for v in nearest(version, known))
    notes.append(
        f"{version} is {kind}, so nothing is known of it; the nearest releases are {names}. "
        "`headwater pins update && headwater atlas update --new` adds releases that are new in the index."
    )
    return None, installed.version, installed, notes


def _report(
    context: Context, release: Version | None, named: str, installed: Installed | None, notes: list[str]
) -> AuditReport:
    workspace = context.workspace
    cases, pins = workspace.atlas_cases(), workspace.pins
    if release is None:
        found = Audit(None, (), {}, tuple(cases), 0)
    else:
        found = audits(context, [release])[release]
        if (reason := pins.pin(release).yanked) is not None:
            notes.append(f"{release} is yanked from the index: {reason}")
    return AuditReport(pins.package, named, installed, found, len(cases), tuple(notes))


def audits(context: Context, releases: Iterable[Version]) -> dict[Version, Audit]:
    """What the atlas says of each of several releases."""
    workspace = context.workspace
    cases, pins = workspace.atlas_cases(), workspace.pins
    yanked = {pin.version for pin in pins.releases if pin.yanked is not None}
    every = [workspace.series(name) for name in series_names(workspace.patches)]
    return {
        release: audit_release(
            workspace.atlas, cases, release, pins.versions, yanked, _remedies(context, every, release)
        )
        for release in releases
    }


def _remedies(context: Context, every: Sequence[Series], release: Version) -> dict[str, tuple[Remedy, ...]]:
    """The patches that mend each case, as they read for a release: by the ranges that their series declare. What one
    mends besides counts where it is applied at all."""
    found: dict[str, tuple[Remedy, ...]] = {}
    for series in every:
        variant = series.variant_for(release)
        own = {patch.file: patch for patch in variant.patches} if variant else {}
        needless = needless_patches(context, series, release)
        for patch in series.patches:
            base = variant.file.base if variant and patch.file in own else series.file.base
            folder = variant.name if variant and patch.file in own else None
            read = own.get(patch.file, patch)
            for case in (*read.cases, *(() if patch.file in needless else read.also)):
                found[case] = (*found.get(case, ()), Remedy(series.name, patch.file, folder, base))
    return found
