"""Scores of source plans and of the choice to read everything, on rows that may be looked at."""

from __future__ import annotations

from typing import Any

import pytest
from queryplan.data.domain import Domain, load_domain
from queryplan.errors import DataError
from queryplan.eval.retrieval.scores import cross_validate_sources, measure_collection, measure_sources


@pytest.fixture(scope="module")
def engineering() -> Domain:
    return load_domain("engineering", splits=("train", "dev"))


@pytest.fixture(scope="module")
def journal() -> Domain:
    return load_domain("journal", splits=("dev",))


def test_plans_from_gold_intents_are_all_right_and_rivals_are_not(engineering: Domain) -> None:
    scores = measure_sources(engineering.rows("dev"), engineering.card, None)
    assert scores.from_gold_intents.value == 1.0
    assert scores.from_gold_intents.low < 1.0
    assert scores.one_intent.value < scores.by_cue.value == scores.from_text.value
    assert scores.from_text.n == sum(row.gold is not None for row in engineering.rows("dev"))


def test_heads_that_did_not_see_a_row_beat_the_cues(engineering: Domain) -> None:
    rows = (*engineering.rows("train")[:400], *engineering.rows("dev"))
    scores = cross_validate_sources(rows, engineering.card)
    assert scores.from_text.value > scores.by_cue.value > scores.one_intent.value
    assert scores.from_text.value <= scores.intents.value
    assert scores.filters.value > 0.85


def test_rows_without_labels_cannot_be_measured(engineering: Domain, journal: Domain) -> None:
    with pytest.raises(DataError, match="label some first"):
        measure_sources(journal.rows("dev"), engineering.card, None)
    with pytest.raises(DataError, match="no labelled choice"):
        measure_collection(engineering.rows("dev"), engineering.card)


def test_a_row_without_a_time_is_named(engineering: Domain) -> None:
    row = next(row for row in engineering.rows("dev") if row.gold is not None)
    bad: Any = row.model_copy(update={"session": {}})
    with pytest.raises(DataError, match=r"has no ISO time in session\.now"):
        measure_sources([bad], engineering.card, None)


def test_the_choice_to_read_everything_is_always_right_and_rivals_are_not(journal: Domain) -> None:
    scores = measure_collection(journal.rows("dev"), journal.card, journal.folder)
    assert scores.right.value == 1.0
    assert max(scores.always_search.value, scores.count_alone.value) < 1.0
