"""Source queries run with their filters, and a stand-in for a source that gives nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from queryplan.data.sources import SourceContract, SourceLimits
from queryplan.program.retrieval.execute import execute
from queryplan.program.retrieval.passages import Passage
from queryplan.program.retrieval.results import SearchResult
from queryplan.program.retrieval.sources.records import SourceAnswer
from queryplan.program.retrieval.stores import Stores
from queryplan.signatures.types import SourceQuery

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
