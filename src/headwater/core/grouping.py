# SPDX-License-Identifier: Apache-2.0
"""Which releases share an environment: consecutive ones, as long as one lock satisfies them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from headwater.core.errors import HarnessError

_PINNED = re.compile(r"(?m)^(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?==(?P<version>[^\s;\\]+)")
# torch's CUDA libraries: a lock stands without torch, and these come with the build that is installed.
_CUDA = re.compile(r"(nvidia-|cuda-|triton$)")


def plain_requirements(lines: Iterable[str]) -> list[Requirement]:
    """The requirements of an install without extras, for any platform and Python.

    Raises:
        HarnessError: a line is no requirement.
    """
    found = []
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            raise HarnessError(f"the index lists the requirement {line!r}, which is none: {error}") from error
        if requirement.marker is None or "extra" not in str(requirement.marker):
            found.append(requirement)
    return found


def torch_requirements(lines: Iterable[str]) -> list[Requirement]:
    """What torch requires on every platform: its own list without the libraries of the CUDA builds."""
    return [r for r in plain_requirements(lines) if not _CUDA.match(canonicalize_name(r.name))]


def union(groups: Sequence[Sequence[Requirement]]) -> list[str]:
    """All requirements of several releases, each once, sorted."""
    return sorted({str(requirement) for group in groups for requirement in group})


def locked_versions(lock: str) -> dict[str, Version]:
    """The versions that a lock pins, by normalised name. Where markers split a name, the last one counts."""
    return {canonicalize_name(m["name"]): Version(m["version"]) for m in _PINNED.finditer(lock)}


def unsatisfied(requirements: Iterable[Requirement], locked: Mapping[str, Version]) -> list[str]:
    """The requirements, of those that apply to this Python and platform, that a lock does not satisfy."""
    here = {key: str(value) for key, value in default_environment().items()}
    missing = []
    for requirement in requirements:
        if requirement.marker is not None and not requirement.marker.evaluate(here):
            continue
        version = locked.get(canonicalize_name(requirement.name))
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            missing.append(str(requirement))
    return missing
