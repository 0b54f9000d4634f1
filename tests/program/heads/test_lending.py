"""What other domains lend to one with few labelled rows, and what heads make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import DomainCard, domain_folder, lending_folders, load_card
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow
from queryplan.program.context import clean_row
from queryplan.program.heads import lending
from queryplan.program.heads.encoder import default_encoder
from queryplan.program.heads.heads import Heads
from queryplan.program.heads.lending import lending_counts, lending_key, lending_words, lent_rows
from queryplan.program.heads.training import FOLLOW_UP, train_heads

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
    folders = {folder.name: folder for folder in lending_folders()}
    assert {one.card.name for one in lent} == set(folders) - {"podcast"} > {"biomedical", "engineering", "journal"}
    for one in lent:
        every = load_domain(folders[one.card.name], splits=("train",)).rows("train")
        names = {row.conversation for row in one.rows}
        assert len(one.rows) >= min(lending.MOST, len(every))
        assert [row for row in every if row.conversation in names] == list(one.rows)


def test_a_domain_with_enough_rows_is_lent_none(few: Sequence[LabelledRow], card: DomainCard) -> None:
    assert lent_rows(list(few) * (lending.LENDS_BELOW // len(few)), card) == ()
    many = lent_rows(list(few) * (lending.STRANGERS_BELOW // len(few)), card)
    assert many
    assert not any(one.strangers for one in many)


def test_strangers_are_lent_until_they_are_a_fifth(few: Sequence[LabelledRow], card: DomainCard) -> None:
    ours = [row for row in few if row.labels.is_relevant][:60]
    theirs = [row for row in few if not row.labels.is_relevant]
    for own in (0, 3, 15, len(theirs)):
        lent = [row for one in lent_rows([*ours, *theirs[:own]], card) for row in one.strangers]
        assert len(lent) == max(0, 15 - own)
        assert not any(row.labels.is_relevant or row.history for row in lent)
    of_each = [len(one.strangers) for one in lent_rows(ours, card)]
    assert max(of_each) - min(of_each) <= 1


@given(st.lists(st.integers(0, 9), max_size=5), st.integers(0, 30))
def test_what_is_wanted_is_shared_evenly_as_far_as_it_is_there(sizes: list[int], wanted: int) -> None:
    shares = lending._shares(sizes, wanted)
    assert sum(shares) == min(wanted, sum(sizes))
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    full = max(shares, default=0)
    assert all(share >= full - 1 or share == size for share, size in zip(shares, sizes, strict=True))


def test_a_shipped_domain_lends_nothing_to_a_copy_of_itself(few: Sequence[LabelledRow], card: DomainCard) -> None:
    copied = card.model_copy(update={"name": "my-podcast"})
    renamed = [row.model_copy(update={"id": f"x{n}", "conversation": f"y{n}"}) for n, row in enumerate(few)]
    assert "podcast" not in {one.card.name for one in lent_rows(renamed, copied)}
    other = [row.model_copy(update={"query": f"{row.query} {n}"}) for n, row in enumerate(few)]
    assert "podcast" in {one.card.name for one in lent_rows(other, copied)}


def test_what_was_lent_is_told(few: Sequence[LabelledRow], card: DomainCard) -> None:
    lent = lent_rows(few, card)
    counts = lending_counts(lent)
    assert counts == {one.card.name: {"rows": len(one.rows), "strangers": len(one.strangers)} for one in lent}
    assert f"{sum(len(one.rows) for one in lent)} for what is alike everywhere" in lending_words(counts)
    assert (lending_counts(()), lending_words({})) == ({}, "")
    key = lending_key(few)
    assert key == lending_key(few) != ()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lending, "MOST", lending.MOST + 1)
        assert lending_key(few) != key
    assert lending_key(list(few) * (lending.LENDS_BELOW // len(few))) == ()


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
