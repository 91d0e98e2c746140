# SPDX-License-Identifier: Apache-2.0
"""What lay in a folder when it was published: a look at every file tells whether it is still so."""

from __future__ import annotations

import os
from pathlib import Path

State = dict[str, tuple[int, int]]


def state_below(root: Path) -> State:
    """Size in bytes and time of change in nanoseconds of every file below `root`, by its path. Links are not
    followed."""
    found: State = {}
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(root / inside) as entries:
                for entry in entries:
                    path = f"{inside}/{entry.name}" if inside else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    else:
                        state = entry.stat(follow_symlinks=False)
                        found[path] = (state.st_size, state.st_mtime_ns)
        except FileNotFoundError:
            continue  # A folder that is gone shows by its files.
    return found


def first_difference(wanted: State, seen: State) -> str | None:
    """A file that was added, removed or written to, None where there is none."""
    if seen == wanted:
        return None
    return min(path for path, _state in set(wanted.items()) ^ set(seen.items()))
