# SPDX-License-Identifier: Apache-2.0
"""Patches as git writes them for mail: headers, message, and a diff."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import HeaderParser
from unicodedata import category

from headwater.core.diffs import FileChange, read_diff
from headwater.core.errors import BadInput

# The message ends at `---`, which `--no-stat` leaves out, or at the diff itself.
_MESSAGE_END = re.compile(rb"(?m)^(?:---\r?$|(?=diff --git ))")


@dataclass(frozen=True)
class Patch:
    """One patch in git's mail format. `content` is the file as it is, `changes` what its diff does."""

    file: str
    content: bytes
    subject: str
    body: str
    author: str
    date: str
    changes: tuple[FileChange, ...]

    @property
    def cases(self) -> tuple[str, ...]:
        """The ids of its `Headwater-Case` trailers."""
        return tuple(re.findall(r"(?m)^Headwater-Case:\s*(\S+)\s*$", self.body))

    @property
    def also(self) -> tuple[str, ...]:
        """The ids of its `Headwater-Also` trailers: what it mends besides, wherever its own cases need it."""
        return tuple(re.findall(r"(?m)^Headwater-Also:\s*(\S+)\s*$", self.body))

    @property
    def is_backport(self) -> bool:
        """Whether its `Origin` trailer says that it is upstream's own change."""
        return re.search(r"(?m)^Origin: backport\b", self.body) is not None

    @property
    def tests(self) -> tuple[str, ...]:
        """The test files that it adds or changes."""
        return tuple(change.new for change in self.changes if change.new and change.new.startswith("tests/"))

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it names, before and after."""
        return tuple(dict.fromkeys(path for change in self.changes for path in change.paths))

    @property
    def diff(self) -> bytes:
        """Its diff alone: what `changes` was read from, on the line on which it stands in the file. A diff that the
        message quotes is none of it, though `git apply` would take it for one."""
        start = _diff_start(self.content) or 0
        return b"\n" * self.content.count(b"\n", 0, start) + self.content[start:]

    @property
    def message(self) -> str:
        """The commit message: subject, blank line, body."""
        return f"{self.subject}\n\n{self.body}\n" if self.body else f"{self.subject}\n"


def read_patch(file: str, content: bytes) -> Patch:
    """Read one patch.

    Raises:
        BadInput: it has no mail headers, no diff, headers or message that are no UTF-8, lines that a mail program has
            changed, or a diff that `read_diff` refuses.
    """
    end = _MESSAGE_END.search(content)
    start = _diff_start(content)
    if end is None or start is None:
        raise BadInput(f"{file}: not a patch as `git format-patch` writes it (a mail with a diff)")
    mail = _read_head(file, content[: end.start()])
    headers = {key: _header(file, mail, key) for key in ("Subject", "From", "Date")}
    return Patch(
        file=file,
        content=content,
        subject=re.sub(r"^\[PATCH[^\]]*\]\s*", "", headers["Subject"]),
        body=str(mail.get_payload()).strip(),
        author=headers["From"],
        date=headers["Date"],
        changes=read_diff(content[start:], file),
    )


def _diff_start(content: bytes) -> int | None:
    end = _MESSAGE_END.search(content)
    start = re.compile(rb"(?m)^diff --git ").search(content, end.end()) if end else None
    return start.start() if start else None


_IDS = re.compile(rb"(?m)^index [0-9a-f]+\.\.[0-9a-f]+")


def same_but_ids(one: bytes, other: bytes) -> bool:
    """Whether two patch files differ in nothing but the ids of contents, which change with every patch below.

    A binary patch applies to the very content that its ids name: there they count.
    """
    binary = any(b"\nGIT binary patch\n" in content for content in (one, other))
    return one == other if binary else _IDS.sub(b"index", one) == _IDS.sub(b"index", other)


def with_diff_of(content: bytes, new: bytes) -> bytes:
    """The patch file `content` with the diff of the patch file `new`: headers and message stay byte for byte."""
    heads = []
    for text in (content, new):
        end = _MESSAGE_END.search(text)
        heads.append(text[: end.start()] if end else text)
    diff = new[new.index(b"diff --git ", len(heads[1])) :]
    # Where `---` and a summary stood behind the message, the diff is set off by an empty line.
    return heads[0] + (b"" if heads[0].endswith(b"\n\n") else b"\n") + diff


def _read_head(file: str, head: bytes) -> Message:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        line = head[: error.start].rpartition(b"\n")[2] + head[error.start :].partition(b"\n")[0]
        raise BadInput(
            f"{file}: the mail's headers or message are not UTF-8 at byte {error.start}, in the line "
            f"{line.decode('latin-1')!r}; `headwater patch import` takes other encodings"
        ) from error
    if "\0" in text:
        raise BadInput(f"{file}: the mail's headers or message hold a null byte, in front of which git would end them")
    if "\r\n" in text:
        raise BadInput(f"{file}: its headers end in CR LF; a mail program changed it. Save it with plain line feeds")
    mail = HeaderParser().parsestr(text.partition("\n")[2] if text.startswith("From ") else text)
    encoding = str(mail.get("Content-Transfer-Encoding", "8bit")).lower()
    if encoding not in ("7bit", "8bit", "binary"):
        raise BadInput(f"{file}: its text is encoded as {encoding}; `headwater patch import` takes it")
    return mail


def _header(file: str, mail: Message, key: str) -> str:
    if not mail[key]:
        raise BadInput(f"{file}: the mail has no {key} header")
    try:
        text = " ".join(str(make_header(decode_header(mail[key]))).split())
    except (LookupError, ValueError, HeaderParseError) as error:
        raise BadInput(f"{file}: the {key} header cannot be decoded: {error}") from error
    if any(category(letter) in ("Cc", "Cs") for letter in text):
        raise BadInput(f"{file}: the {key} header holds a control character: {text!r}")
    return text
