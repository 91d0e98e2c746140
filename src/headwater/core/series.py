# SPDX-License-Identifier: Apache-2.0
"""Series: ordered sets of patches with one purpose, as written in a folder's `series` file.

# a comment
base: 5.10.1 <id of the src/transformers tree of that release>
0001-subject.patch
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import HeaderParser

from packaging.version import Version

from headwater.core.errors import BadInput
from headwater.core.releases import parse_version

_BASE = re.compile(r"base:\s+(?P<release>\S+)\s+(?P<tree>[0-9a-f]{40})\s*$")
_PATCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*\.patch$")


@dataclass(frozen=True)
class SeriesFile:
    """What a `series` file says: the release it is written against, that release's tree id, the patch files."""

    base: Version
    base_tree: str
    patches: tuple[str, ...]


def read_series(text: str, origin: str) -> SeriesFile:
    """Read a `series` file.

    Raises:
        BadInput: a line that is no comment, no `base:` and no patch file's name; no base; a patch twice.
    """
    base: tuple[Version, str] | None = None
    patches: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("base:"):
            if base is not None:
                raise BadInput(f"{origin}, line {number}: a second base")
            base = _read_base(line, f"{origin}, line {number}")
        elif not _PATCH.match(line):
            raise BadInput(f"{origin}, line {number}: neither a comment, a base nor a patch's name: {line!r}")
        elif line in patches:
            raise BadInput(f"{origin}, line {number}: {line} is listed twice")
        else:
            patches.append(line)
    if base is None:
        raise BadInput(f"{origin}: no `base: RELEASE TREE-ID` line")
    if not patches:
        raise BadInput(f"{origin}: lists no patch")
    return SeriesFile(*base, tuple(patches))


def _read_base(line: str, place: str) -> tuple[Version, str]:
    base = _BASE.match(line)
    if base is None:
        raise BadInput(f"{place}: not `base: RELEASE TREE-ID`: {line!r}")
    try:
        return parse_version(base["release"]), base["tree"]
    except BadInput as error:
        raise BadInput(f"{place}: {error}") from error


@dataclass(frozen=True)
class Patch:
    """One patch in git's mail format.

    `cases` are the ids of its `Headwater-Case` trailers; `tests` the test files that it adds or changes.
    """

    file: str
    content: bytes
    subject: str
    body: str
    author: str
    date: str
    cases: tuple[str, ...]
    tests: tuple[str, ...]


def read_patch(file: str, content: bytes) -> Patch:
    """Read one patch.

    Raises:
        BadInput: it has no mail headers, no diff, or is no UTF-8.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: not UTF-8 at byte {error.start}; Headwater reads patches in UTF-8") from error
    # The message ends at `---`, which `--no-stat` leaves out, or at the diff itself.
    head, *diff = re.split(r"(?m)^(?:---$|(?=diff --git ))", text, maxsplit=1)
    if not diff or "diff --git " not in diff[0]:
        raise BadInput(f"{file}: not a patch as `git format-patch` writes it (a mail with a diff)")
    mail = HeaderParser().parsestr(head.partition("\n")[2] if head.startswith("From ") else head)
    headers = {key: _header(file, mail, key) for key in ("Subject", "From", "Date")}
    subject = re.sub(r"^\[PATCH[^\]]*\]\s*", "", " ".join(headers["Subject"].split()))
    body = str(mail.get_payload()).strip()
    return Patch(
        file=file,
        content=content,
        subject=subject,
        body=body,
        author=headers["From"],
        date=headers["Date"],
        cases=tuple(re.findall(r"(?m)^Headwater-Case:\s*(\S+)\s*$", body)),
        tests=tuple(path for path in re.findall(r"(?m)^\+\+\+ b/(\S+)$", text) if path.startswith("tests/")),
    )


def _header(file: str, mail: Message, key: str) -> str:
    if not mail[key]:
        raise BadInput(f"{file}: the mail has no {key} header")
    try:
        return str(make_header(decode_header(mail[key])))
    except (LookupError, ValueError, HeaderParseError) as error:
        raise BadInput(f"{file}: the {key} header cannot be decoded: {error}") from error


def resolve_patch(wanted: str, patches: tuple[str, ...]) -> str:
    """The patch file that `wanted` names: its file name, its number ("2", "0002") or a unique part of the name.

    Raises:
        BadInput: none or several match.
    """
    if wanted.isdigit():
        found = [p for p in patches if p.partition("-")[0].lstrip("0") == wanted.lstrip("0")]
    else:
        found = [p for p in patches if p == wanted] or [p for p in patches if wanted in p]
    if len(found) != 1:
        raise BadInput(f"{wanted!r} names {len(found)} patches; the series has {', '.join(patches)}")
    return found[0]
