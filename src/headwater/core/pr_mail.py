# SPDX-License-Identifier: Apache-2.0
"""Commit messages for upstream: without what a series says to Headwater, or of the copy that carries it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from headwater.core.mail import Patch

# Headwater's own, and of DEP-3's what speaks of a copy carried beside upstream. `Bug` names the issue: it stays.
_TRAILER = re.compile(r"(Headwater-[A-Za-z-]+|Origin|Forwarded|Applied-Upstream|Last-Update):(\s|$)")
_LINE = re.compile(r"[A-Za-z][A-Za-z-]*:(\s|$)|[ \t]")
_FIXED = re.compile(r"(?m)^Applied-Upstream: *(?P<release>\d[^\s,]*)")
_NOBODY = ".example"  # no name that anybody can have; see RFC 2606
_BUG = re.compile(r"(?m)^Bug: *(?P<address>https?://\S+)")


def for_upstream(patch: Patch) -> Patch:
    """The same patch, its message without Headwater's trailers."""
    paragraphs = re.split(r"\n{2,}", patch.body)
    kept = [_without(one) if all(_LINE.match(line) for line in one.splitlines()) else one for one in paragraphs]
    return replace(patch, body="\n\n".join(filter(None, kept)).strip())


def _without(paragraph: str) -> str:
    """A paragraph of trailers without ours. What is set in goes on with the trailer above it."""
    kept: list[str] = []
    dropping = False
    for line in paragraph.splitlines():
        dropping = bool(_TRAILER.match(line)) or (dropping and line.startswith((" ", "\t")))
        if not dropping:
            kept.append(line)
    return "\n".join(kept)


def fixed_in(patch: Patch) -> str | None:
    """The release with upstream's own fix, by the patch's `Applied-Upstream` trailer."""
    found = _FIXED.search(patch.body)
    return found["release"] if found else None


def issues(patches: tuple[Patch, ...]) -> list[str]:
    """The issues that patches name, each once."""
    return list(dict.fromkeys(address for patch in patches for address in _BUG.findall(patch.body)))


def note_on_authors(patches: Iterable[Patch]) -> str | None:
    """What to do about authors that are nobody, as a series made by Headwater has them; None where there are none."""
    nobody = sorted({patch.author for patch in patches if patch.author.rstrip(">").endswith(_NOBODY)})
    if not nobody:
        return None
    return (
        f"the author is {', '.join(nobody)}, which is nobody: after `git am` make the commits yours, e.g. by "
        "`git rebase --exec 'git commit --amend --reset-author --no-edit' UPSTREAM`"
    )
