# SPDX-License-Identifier: Apache-2.0
"""Texts of two modules of the small library whose differences have several hunks, of which it is known which count.

From `whole` and `wide` to `broken` and `narrow` three hunks bring the bug, each of them needed: the limit, the measure
and what is allowed. From `moved` to `clipped` two mend it: the function that clips, and its call. All other hunks are
noise; some of it runs. `renamed` has the bug and the call's line otherwise, and `twice bad` has it a second time.
Beside them, the text of the stand-in for torch.
"""

from __future__ import annotations

from collections.abc import Mapping

TORCH = """
__version__ = "2.13.0"
class _Tensor:
    def sum(self): return self
    def item(self): return 2.0
def ones(count): return _Tensor()
def empty(count, device): return _Tensor()
"""
WHOLE = '''\
"""Measures, in parts."""

from transformers import parts

LIMIT = 8

COLOUR = "red"


def measure(value):
    """What a value measures."""
    return value


def colour():
    """A line of this runs."""
    return COLOUR


def unused():
    """Nothing of this runs."""
    return 1


def use():
    """Break where what is found is not allowed."""
    shade = colour()
    assert shade
    found = measure(LIMIT)
    if parts.allowed(found):
        return found
    raise RuntimeError(f"the cache broke at {found}")
'''


def _changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} is not there once")
        text = text.replace(old, new)
    return text


BROKEN = _changed(
    WHOLE, ("LIMIT = 8", "LIMIT = 9"), ('"red"', '"blue"'), ("return value", "return value + 1"),
    ("return COLOUR", "return COLOUR + '!'"), ("return 1", "return 2"),
)  # fmt: skip
MOVED = _changed(BROKEN, ('parts."""\n', 'parts."""\n\n# Some lines\n# more than\n# before.\n'))
CLIPPED = _changed(
    MOVED, ("def measure", "def clip(value):\n    return min(value, 5)\n\n\ndef measure"),
    ("shade = colour()", "shade = str(colour())"), ("found = measure(LIMIT)", "found = clip(measure(LIMIT))"),
    ("return 2", "return 3"), ("return COLOUR + '!'", "return COLOUR + '?'"),
)  # fmt: skip
RENAMED = _changed(BROKEN, ("found = measure(LIMIT)", "found = measure(value=LIMIT)"))
TWICE_BAD = _changed(
    BROKEN,
    (
        "    shade = colour()",
        "    if COLOUR:\n        raise RuntimeError('the cache broke at 1')\n    shade = colour()",
    ),
)

PARTED = {
    "whole": WHOLE,
    "broken": BROKEN,
    "moved": MOVED,
    "clipped": CLIPPED,
    "renamed": RENAMED,
    "twice bad": TWICE_BAD,
    "wide": '"""Parts."""\n\nNAME = "wide"\n\n\ndef allowed(value):\n    return value < 20\n',
    "narrow": '"""Parts."""\n\nNAME = "narrow"\n\n\ndef allowed(value):\n    return value < 10\n',
}
# What the modules are from which commit on, and where a release differs.
PARTED_HISTORIES: Mapping[str, Mapping[int, str]] = {
    "parted": {0: "whole", 14: "broken", 18: "moved", 22: "clipped"},
    "parts": {0: "wide", 14: "narrow"},
    "stubborn": {0: "twice bad", 18: "moved", 22: "clipped"},
}
PARTED_APART: Mapping[str, Mapping[str, str]] = {
    "parted": {"5.2.2": "broken", "5.4.1": "renamed"},
    "parts": {"5.2.2": "narrow"},
}
