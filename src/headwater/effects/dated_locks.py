# SPDX-License-Identifier: Apache-2.0
"""Locks of the packages as the index had them on a day, made once and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime

from packaging.requirements import Requirement

from headwater.core.errors import EnvironmentUnavailable, NotCached
from headwater.core.events import Emit, Finished, Started, silent
from headwater.core.grouping import union
from headwater.effects.envs import DatedLock
from headwater.effects.files import write_atomically
from headwater.effects.locks import OLDEST_PYTHON, TEST_PACKAGES, LockMaker
from headwater.effects.proc import ProcessFailed
from headwater.effects.workspace import Cache

_SCHEMA = 1


class DatedLocks:
    """Makes and keeps them. What was uploaded by a day that is over never changes, so neither does its lock."""

    def __init__(self, cache: Cache, maker: LockMaker, emit: Emit = silent, offline: bool = False) -> None:
        self._cache, self._maker, self._emit, self._offline = cache, maker, emit, offline

    def lock(self, requirements: Sequence[Requirement], when: datetime) -> DatedLock:
        """The packages of the day of `when` (UTC) that satisfy requirements.

        Raises:
            EnvironmentUnavailable: no packages of that day satisfy them; in uv's words.
            NotCached: offline, and it was not made yet.
        """
        day = when.astimezone(UTC).date().isoformat()
        asked = [_SCHEMA, day, OLDEST_PYTHON, TEST_PACKAGES, self._maker.torch, union([requirements])]
        name = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:20]
        path = self._cache.locks / f"{name}.txt"
        if not path.is_file():
            if self._offline:
                raise NotCached(f"the packages of {day} were not resolved yet, and --offline forbids to ask the index")
            write_atomically(path, self._make(requirements, day))
        return DatedLock(day, path.read_text(encoding="utf-8"))

    def _make(self, requirements: Sequence[Requirement], day: str) -> str:
        what = f"resolving the packages of {day}"
        self._emit(Started(what, what))
        try:
            return self._maker.of_day(requirements, day)
        except ProcessFailed as error:
            if "No solution found" not in error.output:
                raise
            raise EnvironmentUnavailable(f"no packages of {day} satisfy it: {error.output}") from error
        finally:
            self._emit(Finished(what))
