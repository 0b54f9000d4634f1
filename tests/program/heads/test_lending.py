"""What other domains lend to one with few labelled rows; ``test_lent_rows_teach.py`` has what heads make of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import DomainCard, lending_folders
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow
from queryplan.program.heads import lending
from queryplan.program.heads.lending import lending_counts, lending_key, lending_words, lent_rows


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
