"""What other domains lend to one with few labelled rows; ``test_lent_rows_teach.py`` has what heads make of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from queryplan.data.card import DomainCard, lending_folders
from queryplan.data.domain import load_domain
from queryplan.data.rows import LabelledRow
from queryplan.program.heads import lending
from queryplan.program.heads.lending import lending_counts, lending_key, lending_words, lends_relevance, lent_rows


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
    many = list(few) * (lending.RELEVANCE_BELOW // len(few))
    assert lends_relevance(few, lent_rows(few, card))
    assert lent_rows(many, card)
    assert not lends_relevance(many, lent_rows(many, card))
    assert not lends_relevance(few, ())


def test_a_shipped_domain_lends_nothing_to_a_copy_of_itself(few: Sequence[LabelledRow], card: DomainCard) -> None:
    copied = card.model_copy(update={"name": "my-podcast"})
    renamed = [row.model_copy(update={"id": f"x{n}", "conversation": f"y{n}"}) for n, row in enumerate(few)]
    assert "podcast" not in {one.card.name for one in lent_rows(renamed, copied)}
    other = [row.model_copy(update={"query": f"{row.query} {n}"}) for n, row in enumerate(few)]
    assert "podcast" in {one.card.name for one in lent_rows(other, copied)}


def test_what_was_lent_is_told(few: Sequence[LabelledRow], card: DomainCard) -> None:
    lent = lent_rows(few, card)
    counts = lending_counts(lent)
    assert counts == {one.card.name: {"rows": len(one.rows)} for one in lent}
    assert f"{sum(len(one.rows) for one in lent)} rows of other domains for what is alike" in lending_words(counts)
    assert lending_words({"an older program's": {"rows": 3, "strangers": 2}}) == lending_words({"x": {"rows": 3}})
    assert (lending_counts(()), lending_words({})) == ({}, "")
    key = lending_key(few)
    assert key == lending_key(few) != ()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lending, "MOST", lending.MOST + 1)
        assert lending_key(few) != key
    assert lending_key(list(few) * (lending.LENDS_BELOW // len(few))) == ()
