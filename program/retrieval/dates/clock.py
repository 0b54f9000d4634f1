"""The current time of whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...plan import Degraded

Now = Callable[[], datetime]


def local_now() -> datetime:
    """This machine's time in its own zone."""
    return datetime.now(UTC).astimezone()


def session_now(session: Mapping[str, Any], now: Now = local_now) -> tuple[datetime, Degraded | None]:
    """The time of a session, and a gap where what it says cannot be read.

    ``session["now"]`` is an ISO time, a datetime or a date (its midnight), ``session["timezone"]`` an IANA name; a time
    without a zone is in that zone, else in the zone of ``now``. Without ``now`` in the session the clock is asked.
    """
    clock, zone, gap = now(), None, None
    if (named := session.get("timezone")) is not None:
        zone, gap = _zone(named)
    here = clock.astimezone(zone) if zone else clock
    if (said := session.get("now")) is None:
        return here, gap
    there = _told(said, zone, clock.tzinfo or UTC)
    if there is None:
        why = "it is no ISO time" if read_time(said) is None else "in its time zone it is beyond the calendar"
        gap = Degraded(what="session.now", why=why, instead="the clock of this machine was used")
    return there or here, gap


def _told(said: object, zone: tzinfo | None, without: tzinfo) -> datetime | None:
    """A given time in ``zone``, or in ``without`` if there is no zone; None if it is no time, or out of range there."""
    there = read_time(said)
    if there is None or (there.tzinfo is not None and zone is None):
        return there
    if there.tzinfo is None:
        return there.replace(tzinfo=zone or without)
    with suppress(OverflowError):
        return there.astimezone(zone)


def read_time(said: object) -> datetime | None:
    """A datetime, a date's midnight, or an ISO text of one; None for anything else."""
    if isinstance(said, datetime):
        return said
    if isinstance(said, date):
        return datetime.combine(said, time())
    try:
        return datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        return None


def _zone(named: object) -> tuple[tzinfo | None, Degraded | None]:
    try:
        if isinstance(named, str):
            return ZoneInfo(named), None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    why = "there is no time zone of that name"
    return None, Degraded(what="session.timezone", why=why, instead="the zone of the clock was used")
