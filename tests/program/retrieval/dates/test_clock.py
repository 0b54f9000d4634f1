"""The time of a session: as it says, in its zone, or by a clock that is given."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from queryplan.program.retrieval.dates.clock import local_now, read_time, session_now

CLOCK = datetime(2025, 11, 13, 23, 30, tzinfo=UTC)


def now(**session: Any) -> tuple[str, str]:
    there, gap = session_now(session, lambda: CLOCK)
    return there.isoformat(), gap.what if gap else ""


def test_a_session_says_what_time_it_is() -> None:
    assert now(now="2025-10-17T16:40:00+02:00") == ("2025-10-17T16:40:00+02:00", "")
    assert now(now=datetime(2025, 10, 17, tzinfo=UTC)) == ("2025-10-17T00:00:00+00:00", "")


def test_a_date_is_its_midnight() -> None:
    assert now(now=date(2026, 3, 29)) == now(now="2026-03-29") == ("2026-03-29T00:00:00+00:00", "")
    assert now(now=date(2026, 3, 29), timezone="Asia/Tokyo") == ("2026-03-29T00:00:00+09:00", "")


def test_without_it_the_clock_is_asked() -> None:
    assert now() == (CLOCK.isoformat(), "")


def test_a_zone_moves_the_day() -> None:
    assert now(timezone="Asia/Tokyo")[0].startswith("2025-11-14T08:30")
    assert now(timezone="Asia/Tokyo", now="2025-10-17T16:40:00") == ("2025-10-17T16:40:00+09:00", "")
    assert now(timezone="Asia/Tokyo", now="2025-10-17T16:40:00Z")[0].startswith("2025-10-18T01:40")


@pytest.mark.parametrize("said", ["yesterday", "2025-13-01", 3, ["now"]])
def test_a_time_that_is_none_is_a_gap(said: object) -> None:
    assert now(now=said) == (CLOCK.isoformat(), "session.now")


@pytest.mark.parametrize(
    ("said", "zone"),
    [("0001-01-01T00:00:00+00:00", "America/New_York"), ("9999-12-31T23:59:59+00:00", "Asia/Tokyo")],
)
def test_a_time_that_its_zone_moves_out_of_the_calendar_is_a_gap(said: str, zone: str) -> None:
    assert now(now=said, timezone=zone) == (now(timezone=zone)[0], "session.now")
    _, gap = session_now({"now": said, "timezone": zone}, lambda: CLOCK)
    assert gap is not None
    assert gap.why == "in its time zone it is beyond the calendar"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc", "", 3])
def test_a_zone_that_is_none_is_a_gap(zone: object) -> None:
    assert now(timezone=zone) == (CLOCK.isoformat(), "session.timezone")


def test_the_clock_of_the_machine_has_a_zone() -> None:
    assert local_now().utcoffset() is not None
    assert abs(local_now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_times_are_read_or_not() -> None:
    assert read_time("2025-01-01") == datetime(2025, 1, 1)
    assert read_time(None) is None
    assert read_time("soon") is None
