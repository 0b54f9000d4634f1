"""Plans run on stores: in order, side by side, and with a name for everything that is missing."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.card import SHIPPED
from queryplan.errors import DataError
from queryplan.program.graph.executor import GraphAnswer
from queryplan.program.plan import QueryCandidate, RetrievalStrategy
from queryplan.program.retrieval.calls import Limits
from queryplan.program.retrieval.execute import Budget, RunSettings, aexecute, execute
from queryplan.program.retrieval.results import ids
from queryplan.program.retrieval.stores import Stores, open_stores
from queryplan.signatures.types import GraphPlan

from .running import DIRECT, FAILED, ITERATIVE, Fake, Spy, kinds, plan_of, session, source_plan, with_providers

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


@dataclass(eq=False)
class Graph:
    """Answers every plan alike."""

    answer: Any

    def run(self, plan: GraphPlan) -> Any:
        return self.answer


def test_what_a_graph_left_out_and_what_went_wrong_there_are_gaps(podcast: Stores) -> None:
    steps = [{"kind": "anchor", "store_as": "a", "node": {"name": "Dario Venkataswamy", "type": "Guest"}}]
    answer = GraphAnswer(("one",), cut=("only 1 row was read",), gaps=("the server failed",))
    plan = plan_of("q", entities=("Dario",), graph_plan=GraphPlan.model_validate({"steps": steps}))
    result = execute(plan, replace(podcast, graph=Graph(answer)))
    told = {(gap.what, gap.why) for gap in result.gaps if gap.kind == "graph"}
    whats, whys = ("the plan's graph steps", "the names in the question"), ("only 1 row was read", "the server failed")
    assert told == {(what, why) for what in whats for why in whys}
    assert result.graph_answers == ("one",)


@pytest.mark.parametrize("answer", [5, "text", None, object()])
def test_an_answer_of_a_graph_that_is_none_is_a_gap(podcast: Stores, answer: Any) -> None:
    steps = [{"kind": "anchor", "store_as": "a", "node": {"name": "Dario Venkataswamy", "type": "Guest"}}]
    plan = plan_of("the two-minute doorway", graph_plan=GraphPlan.model_validate({"steps": steps}))
    result = execute(plan, replace(podcast, graph=Graph(answer)))
    assert "graph" in kinds(result)
    assert result.evidence


def test_graph_steps_without_a_graph_are_a_gap(podcast: Stores) -> None:
    steps = [{"kind": "anchor", "store_as": "a", "node": {"name": "Dario Venkataswamy", "type": "Guest"}}]
    plan = plan_of("the two-minute doorway", graph_plan=GraphPlan.model_validate({"steps": steps}))
    result = execute(plan, replace(podcast, graph=None))
    assert "the domain podcast has no graph" in {gap.why for gap in result.gaps}


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


def test_stores_are_opened_again_when_the_records_of_a_source_change_wherever_they_are(tmp_path: Path) -> None:
    card = (SHIPPED / "engineering" / "domain.toml").read_text(encoding="utf-8")
    (tmp_path / "own" / "records").mkdir(parents=True)
    (tmp_path / "own" / "domain.toml").write_text(card.replace('store = "store/', 'store = "records/'))
    for file in (SHIPPED / "engineering" / "store").iterdir():
        shutil.copy(file, tmp_path / "own" / "records")
    first = open_stores(tmp_path / "own")
    assert open_stores(tmp_path / "own") is first
    with (tmp_path / "own" / "records" / "gitlab.jsonl").open("a") as file:
        file.write('{"id": "new", "title": "a zeppelin landed"}\n')
    result = execute(plan_of("zeppelin"), open_stores(tmp_path / "own"))
    assert "new" in {item.id for item in result.evidence}


def test_an_unknown_domain_is_named() -> None:
    with pytest.raises(DataError, match="there is no domain 'nowhere'"):
        open_stores("nowhere")
