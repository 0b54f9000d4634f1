"""The queries that no head learned from: they stay apart from the domain's own, and say what careful heads cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from queryplan import eval as evaluation
from queryplan.data.domain import check_kinds, load_domain
from queryplan.data.rows import LabelledRow, read_rows

FILE = Path(evaluation.__file__).parent / "sets" / "podcast-trades.jsonl"


@pytest.fixture(scope="module")
def rows() -> tuple[LabelledRow, ...]:
    return tuple(read_rows(FILE))


def test_its_labels_fit_the_card(rows: tuple[LabelledRow, ...]) -> None:
    check_kinds(rows, load_domain("podcast", splits=("train",)).card, FILE.name)
    assert len({row.id for row in rows}) == len(rows)


def test_nothing_in_it_is_learned_from(rows: tuple[LabelledRow, ...]) -> None:
    own = load_domain("podcast")
    known = [row for split in ("train", "dev", "calibrate", "test") for row in own.rows(split)]
    assert not {row.conversation for row in rows} & {row.conversation for row in known}
    alone = {row.labels.standalone_query.casefold() for row in known if row.labels.is_relevant}
    greetings = {name.casefold() for name in own.card.greetings}
    said = {row.labels.standalone_query.casefold() for row in rows if row.labels.is_relevant} - greetings
    assert not said & alone


def test_it_has_enough_of_what_it_is_for(rows: tuple[LabelledRow, ...]) -> None:
    ours = [row for row in rows if row.labels.is_relevant]
    assert sum("trap_word" in row.tags for row in ours) > 200
    assert len(rows) - len(ours) > 150
    assert sum(row.labels.is_follow_up for row in rows) > 150
