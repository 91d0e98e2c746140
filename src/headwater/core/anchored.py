# SPDX-License-Identifier: Apache-2.0
"""A merge for what git's refuses although nothing is disputed: changes that stand beside each other.

git merges by regions that are apart: where one side changed a line and the other side inserted one next to it, that is
a conflict, whatever they say. Here a change needs one anchor only: removed lines must all be there, one after the
other, and inserted ones go behind the line that they stood behind, or before the one that they stood before. What
comes out is to be refereed like any other merge, by the definitions that it touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def merge_anchored(base: bytes, changed: bytes, onto: bytes) -> bytes | None:
    """Carry what leads from `base` to `changed` over to `onto`; None where a change has no anchor there, or removes
    what is not there as it was."""
    old, new, target = (text.splitlines(keepends=True) for text in (base, changed, onto))
    places = _places(old, target)
    edits = []
    for tag, first, end, new_first, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        span = _span(places, first, end, len(target))
        if span is None:
            return None
        edits.append((span, new[new_first:new_end]))
    for (start, stop), lines in reversed(edits):
        target[start:stop] = lines
    return b"".join(target)


def _places(old: Sequence[bytes], target: Sequence[bytes]) -> dict[int, int]:
    """Where each line of the base that the target still has stands there."""
    blocks = SequenceMatcher(None, old, target, autojunk=False).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}


def _span(places: dict[int, int], first: int, end: int, length: int) -> tuple[int, int] | None:
    """The lines of the target that stand for lines `first` to `end` (excluded) of the base."""
    if first < end:
        found = [places.get(n) for n in range(first, end)]
        if found[0] is None or found != list(range(found[0], found[0] + len(found))):
            return None
        return found[0], found[0] + len(found)
    before, after = places.get(first - 1), places.get(end)
    if before is not None:
        return before + 1, before + 1
    if after is not None:
        return after, after
    return (length, length) if first == 0 and not places and length == 0 else None
