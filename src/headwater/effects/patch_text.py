# SPDX-License-Identifier: Apache-2.0
"""A commit as the text of a patch file: the same bytes, whoever writes it and wherever."""

from __future__ import annotations

from headwater.core.errors import BadInput
from headwater.core.mail import read_patch
from headwater.effects.git import GitDir

# Nothing of the machine or of git's version (signature), of the place in a series (numbers), or that changes by itself
# with another patch (commit id, stat); ids of blobs in full, and binaries whole.
_FORMAT = (
    "format-patch", "-1", "--stdout", "-p", "--full-index", "--binary", "--no-stat", "--no-signature", "--zero-commit",
    "--no-numbered", "--find-renames=50%", "--diff-algorithm=myers",
)  # fmt: skip


def patch_text(git: GitDir, commit: str) -> bytes:
    """The patch that a commit is against its first parent, in git's mail format. `git` is the mirror, or another
    repository whose settings are ours: a person's may say how a diff looks.

    Raises:
        BadInput: it changes no file, or a patch file cannot hold its message.
    """
    text = git.raw(*_FORMAT, commit)
    subject, _, body = git("show", "--no-patch", "--encoding=UTF-8", "--format=%s%n%b", commit).partition("\n")
    if not text:
        raise BadInput(f"commit {commit[:12]} ({subject}) changes no file: there is no patch in it")
    cut = any(line.startswith("--- ") for line in body.splitlines())
    if cut or read_patch(f"commit {commit[:12]} ({subject})", text).body != body.strip():
        raise BadInput(
            f"the message of commit {commit[:12]} ({subject}) would be cut in a patch file: a line of it is `---`, or "
            "begins with `--- ` or `diff --git`; amend it"
        )
    return text
