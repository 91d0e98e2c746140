# SPDX-License-Identifier: Apache-2.0
"""`headwater pins`: record the releases of the index, and verify what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from headwater.commands.context import Context
from headwater.core.errors import HarnessError
from headwater.core.events import Note
from headwater.core.pins import IndexFile, Pin, Pins, read_pins
from headwater.core.pins_text import add_releases, set_groups, set_values
from headwater.effects.bytecode import modules_in, site_packages
from headwater.effects.files import write_atomically
from headwater.effects.index import IndexRelease
from headwater.effects.locks import Lock, LockMaker
from headwater.effects.mirror import Mirror
from headwater.effects.workspace import Workspace

_IMPORTS = """\
# The modules of environments' packages that probes import, in the order in which they do. An environment is built with
# the byte code of these alone, and has them there before the first probe. `headwater pins imports` writes this.
"""


@dataclass(frozen=True)
class PinsReport:
    """What `pins update` did or `pins check` found: lines for the reader, and whether all is well."""

    lines: tuple[str, ...]
    well: bool


def update(context: Context, *, trees: bool, locks: bool) -> PinsReport:
    """Add the releases that are new in the index; with `trees` record tree ids, with `locks` make all locks anew.

    Raises:
        HarnessError: the index has another file under a pinned name; nothing is written then.
    """
    workspace = context.workspace
    listed = {release.version: release for release in context.index.releases(workspace.pins.package)}
    changed = [line for pin in workspace.pins.releases for line in _changed_files(pin, listed.get(pin.version))]
    if changed:
        raise HarnessError("the index no longer has what is pinned; nothing was written:\n" + "\n".join(changed))
    text = workspace.pins_file.read_text(encoding="utf-8")
    text, lines = _take_yanks(text, workspace.pins, listed)
    new = [_pin(r) for v, r in listed.items() if v >= workspace.pins.first and v not in workspace.pins.versions]
    text = add_releases(text, new)
    lines += [f"added {pin.version}, uploaded {pin.uploaded:%Y-%m-%d}" for pin in new]
    pins = read_pins(text, workspace.pins_file.name)
    made = _make_locks(context, pins, new, locks)
    if made:
        text = set_groups(text, [lock.group for lock in made])
        changed_groups = [lock.group for lock in made if locks or lock.group not in pins.groups]
        lines += [f"{group.lock} serves {group.first} to {group.last}" for group in changed_groups]
    if trees:
        text, recorded = _record_trees(context, text)
        lines += recorded
    read_pins(text, workspace.pins_file.name)
    for lock in made:
        write_atomically(workspace.upstream / lock.group.lock, lock.text)
    write_atomically(workspace.pins_file, text)
    if locks:
        _remove_unused_locks(workspace, text)
    return PinsReport(tuple(lines) or (f"nothing new: {len(pins.releases)} releases are pinned",), True)


def _take_yanks(text: str, pins: Pins, listed: dict[Version, IndexRelease]) -> tuple[str, list[str]]:
    values: dict[Version, dict[str, Any]] = {}
    lines = []
    for pin in pins.releases:
        release = listed.get(pin.version)
        if release is not None and release.yanked != pin.yanked:
            values[pin.version] = {"yanked": release.yanked}
            lines.append(f"{pin.version} is {'yanked: ' + release.yanked if release.yanked else 'no longer yanked'}")
    return (set_values(text, values) if values else text), lines


def _pin(release: IndexRelease) -> Pin:
    return Pin(
        release.version,
        release.uploaded,
        release.requires_python,
        release.yanked,
        release.wheel,
        release.sdist,
    )


def _changed_files(pin: Pin, release: IndexRelease | None) -> list[str]:
    if release is None:
        return [f"{pin.version}: the index no longer lists it"]
    pairs = (("wheel", pin.wheel, release.wheel), ("sdist", pin.sdist, release.sdist))
    return [
        f"{pin.version}: the {kind} is {_described(seen) if seen else 'not listed'}, pinned is {_described(pinned)}"
        for kind, pinned, seen in pairs
        if pinned is not None and pinned != seen
    ]


def _described(file: IndexFile) -> str:
    return f"{file.file} with sha256 {file.sha256} and {file.size} bytes"


def _changed_facts(pin: Pin, release: IndexRelease | None) -> list[str]:
    if release is None:
        return []
    pairs = (("upload time", pin.uploaded, release.uploaded), ("python", pin.requires_python, release.requires_python))
    return [f"{pin.version}: the index says {kind} {seen}, pinned is {had}" for kind, had, seen in pairs if had != seen]


def _make_locks(context: Context, pins: Pins, new: Sequence[Pin], from_scratch: bool) -> list[Lock]:
    maker = LockMaker(pins.package, pins.torch, context.index, context.workspace.cache.wheels, context.emit)
    if from_scratch or not pins.groups:
        return maker.from_scratch(pins.releases)
    return maker.extend(pins.groups, context.workspace.lock_text, new) if new else []


def _remove_unused_locks(workspace: Workspace, text: str) -> None:
    used = {workspace.imports_file.name} | {
        Path(group.lock).name for group in read_pins(text, workspace.pins_file.name).groups
    }
    for path in (workspace.upstream / "locks").glob("*.txt"):
        if path.name not in used:
            path.unlink()


def _record_trees(context: Context, text: str) -> tuple[str, list[str]]:
    """Import every release and write down the ids that came out. Ids that are pinned already are checked by that."""
    pins = read_pins(text, context.workspace.pins_file.name)
    mirror = Mirror(context.cache, pins, context.index, context.emit)
    before = len(mirror.imported())
    commits = dict(zip(pins.releases, mirror.ensure_all(pins.releases), strict=True))
    values = {
        pin.version: {"tree": mirror.library_tree(commit), "mirror_commit": commit}
        for pin, commit in commits.items()
        if pin.tree is None or pin.mirror_commit is None
    }
    if len(mirror.imported()) > before:
        mirror.repack(anew=True)
    return set_values(text, values), [f"{v}: tree {ids['tree']}" for v, ids in values.items()]


def imports(context: Context) -> PinsReport:
    """Record which modules of their packages the environments of this machine import for probes: those alone are
    compiled when one is built. Of a group of releases without an environment here what is recorded stays.

    Raises:
        HarnessError: nothing was probed here yet.
    """
    workspace = context.workspace
    names: list[str] = []
    without: list[str] = []
    for group in workspace.pins.groups:
        environment = context.environments.describe(workspace.pins.pin(group.last))
        learned = modules_in(site_packages(environment.folder), environment.preload.read())
        names += learned
        without += [] if learned else [group.name]
    if not names:
        raise HarnessError(
            "no environment here has imported a package for a probe; `headwater repro RELEASE` runs some"
        )
    listed = list(dict.fromkeys([*names, *(workspace.imports if without else ())]))
    write_atomically(workspace.imports_file, _IMPORTS + "".join(f"{name}\n" for name in listed))
    lines = [f"{len(listed)} modules are recorded in {workspace.imports_file.relative_to(workspace.root)}"]
    lines += [f"what is recorded of {name} stays: no probe ran in that environment here" for name in without]
    return PinsReport(tuple(lines), True)


def check(context: Context) -> PinsReport:
    """Verify the pins against the index, the locks against what the releases require, the mirror against the pins."""
    workspace = context.workspace
    pins = workspace.pins
    listed = {release.version: release for release in context.index.releases(pins.package)}
    lines = [line for pin in pins.releases for line in _changed_files(pin, listed.get(pin.version))]
    _text, yanks = _take_yanks(workspace.pins_file.read_text(encoding="utf-8"), pins, listed)
    lines += [f"{line}, and the pins say otherwise" for line in yanks]
    lines += [line for pin in pins.releases for line in _changed_facts(pin, listed.get(pin.version))]
    missing = [str(v) for v in listed if v >= pins.first and v not in pins.versions]
    if missing:
        lines.append(f"not pinned yet: {', '.join(missing)}; `headwater pins update` adds them")
    without = [str(pin.version) for pin in pins.releases if not pins.is_grouped(pin.version)]
    if without:
        lines.append(f"no environment group holds {', '.join(without)}; `headwater pins update --locks` makes one")
    testable = [pin for pin in pins.releases if pin.version in listed and pins.is_grouped(pin.version)]
    maker = LockMaker(pins.package, pins.torch, context.index, workspace.cache.wheels, context.emit)
    lines += maker.check(testable, lambda pin: workspace.lock_text(pins.group_of(pin.version).lock))
    # A mirror that several workspaces share may hold more than this one's pins.
    held = context.mirror.imported()
    imported = [pin for pin in pins.releases if str(pin.version) in held]
    for pin in imported:
        # Raises where the ids are not those of the pins.
        context.mirror.ensure(pin)
    unrecorded = [str(pin.version) for pin in pins.releases if pin.tree is None]
    if unrecorded:
        context.emit(Note(f"no tree id is recorded yet of {', '.join(unrecorded)}: `headwater pins update --trees`"))
    if lines:
        return PinsReport(tuple(lines), False)
    good = (
        f"{len(pins.releases)} pins agree with the index {context.index.name}",
        f"{len(pins.groups)} locks satisfy what they require",
        f"{len(imported)} releases in the mirror have the pinned ids",
    )
    return PinsReport(good, True)
