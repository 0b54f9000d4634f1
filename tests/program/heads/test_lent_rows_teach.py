"""What heads make of the rows that other domains lend: they are trained here, which takes a minute or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
import pytest
from queryplan.data.card import DomainCard
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow
from queryplan.program.context import clean_row
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


def test_relevance_is_learned_from_own_rows_and_strangers_alone(few: Sequence[LabelledRow], card: DomainCard) -> None:
    ours = [row for row in few if row.labels.is_relevant]
    rows = [*ours, *[row for row in few if not row.labels.is_relevant][:4]]
    lent = lent_rows(rows, card)
    heads = train_heads(rows, card, default_encoder(), lent=lent).heads
    strangers = sum(len(one.strangers) for one in lent)
    assert strangers > 0
    assert len(heads["is_relevant"].support) == len(rows) + strangers
    assert len(heads["complexity"].support) > len(rows) + strangers


def test_strangers_of_others_teach_a_domain_with_hardly_any_to_reject(
    few: Sequence[LabelledRow], card: DomainCard, full_lending: Full
) -> None:
    every = load_domain("podcast", splits=("train",)).rows("train")[:500]
    rows = [row for row in every if row.labels.is_relevant]
    rows += [row for row in every if not row.labels.is_relevant][:4]
    with full_lending():
        lent = [replace(one, rows=()) for one in lent_rows(rows, card)]
    asked = load_domain("podcast", splits=("calibrate",)).rows("calibrate")
    rejected = []
    for others in ((), lent):
        heads = train_heads(rows, card, default_encoder(), lent=others)
        said = [(row.labels.is_relevant, heads.of_query(row.labels.standalone_query)) for row in asked]
        rejected.append([ours for ours, answer in said if answer["is_relevant"].label == "false"])
    alone, both = rejected
    assert alone.count(False) < both.count(False)
    assert both.count(True) < both.count(False)


def test_what_is_alike_everywhere_is_told_where_nobody_labelled_a_row(card: DomainCard, full_lending: Full) -> None:
    with full_lending():
        heads = train_heads([], card, default_encoder(), lent=lent_rows([], card))
    assert set(heads.heads) == {FOLLOW_UP, "complexity", "intent", "needs_decomposition"}
    rows = load_domain("podcast", splits=("calibrate",)).rows("calibrate")
    followed, hard = right(heads, rows, card)
    later, asked = [row for row in rows if row.history], [row for row in rows if row.labels.is_relevant]
    assert followed > max(np.mean([row.labels.is_follow_up is label for row in later]) for label in (True, False)) + 0.1
    assert hard > np.mean([row.labels.complexity == "simple" for row in asked]) + 0.1


def test_first_questions_alone_do_not_hinder_follow_ups(few: Sequence[LabelledRow], card: DomainCard) -> None:
    first = [row for row in few if not row.history][:12]
    assert FOLLOW_UP in train_heads(first, card, default_encoder(), lent=lent_rows(first, card)).heads
    assert FOLLOW_UP not in train_heads(first, card, default_encoder()).heads


def test_relevance_is_not_learned_from_strangers_alone(few: Sequence[LabelledRow], card: DomainCard) -> None:
    assert "is_relevant" not in train_heads(few[:5], card, default_encoder(), lent=lent_rows(few[:5], card)).heads


def test_where_strangers_are_rare_and_nothing_is_lent_they_are_rejected_by_a_quota_of_ours(card: DomainCard) -> None:
    every = load_domain("podcast", splits=("train",)).rows("train")[:700]
    ours = [row for row in every if row.labels.is_relevant]
    theirs = [row for row in every if not row.labels.is_relevant]
    rare, usual = (train_heads([*ours, *some], card, default_encoder()).heads for some in (theirs[:12], theirs))
    assert usual["is_relevant"].bias == ()
    assert rare["is_relevant"].bias[1] < 0 == rare["is_relevant"].bias[0]
