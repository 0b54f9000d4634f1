"""What heads make of the rows that other domains lend: they are trained here, which takes a minute or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np
import pytest
from queryplan.data.card import DomainCard
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow
from queryplan.program.context import clean_row
from queryplan.program.heads import lending
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.heads import Heads
from queryplan.program.heads.learning import FOLLOW_UP
from queryplan.program.heads.lending import lent_rows
from queryplan.program.heads.training import train_heads

Full = Callable[[], AbstractContextManager[None]]

pytestmark = pytest.mark.slow


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
    few = few[:60]  # of 100 follow-ups gain less than which conversations are drawn may cost
    with full_lending():
        lent = lent_rows(few, card)
    rows = load_domain("podcast", splits=("calibrate",)).rows("calibrate")
    alone = train_heads(few, card, default_encoder())
    both = train_heads(few, card, default_encoder(), lent=lent)
    before, after = right(alone, rows, card), right(both, rows, card)
    assert after[0] > before[0] + 0.02
    assert after[1] > before[1] + 0.02
    assert both.rewriter is not None


def test_a_domain_with_few_rows_learns_relevance_from_others_too(
    few: Sequence[LabelledRow], card: DomainCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent = lent_rows(few, card)
    others = sum(len(one.rows) for one in lent)
    assert len(train_heads(few, card, default_encoder(), lent=lent).heads["is_relevant"].support) == len(few) + others
    monkeypatch.setattr(lending, "RELEVANCE_BELOW", len(few))
    heads = train_heads(few, card, default_encoder(), lent=lent).heads
    assert len(heads["is_relevant"].support) == len(few)
    assert len(heads["complexity"].support) > len(few)


def test_with_hardly_any_stranger_of_its_own_a_domain_refuses_nearly_as_many_and_fewer_of_ours(
    few: Sequence[LabelledRow], card: DomainCard, full_lending: Full
) -> None:
    rows = [row for row in few if row.labels.is_relevant]
    rows += [row for row in few if not row.labels.is_relevant][:4]
    with full_lending():
        lent = lent_rows(rows, card)
    asked = load_domain("podcast", splits=("calibrate",)).rows("calibrate")
    rejected = []
    for others in ((), lent):
        heads = train_heads(rows, card, default_encoder(), lent=others)
        said = [(row.labels.is_relevant, heads.of_query(row.labels.standalone_query)) for row in asked]
        rejected.append([ours for ours, answer in said if answer["is_relevant"].label == "false"])
    alone, both = rejected
    assert both.count(False) > 0.8 * alone.count(False)
    assert alone.count(True) > 4 * both.count(True)
    assert both.count(True) <= 0.02 * sum(row.labels.is_relevant for row in asked)


def test_what_is_alike_everywhere_is_told_where_nobody_labelled_a_row(card: DomainCard, full_lending: Full) -> None:
    with full_lending():
        heads = train_heads([], card, default_encoder(), lent=lent_rows([], card))
    assert set(heads.heads) == {FOLLOW_UP, "is_relevant", "complexity", "intent", "needs_decomposition"}
    rows = load_domain("podcast", splits=("calibrate",)).rows("calibrate")
    followed, hard = right(heads, rows, card)
    later, asked = [row for row in rows if row.history], [row for row in rows if row.labels.is_relevant]
    assert followed > max(np.mean([row.labels.is_follow_up is label for row in later]) for label in (True, False)) + 0.1
    assert hard > np.mean([row.labels.complexity == "simple" for row in asked]) + 0.1


def test_first_questions_alone_do_not_hinder_follow_ups(few: Sequence[LabelledRow], card: DomainCard) -> None:
    first = [row for row in few if not row.history][:12]
    assert FOLLOW_UP in train_heads(first, card, default_encoder(), lent=lent_rows(first, card)).heads
    assert FOLLOW_UP not in train_heads(first, card, default_encoder()).heads


def test_where_strangers_are_rare_and_nothing_is_lent_they_are_rejected_by_a_quota_of_ours(card: DomainCard) -> None:
    every = load_domain("podcast", splits=("train",)).rows("train")[:700]
    ours = [row for row in every if row.labels.is_relevant]
    theirs = [row for row in every if not row.labels.is_relevant]
    rare, usual = (train_heads([*ours, *some], card, default_encoder()).heads for some in (theirs[:12], theirs))
    assert usual["is_relevant"].bias == ()
    assert rare["is_relevant"].bias[1] < 0 == rare["is_relevant"].bias[0]
