# SPDX-License-Identifier: Apache-2.0
"""Patches that came by mail, or that `git format-patch` wrote: read by git's own mailsplit and mailinfo, which know
every encoding that mail has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headwater.core.diffs import read_diff
from headwater.core.errors import BadInput
from headwater.core.mail import Patch
from headwater.effects.git import GitDir, GitFailed


def read_mails(git: GitDir, sources: Sequence[Path], folder: Path) -> list[Patch]:
    """The patches of files, mailboxes, and folders with `*.patch` files, in order; `folder` is to work in.

    Raises:
        BadInput: there is none, or one is no mail with a diff.
    """
    files = [file for source in sources for file in _files(source)]
    patches = []
    for number, file in enumerate(files):
        mails = _split(git, file, folder / f"mails-{number}")
        patches += [_read_mail(git, mail, file, folder, len(mails) == 1) for mail in mails]
    return patches


def _split(git: GitDir, file: Path, place: Path) -> list[Path]:
    """The mails of a file, a file each in the new folder `place`."""
    place.mkdir()
    # A patch of a file with carriage returns needs its own. In a mail that has them in its headers too they were added
    # on the way, to every line.
    keep = [] if re.match(rb"[^\n]*\r\n", file.read_bytes()) else ["--keep-cr"]
    try:
        git("mailsplit", *keep, f"-o{place}", "-b", "--", file)
    except GitFailed as error:
        raise BadInput(f"{file}: no mail in it; `git format-patch` writes such files ({error.stderr})") from error
    return sorted(place.iterdir())


def _files(source: Path) -> list[Path]:
    if not source.exists():
        raise BadInput(f"{source}: no such file or folder")
    if source.is_file():
        return [source]
    found = sorted(source.glob("*.patch"))
    if not found:
        raise BadInput(f"{source}: no *.patch file in it")
    return found


@dataclass(frozen=True)
class _Info:
    author: str
    email: str
    subject: str
    date: str


def _read_mail(git: GitDir, mail: Path, origin: Path, folder: Path, alone: bool) -> Patch:
    message, diff = folder / "mail-message", folder / "mail-diff"
    try:
        with mail.open("rb") as source:
            said = git.raw("-c", "i18n.commitEncoding=UTF-8", "mailinfo", message, diff, stdin=source).decode("utf-8")
        body = message.read_text(encoding="utf-8").strip()
    except GitFailed as error:
        raise BadInput(f"{origin}: no mail that git can read: {error.stderr}") from error
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{origin}: a mail's headers or text are not in the charset that it names, UTF-8 without one; save it anew"
        ) from error
    found = dict(re.findall(r"(?m)^(Author|Email|Subject|Date): (.*)$", said))
    missing = [word for word in ("Author", "Email", "Subject", "Date") if not found.get(word)]
    if missing:
        raise BadInput(f"{origin}: the mail has no {missing[0].lower()}; `git format-patch` writes one")
    info = _Info(found["Author"], found["Email"], found["Subject"], found["Date"])
    content = diff.read_bytes()
    start = re.search(rb"(?m)^diff --git ", content)
    if start is None:
        raise BadInput(
            f"{origin}: the mail {info.subject!r} has no diff in git's form; leave it out, if it is a cover letter"
        )
    author = f'"{info.author}" <{info.email}>' if re.search(r'[,;:"()<>@]', info.author) else (
        f"{info.author} <{info.email}>"
    )  # fmt: skip
    label = origin.name if alone else f"{info.subject!r} of {origin.name}"
    changes = read_diff(content[start.start() :], f"{origin} ({info.subject})")
    return Patch(label, content[start.start() :], info.subject, body, author, info.date, changes)
