"""Source queries run with their filters, and a stand-in for a source that gives nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from queryplan.data.sources import SourceContract, SourceLimits
from queryplan.program.retrieval.beside import source_lists
from queryplan.program.retrieval.execute import execute
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.results import Hit, SearchResult
from queryplan.program.retrieval.sources.records import SourceAnswer
from queryplan.program.retrieval.stores import Stores
from queryplan.signatures.types import SourcePlan, SourceQuery

from .running import FAILED, Fake, kinds, plan_of, source_plan, with_providers


def test_source_queries_are_run_with_their_filters(engineering: Stores) -> None:
    result = execute(source_plan(FAILED), engineering)
    (answer,) = result.source_answers
    assert answer.hits
    assert all(hit.passage.fields["status"] == "failed" for hit in answer.hits)
    assert any(item.query_variant == "source:gitlab" for item in result.evidence)


def test_what_a_source_query_filters_out_does_not_come_back_by_search(engineering: Stores) -> None:
    found = execute(source_plan(FAILED), engineering).evidence
    assert found
    assert all(item.passage.fields["status"] == "failed" for item in found)


def test_filters_that_no_record_passes_are_a_gap(engineering: Stores) -> None:
    nothing = FAILED.model_copy(update={"filters": {"resolved_dates": ("1999-01-01/1999-01-02",)}})
    result = execute(source_plan(nothing), engineering)
    assert result.evidence == ()
    assert "no record passes its filters" in {gap.why for gap in result.gaps}
    assert "none is given" in {gap.instead for gap in result.gaps}


def test_without_source_queries_the_records_are_searched_by_words(engineering: Stores) -> None:
    result = execute(plan_of("refund test a cent too much"), engineering)
    assert result.evidence[0].passage.source == "gitlab"


def test_a_source_without_a_store_is_a_gap(engineering: Stores) -> None:
    result = execute(source_plan(FAILED.model_copy(update={"source": "jenkins"})), engineering)
    assert ("source", FAILED.query_string) in {(gap.kind, gap.what) for gap in result.gaps}


@dataclass(eq=False)
class BrokenSource:
    contract: SourceContract
    answer: Callable[[SourceQuery, str], Any]


@pytest.mark.parametrize("answer", ["hangs", "fails", "rubbish"])
def test_a_source_that_gives_nothing_is_replaced_by_its_stand_in(
    engineering: Stores, hang: Callable[..., Any], answer: str
) -> None:
    def fail(query: SourceQuery, question: str) -> SourceAnswer:
        raise ConnectionError("down")

    contract = engineering.sources["gitlab"].contract.model_copy(update={"limits": SourceLimits(milliseconds=40)})
    broken = BrokenSource(contract, {"hangs": hang, "fails": fail, "rubbish": lambda query, question: "?"}[answer])
    stores = replace(engineering, sources={**engineering.sources, "gitlab": broken})
    result = execute(source_plan(FAILED), stores)
    assert [a.query.source for a in result.source_answers] == ["generic"]
    assert result.source_answers[0].query.filters == {"projects": ("atlas",)}
    assert "source" in kinds(result)


def test_a_source_without_a_store_is_replaced_by_its_stand_in(engineering: Stores) -> None:
    without = {name: source for name, source in engineering.sources.items() if name != "gitlab"}
    result = execute(source_plan(FAILED), replace(engineering, sources=without))
    assert [a.query.source for a in result.source_answers] == ["generic"]
    told = {gap.why: gap.instead for gap in result.gaps}
    instead = "generic is asked without statuses:failed, which it does not know"
    assert told["this source has no store here"] == instead
    nothing = execute(source_plan(FAILED), replace(engineering, sources={}))
    assert {gap.why: gap.instead for gap in nothing.gaps}[
        "this source has no store here"
    ] == "the other sources are used"


def with_answer(stores: Stores, answer: Callable[[SourceQuery, str], Any], **limits: int) -> Stores:
    """The same stores, where gitlab answers so; without a stand-in."""
    update = {"limits": SourceLimits(**limits), "fallback": None}
    source = BrokenSource(stores.sources["gitlab"].contract.model_copy(update=update), answer)
    return replace(stores, sources={**stores.sources, "gitlab": source})


GOOD = Hit(Passage("!1", "a text", "gitlab"), 1.0)
NO_PASSAGE: Any = None


@pytest.mark.parametrize(
    "bad", [None, "?", Hit(NO_PASSAGE, 1.0), Hit(Passage("!2", "a text", "gitlab"), float("nan"))], ids=repr
)
def test_records_that_cannot_be_read_leave_the_others(engineering: Stores, bad: Any) -> None:
    result = execute(
        source_plan(FAILED), with_answer(engineering, lambda query, _: SourceAnswer(query, (bad, GOOD), 2, False))
    )
    assert [hit.passage.id for answer in result.source_answers for hit in answer.hits] == ["!1"]
    assert "1 of its records could not be read" in {gap.why for gap in result.gaps}


@pytest.mark.parametrize("hits", [None, "text", 3])
def test_an_answer_without_a_list_of_records_is_a_gap(engineering: Stores, hits: Any) -> None:
    result = execute(
        source_plan(FAILED), with_answer(engineering, lambda query, _: SourceAnswer(query, hits, 0, False))
    )
    assert result.source_answers == ()
    assert "source" in kinds(result)


def test_a_source_that_gives_more_than_it_declares_is_cut(engineering: Stores) -> None:
    hits = tuple(Hit(Passage(f"!{n}", f"text {n}", "gitlab"), 1.0) for n in range(5))
    stores = with_answer(engineering, lambda query, _: SourceAnswer(query, hits, 5, False), records=2)
    result = execute(source_plan(FAILED), stores)
    assert len(result.source_answers[0].hits) == 2
    assert "the first 2 are given" in {gap.instead for gap in result.gaps}


def test_an_answer_is_of_the_query_that_was_asked(engineering: Stores) -> None:
    other = FAILED.model_copy(update={"id": "plan7_query", "source": "youtrack"})
    result = execute(
        source_plan(FAILED), with_answer(engineering, lambda _, __: SourceAnswer(other, (GOOD,), 1, False))
    )
    assert [answer.query for answer in result.source_answers] == [FAILED]


def test_a_source_whose_contract_cannot_be_read_is_a_gap(engineering: Stores) -> None:
    class Broken:
        @property
        def contract(self) -> SourceContract:
            raise OSError("no contract")

    result = execute(source_plan(FAILED), replace(engineering, sources={**engineering.sources, "gitlab": Broken()}))
    assert "OSError: no contract" in {gap.why for gap in result.gaps}


def test_a_stand_in_is_named_with_the_filters_that_it_does_not_know(engineering: Stores) -> None:
    def fail(query: SourceQuery, question: str) -> SourceAnswer:
        raise ConnectionError("down")

    broken = BrokenSource(engineering.sources["gitlab"].contract, fail)
    result = execute(source_plan(FAILED), replace(engineering, sources={**engineering.sources, "gitlab": broken}))
    told = {gap.why: gap.instead for gap in result.gaps}
    assert told["ConnectionError: down"] == "generic is asked without statuses:failed, which it does not know"


def test_a_stand_in_that_fails_too_is_a_gap_of_its_own(engineering: Stores) -> None:
    def fail(query: SourceQuery, question: str) -> SourceAnswer:
        raise ConnectionError("down")

    broken = {name: BrokenSource(engineering.sources[name].contract, fail) for name in ("gitlab", "generic")}
    result = execute(source_plan(FAILED), replace(engineering, sources={**engineering.sources, **broken}))
    whys = [gap.why for gap in result.gaps if gap.kind == "source"]
    assert whys == ["ConnectionError: down", "its stand-in generic gives nothing either: ConnectionError: down"]


def test_every_source_of_a_plan_weighs_by_its_priority(engineering: Stores) -> None:
    first = SourceQuery(id="plan0_query", query_string="a", source="gitlab")
    second = SourceQuery(id="plan0_query_youtrack", query_string="b", source="youtrack")
    plans = (SourcePlan(id="plan0", description="d", sources=("gitlab", "youtrack"), priority=5),)
    plan = plan_of("anything of atlas", source_queries=(first, second), source_plans=plans)
    lists = source_lists(execute(plan, engineering).source_answers, plan)
    assert [ranked.weight for ranked in lists] == [0.5, 0.5]


def test_records_that_a_source_cuts_are_named(engineering: Stores) -> None:
    source = engineering.sources["youtrack"]
    small = replace_contract(source, SourceLimits(records=2))
    query = SourceQuery(id="plan0_query", query_string="issues", source="youtrack")
    result = execute(source_plan(query), replace(engineering, sources={"youtrack": small}))
    assert len(result.source_answers[0].hits) == 2
    assert any("more than the source gives" in gap.why for gap in result.gaps)


def replace_contract(source: Any, limits: SourceLimits) -> Any:
    return type(source)(source.contract.model_copy(update={"limits": limits}), source._records)


def test_a_follow_up_finds_where_the_sources_and_the_first_search_found_nothing(engineering: Stores) -> None:
    found = SearchResult(Passage("1", "failed pipelines of atlas", "mine"), 1.0, "mine")
    answers = iter([[]])
    provider = Fake(lambda query: next(answers, [found]), "mine")
    nothing = FAILED.model_copy(update={"filters": {"statuses": ("none such",)}})
    result = execute(source_plan(nothing), with_providers(engineering, provider))
    assert [item.id for item in result.evidence] == ["1"]


def test_what_is_found_beside_sources_without_a_record_has_to_cover_the_question(engineering: Stores) -> None:
    found = SearchResult(Passage("1", "something else", "mine"), 1.0, "mine")
    nothing = FAILED.model_copy(update={"filters": {"statuses": ("none such",)}})
    result = execute(source_plan(nothing), with_providers(engineering, Fake(lambda query: [found], "mine")))
    assert "coverage" in kinds(result)
