"""Plans run on stores: in order, side by side, and with a name for everything that is missing."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.card import SHIPPED
from queryplan.data.sources import SourceContract, SourceLimits
from queryplan.errors import DataError
from queryplan.program.plan import QueryCandidate, QueryPlan, RetrievalStrategy
from queryplan.program.retrieval.calls import Limits
from queryplan.program.retrieval.execute import Budget, RunSettings, aexecute, execute
from queryplan.program.retrieval.results import ids
from queryplan.program.retrieval.run_result import RunResult
from queryplan.program.retrieval.source_stores import SourceAnswer
from queryplan.program.retrieval.speaking import Speakers
from queryplan.program.retrieval.stores import Stores, open_stores
from queryplan.signatures.types import GraphPlan, SourcePlan, SourceQuery, SubQuery

BOTH = RetrievalStrategy(use_rag=True, use_kg=True, kg_query_type="multi_hop")
ITERATIVE = BOTH.model_copy(update={"iterative": True})
DIRECT = BOTH.model_copy(update={"retrieval_method": "direct"})


def plan_of(query: str, *subs: tuple[str, tuple[int, ...]], **more: Any) -> QueryPlan:
    made: dict[str, Any] = {
        "is_follow_up": False,
        "is_relevant": True,
        "complexity": "complex",
        "intent": "multi_part",
        "needs_decomposition": bool(subs),
        "sub_queries": tuple(SubQuery(id=n, text=t, depends_on=d) for n, (t, d) in enumerate(subs, 1)),
        "retrieval_strategy": BOTH,
    }
    return QueryPlan(query=query, standalone_query=query, **{**made, **more})


@pytest.fixture(scope="module")
def podcast() -> Stores:
    return open_stores("podcast")


@pytest.fixture(scope="module")
def engineering() -> Stores:
    return open_stores("engineering")


@pytest.fixture(scope="module")
def journal() -> Stores:
    return open_stores("journal")


@pytest.fixture
def hang() -> Iterator[Callable[..., Any]]:
    over = threading.Event()
    yield lambda *_: over.wait(20)
    over.set()


@dataclass(eq=False)
class Spy:
    """A provider that passes everything on to another and notes it."""

    inner: Any
    asked: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def limits(self) -> Limits:
        return Limits(concurrency=1)

    def variations(self, query: str) -> Any:
        raise AssertionError("a plan was given")

    def search(self, query: str, limit: int) -> Any:
        self.asked.append(query)
        return self.inner.search(query, limit)


@dataclass(eq=False)
class Fake:
    """A provider that does what a function does."""

    answer: Callable[[str], Any]
    name: str = "fake"
    limits: Limits = field(default_factory=lambda: Limits(concurrency=2, timeout_s=0.05))

    def variations(self, query: str) -> Any:
        raise AssertionError("a plan was given")

    def search(self, query: str, limit: int) -> Any:
        return self.answer(query)


def with_providers(stores: Stores, *providers: Any) -> Stores:
    return replace(stores, providers=providers)


def kinds(result: RunResult) -> set[str]:
    return {gap.kind for gap in result.gaps}


# -- what is not searched ---------------------------------------------------------------------------


def test_a_rejected_plan_is_answered_in_the_cards_words(podcast: Stores) -> None:
    nothing = RetrievalStrategy(use_rag=False, use_kg=False)
    plan = plan_of("2+2", is_relevant=False, intent="out_of_scope", rejection_kind="math", retrieval_strategy=nothing)
    result = execute(plan, podcast)
    assert (result.kind, result.text) == ("rejected", podcast.card.reason("math"))
    assert result.evidence == ()


def test_a_greeting_is_answered_with_what_the_domain_covers(podcast: Stores) -> None:
    direct = RetrievalStrategy(use_rag=False, use_kg=False, direct_answer=True)
    result = execute(plan_of("hello", intent="greeting", retrieval_strategy=direct), podcast)
    assert result.kind == "direct_answer"
    assert podcast.card.title in result.text


# -- searches ---------------------------------------------------------------------------------------


def test_a_question_finds_the_passages_that_answer_it(podcast: Stores) -> None:
    result = execute(plan_of("what is the two-minute doorway?", complexity="simple"), podcast)
    assert result.kind == "searched"
    assert "1[2]" in ids(result.evidence)
    assert len(result.evidence) == 10
    assert "transcripts" in result.text


def test_only_planned_candidates_are_asked(podcast: Stores) -> None:
    spy = Spy(podcast.providers[0])
    wanted = (QueryCandidate(query="piano tuning", stage="paradigm", label="modifier_1"),)
    result = execute(plan_of("q", candidates=wanted), with_providers(podcast, spy))
    assert spy.asked == ["piano tuning"]
    assert result.evidence[0].query_variant == "paradigm:modifier_1"


def test_an_answer_is_filled_into_the_sub_query_that_waits_for_it(podcast: Stores) -> None:
    spy = Spy(podcast.providers[0])
    chain = plan_of(
        "who is the hospice volunteer and who inspired them to write to the show?",
        ("Who is the hospice volunteer on the show?", ()),
        ("Who inspired {1} to write to the show?", (1,)),
    )
    result = execute(chain, with_providers(podcast, spy))
    (first,) = result.sub_answers
    assert first.answers
    assert f"Who inspired {first.answers[0]} to write to the show?" in spy.asked
    assert not any("{1}" in query for query in spy.asked)
    assert result.rounds >= 2


def test_an_answerer_of_ones_own_is_used(podcast: Stores) -> None:
    spy = Spy(podcast.providers[0])
    chain = plan_of("q", ("who?", ()), ("what did {1} say about sleep?", (1,)))
    execute(
        chain,
        with_providers(podcast, spy),
        settings=RunSettings(answerer=lambda question, evidence: ["Priya Raghunandan-Moss"]),
    )
    assert "what did Priya Raghunandan-Moss say about sleep?" in spy.asked


def test_independent_sub_queries_are_asked_in_one_round_side_by_side(podcast: Stores) -> None:
    barrier = threading.Barrier(3, timeout=5)

    def meet(query: str) -> list[Any]:
        barrier.wait()
        return []

    fake = Fake(meet, limits=Limits(concurrency=3, timeout_s=5))
    plan = plan_of("whole", ("first", ()), ("second", ()))
    result = execute(plan, with_providers(podcast, fake))
    assert result.rounds == 1
    assert "provider" not in kinds(result)


def test_the_graph_tells_what_it_knows_of_the_names(podcast: Stores) -> None:
    result = execute(plan_of("what did Ada do", entities=("Dario",)), podcast)
    said = [str(fact) for fact in result.facts]
    assert "Dario Venkataswamy appears in Episode 39: Forecasting Yourself" in said


def test_graph_steps_of_the_plan_are_run(podcast: Stores) -> None:
    steps = [
        {"kind": "anchor", "store_as": "a", "node": {"name": "Dario Venkataswamy", "type": "Guest"}},
        {"kind": "expand", "store_as": "b", "start": "a", "edge": "APPEARS_IN", "direction": "out"},
    ]
    graph_plan = GraphPlan.model_validate({"steps": steps})
    result = execute(plan_of("episodes with Dario", graph_plan=graph_plan), podcast)
    assert "Episode 39: Forecasting Yourself" in result.graph_answers
    assert result.text.startswith("The graph answers: ")


def test_a_node_that_the_graph_does_not_have_is_a_gap(podcast: Stores) -> None:
    steps = [{"kind": "anchor", "store_as": "a", "node": {"name": "Nobody", "type": "Guest"}}]
    result = execute(plan_of("q", graph_plan=GraphPlan.model_validate({"steps": steps})), podcast)
    assert ("graph", "Nobody") in {(gap.kind, gap.what) for gap in result.gaps}


# -- gaps are followed up ---------------------------------------------------------------------------


def test_what_is_missing_is_asked_again_within_the_budget(podcast: Stores) -> None:
    spy = Spy(podcast.providers[0])
    subs = ("what did the zeppelin do at the volcano", ()), ("piano workshop doorway", ())
    plan = plan_of("zeppelin", *subs, retrieval_strategy=ITERATIVE)
    result = execute(plan, with_providers(podcast, spy), settings=RunSettings(budget=Budget(queries=1)))
    assert result.trace.candidates["agentic"] == 1
    assert any(gap.what == subs[0][0] for gap in result.gaps)


def test_what_is_covered_is_not_asked_again(podcast: Stores) -> None:
    plan = plan_of("the two-minute doorway", retrieval_strategy=ITERATIVE)
    assert "agentic" not in execute(plan, podcast).trace.candidates


def test_a_plan_that_is_not_iterative_is_not_followed_up(podcast: Stores) -> None:
    result = execute(plan_of("piano zeppelin volcano lava ash eruption crater"), podcast)
    assert "agentic" not in result.trace.candidates
    assert "coverage" in kinds(result)


def test_following_up_stops_when_nothing_is_gained(podcast: Stores) -> None:
    spy = Spy(podcast.providers[0])
    plan = plan_of("what did the zeppelin do at the volcano", retrieval_strategy=ITERATIVE)
    result = execute(plan, with_providers(podcast, spy), settings=RunSettings(budget=Budget(rounds=5, queries=50)))
    assert result.rounds == 2


def test_a_budget_of_nothing_follows_nothing_up(podcast: Stores) -> None:
    plan = plan_of("volcano lava ash", retrieval_strategy=ITERATIVE)
    for budget in (Budget(rounds=0), Budget(queries=0), Budget(threshold=0.0)):
        assert execute(plan, podcast, settings=RunSettings(budget=budget)).rounds == 1


# -- sources ----------------------------------------------------------------------------------------


def source_plan(*queries: SourceQuery, **more: Any) -> QueryPlan:
    plans = tuple(
        SourcePlan(id=q.id.removesuffix("_query"), description="d", sources=(q.source,), priority=10) for q in queries
    )
    return plan_of("failed pipelines of atlas", source_queries=queries, source_plans=plans, **more)


FAILED = SourceQuery(
    id="plan0_query",
    query_string="pipelines projects:atlas",
    source="gitlab",
    filters={"projects": ("atlas",), "statuses": ("failed",)},
)


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


# -- reading everything -----------------------------------------------------------------------------


def session(count: int, now: str = "2025-03-31T12:00:00+02:00") -> dict[str, Any]:
    return {"now": now, "collection": {"composition_count": count, "last_stats_update": now}}


def test_a_small_collection_is_read_newest_first_up_to_today(journal: Stores) -> None:
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session=session(5))
    assert result.kind == "read_everything"
    days = [item.passage.date for item in result.evidence]
    assert days == sorted(days, reverse=True)
    assert len(days) == 5
    assert max(days) <= "2025-03-31"
    assert result.text == result.context.formatted_context
    assert result.context.coverage == 1.0


def test_statistics_that_say_more_than_there_is_are_a_gap(journal: Stores) -> None:
    early = session(9, "2025-01-12T12:00:00+02:00")
    result = execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session=early)
    assert len(result.evidence) == 2
    assert kinds(result) == {"plan"}


def test_a_collection_that_is_too_large_after_all_is_searched(journal: Stores) -> None:
    everything = session(60, "2025-12-31T12:00:00+01:00")
    result = execute(plan_of("the cat and the plant", retrieval_strategy=DIRECT), journal, session=everything)
    assert result.kind == "searched"
    assert result.evidence
    assert result.gaps[0].instead == "it is searched"


def test_a_domain_without_a_collection_is_searched(podcast: Stores) -> None:
    result = execute(plan_of("the two-minute doorway", retrieval_strategy=DIRECT), podcast)
    assert result.kind == "searched"
    assert result.gaps[0].what == "reading everything"


# -- stores that do wrong ---------------------------------------------------------------------------


def test_a_provider_that_hangs_leaves_the_others(podcast: Stores, hang: Callable[..., Any]) -> None:
    start = time.perf_counter()
    result = execute(plan_of("the two-minute doorway"), with_providers(podcast, Fake(hang), podcast.providers[0]))
    assert time.perf_counter() - start < 5
    assert result.evidence
    assert "provider" in kinds(result)


def test_providers_that_all_fail_leave_gaps_and_the_graph(podcast: Stores) -> None:
    def fail(query: str) -> Any:
        raise OSError("disk")

    result = execute(plan_of("what of Dario", entities=("Dario",)), with_providers(podcast, Fake(fail)))
    assert result.evidence == ()
    assert result.facts
    assert {"provider", "coverage"} <= kinds(result)


@dataclass(eq=False)
class BrokenGraph:
    answer: Callable[[Any], Any]

    def run(self, plan: GraphPlan) -> Any:
        return self.answer(plan)


def test_a_graph_that_fails_leaves_the_texts(podcast: Stores) -> None:
    def fail(plan: Any) -> Any:
        raise TimeoutError("graph")

    result = execute(plan_of("Dario", entities=("Dario",)), replace(podcast, graph=BrokenGraph(fail)))
    assert result.evidence
    assert ("graph", "TimeoutError: graph") in {(gap.kind, gap.why) for gap in result.gaps}


def test_a_graph_that_hangs_does_not_hold_up_the_search(podcast: Stores, hang: Callable[..., Any]) -> None:
    quick = RunSettings(side=Limits(timeout_s=0.05))
    result = execute(plan_of("Dario", entities=("Dario",)), replace(podcast, graph=BrokenGraph(hang)), settings=quick)
    assert result.evidence
    assert "graph" in kinds(result)


def test_the_deadline_is_kept_and_named(podcast: Stores, hang: Callable[..., Any]) -> None:
    slow = Fake(hang, limits=Limits(timeout_s=30))
    start = time.perf_counter()
    result = execute(plan_of("the doorway"), with_providers(podcast, slow, podcast.providers[0]), deadline_s=0.3)
    assert time.perf_counter() - start < 5
    assert "deadline" in kinds(result)
    assert result.evidence


def test_a_deadline_that_is_over_still_gives_a_result(podcast: Stores) -> None:
    result = execute(plan_of("the doorway", ("a", ()), ("b {1}", (1,))), podcast, deadline_s=0.0)
    assert result.evidence == ()
    assert "deadline" in kinds(result)


def test_a_domain_without_texts_says_so() -> None:
    result = execute(plan_of("what binds GFAP?"), open_stores("biomedical"))
    assert any("has no texts" in gap.why for gap in result.gaps)


def test_a_synthesis_that_fails_is_replaced_by_the_evidence(podcast: Stores) -> None:
    def fail(run: RunResult) -> str:
        raise ValueError("no words")

    result = execute(plan_of("the doorway"), podcast, settings=RunSettings(speakers=Speakers(synthesise=fail)))
    assert "transcripts" in result.text
    assert any(gap.what == "the synthesis" for gap in result.gaps)


def test_speakers_of_ones_own_speak(podcast: Stores) -> None:
    mine = RunSettings(speakers=Speakers(synthesise=lambda run: f"{len(run.evidence)} passages"))
    assert execute(plan_of("the doorway"), podcast, settings=mine).text == "10 passages"


# -- as a whole -------------------------------------------------------------------------------------


def test_running_can_be_awaited_with_the_same_result(podcast: Stores) -> None:
    plan = plan_of("the doorway", ("who stands at the door", ()), ("why does {1} stand there", (1,)))
    assert ids(asyncio.run(aexecute(plan, podcast)).evidence) == ids(execute(plan, podcast).evidence)


def test_a_plan_is_not_changed_by_running_it(podcast: Stores) -> None:
    plan = plan_of("the doorway", ("who", ()), ("why {1}", (1,)), entities=("Nell",))
    before = plan.model_dump_json()
    assert execute(plan, podcast).plan.model_dump_json() == before


def test_a_result_is_json(podcast: Stores, journal: Stores, engineering: Stores) -> None:
    results = [
        execute(plan_of("the doorway", entities=("Nell",)), podcast),
        execute(plan_of("what did I write?", retrieval_strategy=DIRECT), journal, session=session(5)),
        execute(source_plan(FAILED), engineering),
    ]
    for result in results:
        read = json.loads(json.dumps(result.as_json()))
        assert read["evidence"][0]["text"]
        assert read["timings"]["total"] > 0


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=4),
    st.lists(st.integers(1, 3), max_size=3),
    st.lists(st.text(max_size=15), max_size=3),
)
def test_any_plan_gives_a_complete_result(
    podcast: Stores, texts: list[str], depends: list[int], entities: Sequence[str]
) -> None:
    last = tuple(sorted({d for d in depends if d < len(texts)}))
    subs = [(text, ()) for text in texts[:-1]] + [(texts[-1] + "".join(f" {{{d}}}" for d in last), last)]
    result = execute(plan_of("q", *subs, entities=tuple(entities), retrieval_strategy=ITERATIVE), podcast)
    assert result.kind == "searched"
    assert result.trace.queries >= 1
    assert len(result.coverage.needs) >= len(subs)


# -- stores -----------------------------------------------------------------------------------------


def test_stores_are_opened_once_until_a_file_changes(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    shutil.copy(SHIPPED / "journal" / "domain.toml", folder)
    (folder / "posts.jsonl").write_text('{"id": "p1", "date": "2025-01-01", "text": "snow on the roof"}\n')
    first = open_stores(folder)
    assert open_stores(folder) is first
    with (folder / "posts.jsonl").open("a") as file:
        file.write('{"id": "p2", "date": "2025-01-02", "text": "rain on the roof"}\n')
    assert len(open_stores(folder).collection) == 2


def test_an_unknown_domain_is_named() -> None:
    with pytest.raises(DataError, match="there is no domain 'nowhere'"):
        open_stores("nowhere")
