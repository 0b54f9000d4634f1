"""A cache of plans, so that the same query in the same conversation is planned once.

The key is the normalised query, the turns that the planner would be shown, the session, the program's version, its
domain, who plans (mode, model, options) and, where dates are resolved, the user's current day: a plan never crosses
into another program, domain or day. "Normalised" means Unicode form NFC and folded white space; letters keep their
case, which can tell a name, and their width and height, which can tell a number (2⁵ is not 25).

Plans in which a model could not do its part are not kept, so that a model that was away is asked again. What lacks for
a reason of the query and the program, such as a filter that no source has, lacks the next time too, and such plans are
kept. A query or history from which something had to be left out is not answered from the cache either, so that every
such plan says so.

In memory the cache holds a bounded number of plans for a bounded time (``cachetools.TTLCache``). With a file, plans
outlive the process, in SQLite, bounded alike. Both are safe to share between threads, and a forked process goes on with
what its parent kept.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from threading import RLock
from typing import Any

from cachetools import TLRUCache
from pydantic import ValidationError

from ..errors import ConfigError
from ..signatures.types import STAGES, Turn
from .context import encodable
from .lm.forked import closed_in_fork
from .plan import NO_MODEL, Degraded, PlanTrace, QueryPlan
from .written import NO_CUT, NO_EDIT

log = logging.getLogger(__name__)

PLANS = 10_000
SECONDS = 3600.0

_TABLE = "CREATE TABLE plans (key TEXT PRIMARY KEY, made REAL NOT NULL, plan TEXT NOT NULL)"
_WAIT_MS = 20
"""Milliseconds to wait for another process that writes into the file; after that the plan is made, or not kept."""

_BY_A_MODEL = frozenset({*STAGES, "candidates"})
"""What a model has a part in: whatever reason it gave not to have done it, in any words, may be gone the next time."""
_FOR_GOOD = frozenset({NO_CUT, NO_EDIT, "the card has no graph"})
"""The reasons among these, beside `NO_MODEL`, that are of the query and the program."""

Kept = tuple[float, QueryPlan]
"""A plan, and the time at which it was made."""


class PlanCache:
    """Plans by key.

    Args:
        plans: how many plans are kept; the least recently used is dropped first.
        seconds: how long a plan is kept.
        file: also keep them in this SQLite file.
        clock: gives seconds since a moment that all processes share.

    Raises:
        ConfigError: the file cannot be opened or is not a cache.
    """

    def __init__(
        self,
        plans: int = PLANS,
        seconds: float = SECONDS,
        file: Path | str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if plans < 1 or seconds <= 0:
            raise ConfigError(f"a plan cache needs room and time: not {plans} plans for {seconds} seconds")
        self.plans, self.seconds, self.hits, self.asked = plans, seconds, 0, 0
        self._kept: TLRUCache[str, Kept] = TLRUCache(plans, lambda key, kept, now: kept[0] + seconds, timer=clock)
        self._clock = clock
        self._file: _Disk | None = None
        self.renew()
        closed_in_fork(self)
        if file is not None:
            with self._lock:
                self._file = _Disk(Path(file), plans, seconds)

    def renew(self) -> None:
        """Begin with a lock that nobody holds."""
        self._lock = RLock()

    def before_fork(self) -> None:
        """Close the file until it is used again, and let nobody use the cache."""
        self._lock.acquire()
        if self._file is not None:
            self._file.close()

    def after_fork(self) -> None:
        """Let it be used again."""
        self._lock.release()

    def get(self, key: str, query: str, began: float) -> QueryPlan | None:
        """The plan kept under a key, as a plan of this query, or None; counts for the hit rate.

        Args:
            query: the query as typed this time.
            began: ``time.perf_counter()`` when planning began.
        """
        with self._lock:
            self.asked += 1
            kept = self._kept.get(key)
            if kept is None and self._file is not None and (kept := self._file.get(key, self._clock())) is not None:
                self._kept[key] = kept
            self.hits += kept is not None
            rate = f"plan cache: {self.hits} of {self.asked} answered"
        return _again(kept[1], query, began, rate) if kept is not None else None

    def put(self, key: str, plan: QueryPlan) -> None:
        """Keep a plan, unless something could not be done that may be possible the next time."""
        if any(_may_pass(gap, plan) for gap in plan.degraded):
            return
        with self._lock:
            now = self._clock()
            self._kept[key] = now, plan
            if self._file is not None:
                self._file.put(key, plan, now)

    @property
    def hit_rate(self) -> float:
        """Share of look-ups that were answered so far; 0.0 before the first."""
        with self._lock:
            return self.hits / self.asked if self.asked else 0.0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _may_pass(gap: Degraded, plan: QueryPlan) -> bool:
    """Whether what could not be done may be possible the next time that the key is the same."""
    if gap.what not in _BY_A_MODEL or gap.why in _FOR_GOOD or gap.why.endswith(NO_MODEL):
        return False
    decided = plan.trace.decision(gap.what)
    return decided is None or decided.decided_by != "rule"  # rules ask no model


def plan_key(query: str, turns: Sequence[Turn], session: Mapping[str, Any] | None, *who: str) -> str:
    """The key of a query in its conversation, for a given planner.

    It is empty for a session that cannot be serialised, as with keys of several types: such a query is planned each
    time."""
    said = [(turn.role, _normal(turn.content)) for turn in turns]
    parts = [_normal(query), said, session or {}, who]
    try:
        text = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=repr)
    except Exception as error:  # whatever a caller's own objects raise
        log.debug("a query was planned beside the cache: %s", type(error).__name__)
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _again(plan: QueryPlan, query: str, began: float, rate: str) -> QueryPlan:
    """A kept plan as the answer to a new query: its trace has no requests and no cost."""
    free = {"decided_by": "cache", "milliseconds": 0.0, "lm_calls": 0, "tokens": 0}
    decisions = tuple(
        decision.model_copy(update={**free, "reason": f"kept; first decided by {decision.decided_by}"})
        for decision in plan.trace.decisions
    )
    spent = (time.perf_counter() - began) * 1000
    trace = PlanTrace(decisions=decisions, completion_tokens=0, milliseconds=spent, notes=(*plan.trace.notes, rate))
    return plan.model_copy(update={"query": encodable(query), "trace": trace})


class _Disk:
    """The file behind a cache, whose lock the owner holds. A damaged entry counts as missing.

    It may be closed at any time: it is opened again where it is needed.
    """

    def __init__(self, file: Path, plans: int, seconds: float) -> None:
        self._path, self._plans, self._seconds = file, plans, seconds
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._open: sqlite3.Connection | None = _connect(file, 5.0)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(
                f"the plan cache {file} cannot be opened ({error}); move it away or name another"
            ) from error

    @property
    def _db(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = _connect(self._path, _WAIT_MS / 1000)
        return self._open

    def get(self, key: str, now: float) -> Kept | None:
        try:
            with closing(self._db.execute("SELECT made, plan FROM plans WHERE key = ?", (key,))) as found:
                row = found.fetchone()
            if row is None or not now - row[0] < self._seconds:
                return None
            return row[0], QueryPlan.model_validate_json(row[1])
        except (sqlite3.Error, ValidationError, TypeError):
            return None

    def put(self, key: str, plan: QueryPlan, now: float) -> None:
        """Keep a plan and drop those that are too old or too many; on a full disk nothing is kept, without an error."""
        try:
            self._db.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?)", (key, now, plan.model_dump_json()))
            self._db.execute("DELETE FROM plans WHERE made <= ?", (now - self._seconds,))
            oldest = "SELECT key FROM plans ORDER BY made DESC LIMIT -1 OFFSET ?"
            self._db.execute(f"DELETE FROM plans WHERE key IN ({oldest})", (self._plans,))
        except sqlite3.Error:
            return

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


def _connect(file: Path, wait_s: float) -> sqlite3.Connection:
    """Open the file and create the table of plans if it is missing, but not in somebody else's database."""
    db = sqlite3.connect(file, check_same_thread=False, isolation_level=None, timeout=wait_s)
    try:
        found = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        if found - {_TABLE}:
            raise sqlite3.DatabaseError("it holds something else than plans")
        if not found:
            db.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
        db.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
    except BaseException:
        db.close()
        raise
    return db
