"""What the evidence covers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queryplan.data.card import KnownName
from queryplan.program.plan import QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.gaps import cover
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.results import Evidence
from queryplan.program.text.linker import Linker
from queryplan.signatures.types import SubQuery

LINKER = Linker([KnownName(name="Ada Finch", type="Guest", aliases=("Ada",)), KnownName(name="Bo", type="Guest")])
KILN = "Ada: The kiln cooled for two days."
HIVE = "Bees keep the hive warm."


def evidence(*texts: str) -> list[Evidence]:
    return [Evidence(Passage(f"p{n}", text, "talks"), 1.0, "v", ("v",), ("talks",)) for n, text in enumerate(texts)]


def plan(query: str = "q", subs: Sequence[str] = (), entities: Sequence[str] = (), **more: Any) -> QueryPlan:
    return QueryPlan(
        query=query,
        standalone_query=query,
        is_follow_up=False,
        is_relevant=True,
        complexity="complex",
        intent="multi_part",
        needs_decomposition=bool(subs),
        sub_queries=tuple(SubQuery(id=n, text=text) for n, text in enumerate(subs, 1)),
        entities=tuple(entities),
        retrieval_strategy=RetrievalStrategy(use_rag=True, use_kg=False),
    )


def test_a_sub_query_is_met_by_the_passage_with_most_of_its_words() -> None:
    found = cover(plan(subs=("kiln cooled days", "volcano ash")), evidence(HIVE, KILN))
    met, missing = found.needs
    assert (met.share, met.best) == (1.0, "p1")
    assert (missing.share, missing.best) == (0.0, "")
    assert found.missing == (missing,)
    assert found.share == 0.5


def test_where_no_passage_was_found_none_is_said_to_be_given() -> None:
    gaps = cover(plan("the kiln", entities=("Ada Finch",)), (), linker=LINKER).gaps()
    assert [(gap.what, gap.why, gap.instead) for gap in gaps] == [
        ("the kiln", "no passage was found", "none is given"),
        ("Ada Finch", "no passage was found", "none is given"),
    ]
    (gap,) = cover(plan("volcano"), evidence(KILN)).gaps()
    assert gap.instead == "the nearest passages are given"


def test_words_in_different_passages_do_not_add_up() -> None:
    (need,) = cover(plan("kiln bees"), evidence(KILN, HIVE)).needs
    assert need.share == 0.5


def test_without_sub_queries_the_query_itself_is_needed() -> None:
    assert [need.text for need in cover(plan("the kiln"), evidence(KILN)).needs] == ["the kiln"]


def test_telling_words_count_more() -> None:
    weights = {"the": 0.1, "volcano": 5.0}
    (need,) = cover(plan("the volcano"), evidence(KILN), weight=lambda term: weights.get(term, 1.0)).needs
    assert need.share == pytest.approx(0.1 / 5.1)


def test_a_name_is_met_by_any_of_its_spellings() -> None:
    found = cover(plan("kiln", entities=("Ada Finch", "Bo")), evidence(KILN), linker=LINKER)
    ada, bo = (need for need in found.needs if need.kind == "entity")
    assert (ada.share, bo.share) == (1.0, 0.0)


def test_a_name_inside_a_longer_word_is_not_met() -> None:
    found = cover(plan("boats", entities=("Bo",)), evidence("Boats leave at dawn."), linker=LINKER)
    assert found.needs[-1].share == 0.0


def test_a_name_that_nobody_knows_counts_like_a_question() -> None:
    found = cover(plan("x", entities=("the warm hive",)), evidence(HIVE), linker=LINKER)
    need = found.needs[-1]
    assert (need.kind, need.share) == ("entity", 1.0)


def test_questions_as_they_were_asked_take_the_place_of_the_plans() -> None:
    found = cover(plan(subs=("what did {1} cool?", "b")), evidence(KILN), asked=("what did the kiln do", "hive"))
    assert [need.text for need in found.needs] == ["what did the kiln do", "hive"]


def test_each_missing_need_is_a_gap_with_its_reason() -> None:
    gaps = cover(plan("volcano ash", entities=("Bo",)), evidence(KILN), linker=LINKER).gaps()
    assert [(gap.kind, gap.what) for gap in gaps] == [("coverage", "volcano ash"), ("coverage", "Bo")]
    assert "0%" in gaps[0].why
    assert "names it" in gaps[1].why


def test_what_is_asked_again_are_the_names_and_the_words_that_were_not_found() -> None:
    (need, _) = cover(plan("did Ada open the volcano kiln", entities=("Ada",)), evidence(KILN), linker=LINKER).needs
    assert need.absent == ("Ada", "open", "volcano")
    assert need.again == "Ada open volcano"


def test_what_is_found_as_a_whole_would_be_asked_as_it_is() -> None:
    (need,) = cover(plan("the kiln cooled"), evidence(KILN)).needs
    assert (need.absent, need.again) == ((), "the kiln cooled")


def test_nothing_found_leaves_everything_missing() -> None:
    assert cover(plan("kiln", entities=("Ada",)), [], linker=LINKER).share == 0.0


def test_a_query_without_words_needs_nothing() -> None:
    assert cover(plan("???"), []).share == 1.0


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_shares_lie_between_nothing_and_all(query: str, texts: list[str]) -> None:
    for need in cover(plan(query, entities=(query,)), evidence(*texts), linker=LINKER).needs:
        assert 0.0 <= need.share <= 1.0


@given(st.lists(st.sampled_from([KILN, HIVE, "the door"]), max_size=3), st.sampled_from([KILN, HIVE]))
def test_more_evidence_never_covers_less(texts: list[str], more: str) -> None:
    wanted = plan(subs=("kiln days", "hive warm"))
    fewer, all_of_them = cover(wanted, evidence(*texts)), cover(wanted, evidence(*texts, more))
    assert all_of_them.share >= fewer.share
