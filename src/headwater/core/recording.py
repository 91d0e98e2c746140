# SPDX-License-Identifier: Apache-2.0
"""What a probe ran of the library: files, lines, frames; and its plain form, in which it is kept.

Files are named as in a tree's manifest and in a frame's evidence: `package/file.py`. In the plain form the
lines of a file are ranges, `1-3,7`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from headwater.core.errors import HarnessError
from headwater.core.test_results import parse, plain
from headwater.core.verdicts import Evidence, Outcome

_SCHEMA = 1


@dataclass(frozen=True)
class Frame:
    """A place in the library that an exception came through."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Recording:
    """What one probe ran of the library, from its first import to the end of the case.

    `imported` are files loaded as modules; `read` those opened in any other way, which includes source that something
    looks at as text; `lines` the lines that began to run, by file; `frames` the whole traceback of the exception inside
    the library, outermost first, then that of what it was raised from; `gaps` says in words what may have been missed:
    what is recorded did happen all the same. `outcome` is that of the recorded probe.
    """

    imported: frozenset[str]
    read: frozenset[str]
    lines: Mapping[str, frozenset[int]]
    frames: tuple[Frame, ...]
    gaps: tuple[str, ...]
    outcome: Outcome

    @property
    def files(self) -> frozenset[str]:
        """Every file that was imported or read."""
        return self.imported | self.read

    @property
    def complete(self) -> bool:
        """Whether nothing is known to have been missed."""
        return not self.gaps


def plain_recording(recording: Recording) -> dict[str, Any]:
    """The form that `parse_recording` reads, of what JSON can say."""
    outcome = {**asdict(recording.outcome), "tests": plain(recording.outcome.tests)}
    return {
        "schema": _SCHEMA,
        "imported": sorted(recording.imported),
        "read": sorted(recording.read),
        "lines": {file: ranges(lines) for file, lines in sorted(recording.lines.items())},
        "frames": [[frame.file, frame.line, frame.function] for frame in recording.frames],
        "gaps": list(recording.gaps),
        "outcome": outcome,
    }


def parse_recording(value: Any) -> Recording:
    """Read the plain form.

    Raises:
        HarnessError: it is none, or of another schema.
    """
    try:
        if value["schema"] != _SCHEMA:
            raise HarnessError(f"the recording has schema {value['schema']!r}, and this Headwater reads {_SCHEMA}")
        outcome = dict(value["outcome"])
        evidence, tests = Evidence(**outcome.pop("evidence")), parse(outcome.pop("tests"))
        return Recording(
            imported=frozenset(map(str, value["imported"])),
            read=frozenset(map(str, value["read"])),
            lines={str(file): frozenset(numbers(text)) for file, text in value["lines"].items()},
            frames=parse_frames(value["frames"]),
            gaps=tuple(map(str, value["gaps"])),
            outcome=Outcome(**outcome, evidence=evidence, tests=tests),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise HarnessError(f"this is no recording of a probe: {type(error).__name__}: {error}") from error


def parse_frames(value: Iterable[Iterable[Any]]) -> tuple[Frame, ...]:
    """Frames out of `[file, line, function]`.

    Raises:
        TypeError, ValueError: they are not of that form.
    """
    return tuple(Frame(str(file), int(line), str(function)) for file, line, function in value)


def ranges(lines: Iterable[int]) -> str:
    """Numbers as ranges: `1-3,7`; each number once."""
    found = sorted(set(lines))
    ends = [n for n, following in pairwise(found) if following != n + 1] + found[-1:]
    starts = found[:1] + [n for before, n in pairwise(found) if before != n - 1]
    return ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in zip(starts, ends, strict=True))


def numbers(text: str) -> Iterator[int]:
    """The numbers of ranges.

    Raises:
        ValueError: these are no ranges.
    """
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
