# SPDX-License-Identifier: Apache-2.0
"""Changing the text of a `series` file line by line: comments, blank lines and order survive."""

from __future__ import annotations

import re

from headwater.core.releases import parse_version
from headwater.core.series import Range


def new_series(release: str, tree: str, patches: tuple[str, ...], comment: str = "") -> str:
    """The text of a new file."""
    lines = [*(f"# {line}".rstrip() for line in comment.splitlines()), f"base: {release} {tree}", *patches]
    return "\n".join(lines) + "\n"


def with_patch(text: str, patch: str) -> str:
    """The text with one more patch at the end."""
    return _ended(text) + patch + "\n"


def without_patch(text: str, patch: str) -> str:
    """The text without a patch."""
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() != patch)


def with_range(text: str, entry: Range) -> str:
    """The text with one more `range` line: after the other ranges, else after the base."""
    lines = _ended(text).splitlines(keepends=True)
    places = [n for n, line in enumerate(lines) if re.match(r"\s*(range\s|base:)", line)]
    return "".join([*lines[: places[-1] + 1], f"range {entry} {entry.folder}\n", *lines[places[-1] + 1 :]])


def without_range(text: str, entry: Range) -> str:
    """The text without the line of a range, however its versions are written there."""
    return "".join(line for line in text.splitlines(keepends=True) if not _names(line, entry))


def _names(line: str, entry: Range) -> bool:
    words = line.split()
    if len(words) != 3 or words[0] != "range" or words[2] != entry.folder:
        return False
    first, _, last = words[1].partition("..")
    return (parse_version(first), parse_version(last or first)) == (entry.first, entry.last)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def file_name(number: int, subject: str) -> str:
    """A patch's file name, as git-format-patch(1) makes it: number, and the subject's words with hyphens."""
    words = re.sub(r"[^A-Za-z0-9._]+", "-", subject).strip("-.")
    words = re.sub(r"\.{2,}", ".", words)[:52].rstrip("-.")
    return f"{number:04d}-{words or 'patch'}.patch"
