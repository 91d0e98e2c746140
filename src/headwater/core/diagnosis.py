# SPDX-License-Identifier: Apache-2.0
"""What a machine has of what Headwater uses, and what each lack costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from headwater.core.matrix import ranges
from headwater.core.pins import Pins

OLDEST_GIT = "2.38"  # the first that has `merge-tree --write-tree`
OLDEST_PYTHON = "3.11"
ROOM = 4_000_000_000  # bytes: an environment, its packages' wheels beside it, and some trees
ACCELERATORS = ("cuda", "mps", "xpu")


class State(Enum):
    """How it is with a thing: here, lacking, or not looked for because that was not allowed or not possible."""

    HERE = "here"
    LACKING = "lacking"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Finding:
    """One thing that Headwater uses. `found` says in a few words what is there; `cost` what a lack of it costs, and
    `remedy` what to do, both empty where nothing lacks. Without what is `necessary` nothing new can be probed."""

    name: str
    state: State
    found: str
    cost: str = ""
    remedy: str = ""
    necessary: bool = False


def exit_status(findings: Sequence[Finding]) -> int:
    """1 where something necessary lacks, else 0."""
    return int(any(one.necessary and one.state is State.LACKING for one in findings))


def of_python(version: str, pins: Pins | None) -> Finding:
    """The Python that runs Headwater, with which environments are made."""
    if Version(version) < Version(OLDEST_PYTHON):
        told = f"Headwater needs {OLDEST_PYTHON} or later"
        return Finding("Python", State.LACKING, version, told, "start it with a newer one", True)
    pinned = pins.releases if pins else ()
    asking = [str(pin.version) for pin in pinned if Version(version) not in SpecifierSet(pin.requires_python or "")]
    if asking:
        cost = f"{ranges([str(pin.version) for pin in pinned], asking)}: untestable with it"
        return Finding("Python", State.LACKING, version, cost, "start Headwater with another one")
    return Finding("Python", State.HERE, version, necessary=True)


def of_git(version: str | None, error: str) -> Finding:
    """git, by the version that it says, or why it says none."""
    cost = "no release can be imported or laid out, no patch carried; only what is stored can be shown"
    remedy = f"install git {OLDEST_GIT} or later, and have it on PATH"
    if version is None:
        return Finding("git", State.LACKING, error, cost, remedy, True)
    try:
        old = Version(version) < Version(OLDEST_GIT)
    except InvalidVersion:
        old = False  # A build that numbers itself otherwise; it shows whether it can.
    if old:
        return Finding("git", State.LACKING, version, cost, remedy, True)
    return Finding("git", State.HERE, version, necessary=True)


def of_uv(version: str | None, error: str) -> Finding:
    """uv, which makes the environments."""
    if version is not None:
        return Finding("uv", State.HERE, version, necessary=True)
    return Finding("uv", State.LACKING, error, "no environment can be made", "python -m pip install uv", True)


def of_workspace(place: str | None, pinned: int) -> Finding:
    """The workspace that the current folder lies in."""
    if place is not None:
        return Finding("workspace", State.HERE, f"{place}: {pinned} releases pinned", necessary=True)
    cost = "there are no pins, cases or series to work with"
    return Finding("workspace", State.LACKING, "none around this folder", cost, "cd into one, or --workspace", True)


def of_caches(place: str, writable: bool, free: int) -> Finding:
    """The folder of the caches, and the disk that it lies on; `free` in bytes."""
    found = f"{free / 1e9:.1f} GB free in {place}"
    if not writable:
        cost = "nothing can be imported, built or stored"
        return Finding(
            "disk", State.LACKING, f"{place} cannot be written to", cost, "point HEADWATER_CACHE elsewhere", True
        )
    if free < ROOM:
        cost = f"an environment and its trees take up to {ROOM / 1e9:.0f} GB; what does not fit is refused"
        return Finding(
            "disk", State.LACKING, found, cost, "headwater cache prune, or HEADWATER_CACHE on another disk", True
        )
    return Finding("disk", State.HERE, found, necessary=True)


def of_index(name: str, error: str | None, ready: bool) -> Finding:
    """The package index; `error` None where it answers. `ready`: releases are imported and an environment stands."""
    if error is None:
        return Finding("index", State.HERE, name, necessary=not ready)
    cost = "no release can be imported, no environment made" + ("; what is cached can be probed" if ready else "")
    return Finding("index", State.LACKING, error, cost, "PIP_INDEX_URL or UV_INDEX_URL names another", not ready)


def of_torch(version: str | None, error: str, links: Sequence[str]) -> Finding:
    """The torch that environments get, with its build. `links`: where wheels are looked for before the index."""
    looked = f"find-links {', '.join(links)}" if links else "no find-links: from the index"
    if version is not None:
        return Finding("torch", State.HERE, f"{version}; {looked}", necessary=True)
    cost = "no environment can be made: every probe is untestable"
    return Finding(
        "torch", State.LACKING, error, cost, "UV_FIND_LINKS or PIP_FIND_LINKS names a folder of wheels", True
    )


def of_devices(seen: Sequence[str] | None, driver: bool, error: str = "") -> Finding:
    """The accelerators that torch sees; `seen` None where no environment stands yet that could be asked, or, with an
    `error`, where it could not answer. `driver`: a driver for NVIDIA's is loaded."""
    if error:
        cost = "what torch cannot be asked in an environment, no probe can use there"
        return Finding("devices", State.LACKING, error, cost, "headwater cache clean, and make it anew")
    if seen is None:
        told = "cpu, meta; " + ("a driver for cuda is loaded" if driver else "no driver for cuda")
        return Finding(
            "devices", State.NOT_ASKED, told, remedy="the first probe makes the environment that can be asked"
        )
    found = ", ".join(("cpu", "meta", *seen))
    missing = [kind for kind in ACCELERATORS if not any(name.startswith(kind) for name in seen)]
    if len(missing) < len(ACCELERATORS):
        return Finding("devices", State.HERE, found)
    return Finding(
        "devices", State.LACKING, found, f"probes on {', '.join(missing)} are unavailable", "another machine"
    )


def of_remote(named: str | None, error: str | None) -> Finding:
    """The upstream repository that `--repo` or HEADWATER_REPO names; `error` None where it answers."""
    cost = "hunts end at releases, not commits; no upstream tests in the matrix; pr goes onto releases, not main"
    if named is None:
        return Finding("remote", State.LACKING, "HEADWATER_REPO is not set", cost, "--repo PATH-OR-URL")
    if error is not None:
        return Finding("remote", State.LACKING, f"{named}: {error}", cost, "another --repo PATH-OR-URL")
    return Finding("remote", State.HERE, named)


def of_platform(platform: str) -> Finding:
    """The system, as `sys.platform` names it."""
    if platform == "linux":
        return Finding("system", State.HERE, platform)
    cost = "no fork server: every probe imports the library anew; processes that leave their group are not found"
    return Finding("system", State.LACKING, platform, cost, "Linux, or a container of it")


def of_encoding(encoding: str) -> Finding:
    """What the terminal's characters are written in."""
    if encoding.lower().replace("-", "") in ("utf8", "utf8sig"):
        return Finding("locale", State.HERE, encoding)
    return Finding("locale", State.LACKING, encoding, "signs that it lacks are shown as ?", "LC_ALL=C.UTF-8")


def of_program(name: str, path: str | None, cost: str, remedy: str) -> Finding:
    """A program, or package, that something needs which not everybody uses."""
    if path is not None:
        return Finding(name, State.HERE, path)
    return Finding(name, State.LACKING, "not here", cost, remedy)
