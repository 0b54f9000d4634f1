"""What shipped domains lend to one with few labelled rows, and what heads make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np
import pytest
from queryplan.data.card import DomainCard, domain_folder, load_card
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow
from queryplan.program import lending
from queryplan.program.context import clean_row
from queryplan.program.encoder import default_encoder
from queryplan.program.heads import Heads
from queryplan.program.lending import lending_counts, lending_print, lending_words, lent_rows
from queryplan.program.train_heads import FOLLOW_UP, train_heads

Full = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def card() -> DomainCard:
    return load_card(domain_folder("podcast"))


@pytest.fixture(scope="module")
def few() -> tuple[LabelledRow, ...]:
    """The first 100 rows of the podcast's, which are whole conversations but for the last."""
    return load_domain("podcast", splits=("train",)).rows("train")[:100]


def test_every_other_domain_lends_whole_conversations(few: Sequence[LabelledRow], card: DomainCard) -> None:
    lent = lent_rows(few, card)
    assert {one.card.name for one in lent} == {"biomedical", "engineering", "journal"}
    for one in lent:
        every = load_domain(one.card.name, splits=("train",)).rows("train")
        names = {row.conversation for row in one.rows}
        assert len(one.rows) >= min(lending.MOST, len(every))
        assert [row for row in every if row.conversation in names] == list(one.rows)


def test_a_domain_with_enough_rows_or_none_is_lent_nothing(few: Sequence[LabelledRow], card: DomainCard) -> None:
    assert lent_rows([], card) == ()
    assert lent_rows(list(few) * 20, card) == ()


def test_a_shipped_domain_lends_nothing_to_a_copy_of_itself(few: Sequence[LabelledRow], card: DomainCard) -> None:
    copied = card.model_copy(update={"name": "my-podcast"})
    renamed = [row.model_copy(update={"id": f"x{n}", "conversation": f"y{n}"}) for n, row in enumerate(few)]
    assert "podcast" not in {one.card.name for one in lent_rows(renamed, copied)}
    other = [row.model_copy(update={"query": f"{row.query} {n}"}) for n, row in enumerate(few)]
    assert "podcast" in {one.card.name for one in lent_rows(other, copied)}


def test_what_was_lent_is_told(few: Sequence[LabelledRow], card: DomainCard) -> None:
    lent = lent_rows(few, card)
    counts = lending_counts(lent)["lent"]
    assert counts == {one.card.name: len(one.rows) for one in lent}
    assert all(f"{count} of {name}" in lending_words(lent) for name, count in counts.items())
    assert len(set(lending_print(lent))) == len(lent)
    assert (lending_counts(()), lending_words(()), lending_print(())) == ({}, "", [])


def right(heads: Heads, rows: Sequence[LabelledRow], card: DomainCard) -> tuple[float, float]:
    """Shares of right answers: whether later turns follow up, and how complex what stands alone is."""
    followed, hard = list[bool](), list[bool]()
    for row in rows:
        clean = clean_row(row, card)
        answer = heads.of_turn(clean.query, clean.turns) if row.history else None
        if answer is not None:
            followed.append((answer.label == "true") == row.labels.is_follow_up)
        if row.labels.is_relevant:
            hard.append(heads.of_query(row.labels.standalone_query)["complexity"].label == row.labels.complexity)
    return float(np.mean(followed)), float(np.mean(hard))


def test_few_rows_with_those_of_other_domains_tell_more_than_alone(
    few: Sequence[LabelledRow], card: DomainCard, full_lending: Full
) -> None:
    with full_lending():
        lent = lent_rows(few, card)
    rows = load_domain("podcast", splits=("calibrate",)).rows("calibrate")
    alone = train_heads(few, card, default_encoder())
    both = train_heads(few, card, default_encoder(), lent=lent)
    before, after = right(alone, rows, card), right(both, rows, card)
    assert after[0] > before[0] + 0.02
    assert after[1] > before[1] + 0.02
    assert both.rewriter is not None


def test_relevance_is_learned_from_the_domains_own_rows_alone(few: Sequence[LabelledRow], card: DomainCard) -> None:
    heads = train_heads(few, card, default_encoder(), lent=lent_rows(few, card)).heads
    assert len(heads["is_relevant"].support) == len(few)
    assert len(heads["complexity"].support) > len(few)


@pytest.mark.parametrize("count", [5, 12])
def test_what_own_rows_could_not_teach_nobody_lends(count: int, few: Sequence[LabelledRow], card: DomainCard) -> None:
    first = [row for row in few if not row.history][:count]
    assert FOLLOW_UP not in train_heads(first, card, default_encoder(), lent=lent_rows(few, card)).heads
    simple = [row for row in first if row.labels.is_relevant and row.labels.complexity == "simple"]
    assert "complexity" not in train_heads(simple, card, default_encoder(), lent=lent_rows(few, card)).heads
