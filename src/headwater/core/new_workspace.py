# SPDX-License-Identifier: Apache-2.0
"""What a new workspace is made of: what Headwater ships of its own workspace, and templates for the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template

from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.pins import read_pins

# The line of the noxfile below which stands what Headwater alone needs, and no other workspace.
OWN_SESSIONS = "# Below this line: Headwater's own tests and checks, which `headwater init` leaves out.\n"
_LIBRARY = re.compile(r"(?m)^LIBRARY = .*$")
_ALWAYS = ("noxfile.py", "scripts/headwater.py", "scripts/bisect.py", "tests/repro/casekit.py")


@dataclass(frozen=True)
class About:
    """What a workspace is to be about: a library, by the name that both the index and Python know; the oldest release
    to pin, and the torch of its environments, None where it needs none. Of a shipped library both are None."""

    library: str
    first: Version | None = None
    torch: str | None = None


@dataclass(frozen=True)
class InitReport:
    """The files that were laid out, by their places in `folder`, and what to do next, a command line each."""

    folder: str
    library: str
    files: tuple[str, ...]
    steps: tuple[str, ...]


def shipped_library(shipped: Mapping[str, bytes]) -> str:
    """The library whose workspace Headwater ships."""
    [name] = [found[1] for place in shipped if (found := re.fullmatch(r"upstream/([^/]+)\.toml", place))]
    return name


def steps(about: About, shipped: Mapping[str, bytes]) -> tuple[str, ...]:
    """What to do in a new workspace, a command line each."""
    if about.library == shipped_library(shipped):
        place = f"upstream/{about.library}.toml"
        newest = read_pins(shipped[place].decode(), place).versions[-1]
        return (f"headwater audit {newest}", f"headwater repro {newest}")
    return ("headwater pins update --trees", f"headwater repro {about.first}")


def files_of(about: About, shipped: Mapping[str, bytes], templates: Mapping[str, str]) -> dict[str, bytes]:
    """The files of a new workspace, by their places: all that is shipped, for the library that it is about; for another
    one what every workspace has, pins without a release, and an example of a case.

    Raises:
        BadInput: the library's name, or that its oldest release is missing or given for nothing.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", about.library):
        raise BadInput(f"--library {about.library}: a name is wanted that the index and Python's import both know")
    own = about.library == shipped_library(shipped)
    if own and (about.first or about.torch):
        raise BadInput(f"the pins of {about.library} are shipped; --first and --torch are for other libraries")
    if not own and about.first is None:
        raise BadInput(f"--library {about.library} needs --first RELEASE, the oldest release to pin")
    begin = "\n    ".join(steps(about, shipped))
    words = {"library": about.library, "first": str(about.first), "begin": begin}
    texts = {name: Template(text).substitute(words) for name, text in templates.items()}
    files = dict(shipped) if own else {place: shipped[place] for place in _ALWAYS}
    files["noxfile.py"] = files["noxfile.py"].decode().partition(OWN_SESSIONS)[0].rstrip().encode() + b"\n"
    files |= {"README.md": texts["README.md"].encode(), ".gitignore": texts["gitignore"].encode()}
    if not own:
        pins = texts["pins.toml"] + (f'torch = "{about.torch}"\n' if about.torch else "")
        helper = _LIBRARY.sub(f'LIBRARY = "{about.library}"', files["tests/repro/casekit.py"].decode())
        files["tests/repro/casekit.py"] = helper.encode()
        files[f"upstream/{about.library}.toml"] = pins.encode()
        files["tests/repro/example.py"] = texts["example.txt"].encode()
    return dict(sorted(files.items()))


def in_the_way(names: Sequence[str]) -> str | None:
    """What of a folder keeps a workspace from being laid out in it, in words; None where nothing does. A repository
    that is empty yet is no hindrance."""
    found = sorted(name for name in names if name != ".git")
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(found[:5]) + more if found else None
