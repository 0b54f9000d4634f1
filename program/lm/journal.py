"""A persistent record of language model calls, so that none is paid for twice.

A compile that is stopped and started again finds its earlier calls here. Entries are JSON in SQLite: nothing is
unpickled, and threads and processes may share one file. A process that forks may go on with its journal, and so may the
child: each opens the file again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from ...errors import ConfigError
from .forked import closed_in_fork

logger = logging.getLogger(__name__)

_SCHEMA = "CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, response TEXT NOT NULL, milliseconds REAL NOT NULL)"
_WAIT_S = 30.0


class Entry(NamedTuple):
    """One paid call: the response as JSON data, and how long it took when it was made."""

    response: dict[str, Any]
    milliseconds: float


def call_key(identity: str, request: dict[str, Any]) -> str:
    """The key of a call: SHA-256 over the model's identity, the messages and the decoding parameters."""
    text = json.dumps([identity, request], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class CallJournal:
    """Recorded answers by call key, in one SQLite file.

    A file that is damaged is set aside (``NAME.damaged-…``) with a warning and a new one is begun:
    losing it costs money and time, never correctness.
    """

    def __init__(self, path: Path | str) -> None:
        """Open the file, or create it.

        Raises:
            ConfigError: the file cannot be created, or another process keeps it locked.
        """
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self.renew()
        closed_in_fork(self)
        with self._lock:
            self._connection = self._open_or_begin_anew()

    def renew(self) -> None:
        """Begin with a lock that nobody holds."""
        self._lock = threading.RLock()

    def before_fork(self) -> None:
        """Close the file until it is used again, and let nobody use it."""
        self._lock.acquire()
        self._let_go()

    def after_fork(self) -> None:
        """Let it be used again."""
        self._lock.release()

    def get(self, key: str) -> Entry | None:
        """The entry of that key, or None when the call has not been made yet."""
        row = self._execute("SELECT response, milliseconds FROM calls WHERE key = ?", (key,))
        return Entry(json.loads(row[0]), float(row[1])) if row else None

    def put(self, key: str, response: dict[str, Any], milliseconds: float) -> None:
        """Record the response of a call; the first one recorded for a key stays."""
        self._execute("INSERT OR IGNORE INTO calls VALUES (?, ?, ?)", (key, json.dumps(response), milliseconds))

    def __len__(self) -> int:
        row = self._execute("SELECT count(*) FROM calls", ())
        return int(row[0]) if row else 0

    def __repr__(self) -> str:
        return f"CallJournal({self._path.name!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> CallJournal:
        """The same journal: optimizers copy programs, and their clients with them."""
        return self

    def __enter__(self) -> CallJournal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the journal cannot be used afterwards."""
        with self._lock:
            self._closed = True
            self._let_go()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _execute(self, sql: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        with self._lock:
            if self._closed:
                raise sqlite3.ProgrammingError(f"the journal {self._path.name} is closed")
            if self._connection is None:
                self._connection = self._open_or_begin_anew()
            try:
                return self._connection.execute(sql, values).fetchone()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._connection = self._begin_anew()
                return self._connection.execute(sql, values).fetchone()

    def _open_or_begin_anew(self) -> sqlite3.Connection:
        try:
            return _connect(self._path)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise ConfigError(
                    f"the journal of paid calls {self._path} cannot be opened ({error}): name another file with "
                    "QUERYPLAN_JOURNAL, or journal in queryplan.toml"
                ) from error
            return self._begin_anew()

    def _begin_anew(self) -> sqlite3.Connection:
        self._let_go()
        aside = f"{self._path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
        logger.warning("journal %s is damaged; it was set aside as %s and a new one begun", self._path.name, aside)
        self._path.rename(self._path.with_name(aside))
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        return _connect(self._path)


def _connect(path: Path) -> sqlite3.Connection:
    """Open and check the file.

    Autocommit, so that a killed process loses at most the call it was making.
    """
    connection = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_SCHEMA)
        connection.execute("SELECT key, response, milliseconds FROM calls LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is damaged; a lock or a full disk says nothing about its content."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return not isinstance(error, sqlite3.OperationalError)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such column" in str(error)
