# SPDX-License-Identifier: Apache-2.0
"""The store of what probes said: SQLite in WAL mode, so that nothing that is known is run twice, even across kills.

Outcomes are stored, not opinions: a verdict is judged anew on every read, by the signatures of the case that the key
covers. Harness errors and time-outs are recorded, and never answer for a later probe.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from headwater.core.errors import HarnessError
from headwater.core.events import Emit, Note, silent
from headwater.core.test_results import parse, plain
from headwater.core.verdicts import Evidence, Outcome, is_reusable

SCHEMA = 2
_TABLES = """
CREATE TABLE probes (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    reusable INTEGER NOT NULL,
    recorded TEXT NOT NULL,
    case_id TEXT NOT NULL,
    revision TEXT NOT NULL,
    tree TEXT NOT NULL,
    environment TEXT NOT NULL,
    device TEXT NOT NULL,
    end TEXT NOT NULL,
    phase TEXT NOT NULL,
    type TEXT,
    message TEXT,
    frame TEXT,
    import_failure INTEGER NOT NULL,
    seconds REAL NOT NULL,
    output TEXT NOT NULL,
    tests TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX probes_by_key ON probes (key, reusable, id);
"""
_OUTCOME = "end, phase, type, message, frame, seconds, import_failure, tests"
# From each older schema to the next.
_MIGRATIONS = {1: "ALTER TABLE probes ADD COLUMN tests TEXT NOT NULL DEFAULT '[]'"}

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@dataclass(frozen=True)
class StoredProbe:
    """A recorded probe that may answer for a later one: its key and what went into it, when it was recorded (ISO 8601,
    UTC, to the second), and what happened. `revision` is what the tree was called, patched or not."""

    key: str
    recorded: str
    case: str
    revision: str
    tree: str
    environment: str
    device: str
    outcome: Outcome


class DamagedStore(HarnessError):
    """The store's file is no whole database."""


class Store:
    """The probes of every run on one cache. Safe to use from several processes at once."""

    def __init__(self, path: Path, emit: Emit = silent) -> None:
        """Open the store, made if it is not there, and migrated if it is of an older schema. A damaged one is named and
        set aside, never overwritten.

        Raises:
            HarnessError: it is of a newer schema, or no database.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        # Of several processes one makes the store, or sets a damaged one aside; the others find the new one.
        with FileLock(path.with_name(f".{path.name}.lock")):
            try:
                self._prepare()
                self._check()
            except DamagedStore as error:
                aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}")
                emit(Note(f"{error}; it is kept as {aside.name}, and a new one is begun", warning=True))
                self._set_aside(aside)
                self._prepare()

    def _set_aside(self, aside: Path) -> None:
        # The store itself last: what is beside it must never be taken for a new store's.
        for part in ("-shm", "-wal", ""):
            piece = self._path.with_name(self._path.name + part)
            if piece.exists():
                piece.rename(aside.with_name(aside.name + part))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=60, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                # What is committed outlives this process, however it ends; syncing would guard it against a power cut.
                connection.execute("PRAGMA synchronous = NORMAL")
                yield connection
        except sqlite3.Error as error:
            # Python's own errors have no code; the low byte is the code without its extension.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
                raise DamagedStore(f"the store {self._path} is damaged ({error})") from error
            raise HarnessError(
                f"the store {self._path} cannot be used: {error}; `headwater cache clean --store` removes it"
            ) from error

    def _prepare(self) -> None:
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA:
                raise HarnessError(
                    f"the store {self._path} has schema {version}, and this Headwater reads {SCHEMA}; update "
                    "Headwater, or remove it with `headwater cache clean --store`"
                )
            if version == 0:
                for statement in filter(str.strip, _TABLES.split(";")):
                    connection.execute(statement)
            for older in range(version, SCHEMA) if version else ():
                connection.execute(_MIGRATIONS[older])
            if version != SCHEMA:
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.execute("COMMIT")

    def _check(self) -> None:
        """Have SQLite look at every page: some milliseconds for some thousand verdicts."""
        with self._open() as connection:
            found = connection.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise DamagedStore(f"the store {self._path} is damaged ({found})")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the log of writes between two of them: whoever closes the last connection writes it back and syncs."""
        with self._open() as connection:
            connection.execute("PRAGMA user_version").fetchone()
            yield

    def recall(self, key: str) -> Outcome | None:
        """What the latest probe with this key saw, or None where nothing reusable is known."""
        with self._open() as connection:
            row = connection.execute(
                f"SELECT {_OUTCOME} FROM probes WHERE key = ? AND reusable = 1 ORDER BY id DESC LIMIT 1", (key,)
            ).fetchone()
        return None if row is None else _outcome(row)

    def latest(self, cases: Collection[str]) -> list[StoredProbe]:
        """The latest reusable probe under each key of the cases with these ids, oldest first."""
        with self._open() as connection:
            marks = ", ".join("?" * len(cases))
            rows = connection.execute(
                f"SELECT key, recorded, case_id, revision, tree, environment, device, {_OUTCOME} FROM probes "
                f"WHERE id IN (SELECT max(id) FROM probes WHERE reusable = 1 AND case_id IN ({marks}) GROUP BY key) "
                "ORDER BY id",
                sorted(cases),
            ).fetchall()
        return [
            StoredProbe(key, recorded, case, revision, tree, environment, device, _outcome(outcome))
            for key, recorded, case, revision, tree, environment, device, *outcome in rows
        ]

    def record(
        self, key: str, outcome: Outcome, *, case: str, revision: str, tree: str, environment: str, device: str,
        output: str,
    ) -> None:  # fmt: skip
        """Write what a probe saw; on disk before this returns, as far as a killed process is concerned."""
        evidence = outcome.evidence
        values = (
            key, is_reusable(outcome), datetime.now(UTC).isoformat(timespec="seconds"), case, revision, tree,
            environment, device, outcome.end, outcome.phase, evidence.type, evidence.message, evidence.frame,
            outcome.import_failure, outcome.seconds, output, json.dumps(plain(outcome.tests)),
        )  # fmt: skip
        storable = [_storable(value) if isinstance(value, str) else value for value in values]
        with self._open() as connection:
            marks = ", ".join("?" * len(values))
            connection.execute(
                "INSERT INTO probes (key, reusable, recorded, case_id, revision, tree, environment, device, end, "
                f"phase, type, message, frame, import_failure, seconds, output, tests) VALUES ({marks})",
                storable,
            )

    def count(self) -> int:
        """How many probes are recorded."""
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM probes").fetchone()[0])


def _outcome(row: Sequence[Any]) -> Outcome:
    """An outcome from the columns `_OUTCOME`."""
    end, phase, kind, message, frame, seconds, import_failure, tests = row
    return Outcome(end, phase, Evidence(kind, message, frame), seconds, bool(import_failure), parse(json.loads(tests)))


def _storable(text: str) -> str:
    """A text without lone surrogates, e.g. of a file name that is not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
