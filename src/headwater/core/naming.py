# SPDX-License-Identifier: Apache-2.0
"""Names that nothing bears, and the nearest ones that something does."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from headwater.core.errors import BadInput


def nearest_names(word: str, names: Iterable[str], count: int = 3, alike: float = 0.5) -> list[str]:
    """The names most like `word` (Ratcliff and Obershelp's measure, as difflib has it), best first; of each the
    measure is at least `alike`, between 0 and 1."""
    return get_close_matches(word, list(dict.fromkeys(names)), count, cutoff=alike)


def no_such(kind: str, word: str, names: Iterable[str]) -> BadInput:
    """What is said of a name that nothing bears: the nearest names, best first, or, where none is near, all there are.
    `kind` is of the design's words: "case", "series"."""
    known = list(names)
    told = nearest_told(word, known) or f"there are: {', '.join(known) or 'none'}"
    return BadInput(f"there is no {kind} {word!r}; {told}")


def nearest_told(word: str, names: Iterable[str], alike: float = 0.5) -> str:
    """The nearest names in words; empty where none is near."""
    near = nearest_names(word, names, alike=alike)
    return f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}" if near else ""
