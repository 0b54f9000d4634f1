"""A collection that is small enough is read whole, newest first; where it is not, it is searched."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from queryplan.program.retrieval.execute import execute
from queryplan.program.retrieval.stores import Stores

from ..running import DIRECT, kinds, plan_of, session


def test_a_small_collection_is_read_newest_first_up_to_today(journal: Stores) -> None:
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session=session(5))
    assert result.kind == "read_everything"
    days = [item.passage.date for item in result.evidence]
    assert days == sorted(days, reverse=True)
    assert len(days) == 5
    assert max(days) <= "2025-03-31"
    assert result.context is not None
    assert result.text == result.context.formatted_context


def test_statistics_that_say_less_than_there_is_are_a_gap_and_not_all_is_claimed_to_be_read(journal: Stores) -> None:
    there = sum(passage.date[:10] <= "2025-03-31" for passage in journal.collection)
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session=session(5))
    assert (result.gaps[0].why, result.gaps[0].instead) == (
        f"5 items were announced and {there} are there",
        "the newest 5 were read",
    )
    assert result.context is not None
    assert (result.context.total_available, result.context.coverage) == (there, 5 / there)
    assert f"newest 5 of {there}" in result.text
    assert "all posts of the user" not in result.text


def test_all_that_is_there_is_read_as_all(journal: Stores) -> None:
    there = sum(passage.date[:10] <= "2025-01-31" for passage in journal.collection)
    told = session(there, "2025-01-31T12:00:00+01:00")
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session=told)
    assert result.context is not None
    assert (result.context.coverage, result.context.confidence, result.gaps) == (1.0, 1.0, ())


def test_statistics_that_say_more_than_there_is_are_a_gap(journal: Stores) -> None:
    early = session(9, "2025-01-12T12:00:00+02:00")
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session=early)
    assert len(result.evidence) == 2
    assert kinds(result) == {"plan"}


def test_a_collection_that_is_too_large_after_all_is_searched(journal: Stores) -> None:
    everything = session(60, "2025-12-31T12:00:00+01:00")
    result = execute(plan_of("the cat and the plant", retrieval_strategy=DIRECT), journal, session=everything)
    assert result.kind == "searched"
    assert result.evidence
    assert result.gaps[0].instead == "it is searched"


def test_a_domain_without_a_collection_is_searched(podcast: Stores) -> None:
    result = execute(plan_of("the two-minute doorway", retrieval_strategy=DIRECT), podcast)
    assert result.kind == "searched"
    assert result.gaps[0].what == "reading everything"


def test_today_is_the_day_of_the_sessions_time_zone(journal: Stores) -> None:
    last = max(passage.date[:10] for passage in journal.collection)
    evening = f"{date.fromisoformat(last) - timedelta(days=1)}T20:00:00+00:00"
    told = {"now": evening, "timezone": "Asia/Tokyo"}
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session={**session(5), **told})
    assert result.evidence[0].passage.date[:10] == last


@pytest.mark.parametrize("said", ["soon", 3, "0001-01-01T00:00:00+00:00"])
def test_a_time_that_cannot_be_read_is_a_gap_and_the_newest_day_is_taken(journal: Stores, said: object) -> None:
    told = {"now": said, "timezone": "America/New_York"}
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session={**session(5), **told})
    assert result.evidence[0].passage.date == max(passage.date for passage in journal.collection)
    assert ("session.now", "the day of the newest text was taken") in {(gap.what, gap.instead) for gap in result.gaps}
