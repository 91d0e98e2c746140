# SPDX-License-Identifier: Apache-2.0
"""Commits as a hunt and its reports name them, and the words by which people name them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from headwater.core.errors import BadInput
from headwater.core.redaction import redact

# Id, parents, committer's seconds since 1970, first line of the message: what `read_log` reads (with `-z`).
LOG_FORMAT = "%H%x1f%P%x1f%ct%x1f%s"
_PULL_REQUEST = re.compile(r"\(#(\d+)\)\s*$|^Merge pull request #(\d+) from ")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://[^/]*/?.")
_SCHEMES = ("file", "git", "http", "https", "ssh")


@dataclass(frozen=True)
class Commit:
    """A commit: its full id, the committer's date in UTC, the first line of its message, the number of the pull
    request that this line names, and its first parent's id (None for a root)."""

    sha: str
    date: datetime
    subject: str
    pull: int | None
    parent: str | None

    @property
    def short(self) -> str:
        """The id as people write it."""
        return self.sha[:12]

    def __str__(self) -> str:
        return f"{self.short} ({self.date:%Y-%m-%d}, {self.subject})"


def pull_request_of(subject: str) -> int | None:
    """The pull request that a commit came in by: the number at the subject's end (as a squash merge writes it), or the
    one that a merge commit names. A number elsewhere is an issue, or the pull request that is taken back."""
    found = _PULL_REQUEST.search(subject)
    return int(found[1] or found[2]) if found else None


def read_log(text: str) -> list[Commit]:
    """The commits of `git log -z --format=LOG_FORMAT`, in its order."""
    commits = []
    for record in filter(None, text.split("\0")):
        sha, parents, seconds, subject = record.split("\x1f", 3)
        date = datetime.fromtimestamp(int(seconds), UTC)
        commits.append(Commit(sha, date, subject, pull_request_of(subject), next(iter(parents.split()), None)))
    return commits


def parse_date(word: str) -> datetime | None:
    """A day (its begin), or a day and a time, in UTC where no zone is given; None where `word` does not begin like one.

    Raises:
        BadInput: it begins like a date and is none.
    """
    if not _DAY.match(word):
        return None
    try:
        date = datetime.fromisoformat(word)
    except ValueError as error:
        raise BadInput(f"{word!r} is no date, such as 2026-04-01 or 2026-04-01T12:00:00Z") from error
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)


def kind_of_location(text: str) -> Literal["url", "path"]:
    """Whether `--repo` names a git remote or a path. See git-clone(1), "GIT URLS"; the form `host:path` is ssh.

    Raises:
        BadInput: it would be taken for an option or start a remote helper (`ext::`), which runs any command, or it has
            a scheme that is not known.
    """
    shown = redact(text)
    if not text.strip() or text.startswith("-") or any(ord(sign) < 32 for sign in text):
        raise BadInput(f"--repo {shown!r} is neither an address nor a path; give https://..., host:path or a folder")
    before_slash = text.partition("/")[0]
    if re.match(r"[A-Za-z0-9+.-]*::", text):
        raise BadInput(f"--repo {shown}: a remote helper can run any command, and is not taken; give an address")
    if "://" in text:
        found = _URL.fullmatch(text) or _URL.match(text)
        if not found or found["scheme"].lower() not in _SCHEMES:
            raise BadInput(f"--repo {shown}: its scheme is not one of {', '.join(_SCHEMES)}")
        if text.partition("://")[2].startswith("-"):
            raise BadInput(f"--repo {shown}: its host would be taken for an option")
        return "url"
    if ":" in before_slash:
        if before_slash.partition(":")[0].rpartition("@")[2].startswith("-"):
            raise BadInput(f"--repo {shown}: its host would be taken for an option")
        return "url"
    return "path"
