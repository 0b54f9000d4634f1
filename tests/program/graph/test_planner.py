"""The graph planner: from a question to a proposal, with and without a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queryplan.data.graph_lessons import read_plan
from queryplan.program.graph.asking_steps import WrittenPlan, read_steps
from queryplan.program.graph.check import check_graph_plan
from queryplan.program.graph.executor import execute_graph
from queryplan.program.graph.linking import NameIndex
from queryplan.program.graph.memory import MemoryGraph
from queryplan.program.graph.planner import GraphPlanner
from queryplan.program.graph.sketch import canonical
from queryplan.signatures.graph_steps import EdgeType, GraphSchema, NodeType

SCHEMA = GraphSchema(
    nodes=(NodeType(name="Ship"), NodeType(name="Captain", description="who commands a ship")),
    edges=(EdgeType(name="COMMANDED_BY", source="Ship", target="Captain"),),
)


@pytest.fixture(scope="module")
def graph() -> MemoryGraph:
    made = MemoryGraph(declared=SCHEMA)
    for node, name, kind in (
        ("s1", "Aurora", "Ship"),
        ("s2", "x'}) DELETE n //", "Ship"),
        ("c1", "Ida Holm", "Captain"),
    ):
        made.add_node(node, name, kind)
    made.add_edge("s1", "COMMANDED_BY", "c1")
    made.add_edge("s2", "COMMANDED_BY", "c1")
    return made


@pytest.fixture(scope="module")
def planner(graph: MemoryGraph, taught: Any) -> GraphPlanner:
    return GraphPlanner(SCHEMA, NameIndex(graph.names()), taught)


def test_a_question_becomes_a_plan_with_its_names_and_its_answer_type(
    planner: GraphPlanner, graph: MemoryGraph
) -> None:
    proposal = planner.plan("who is the captain of the Aurora?")
    assert proposal.plan is not None
    assert execute_graph(proposal.plan, graph).names == ("Ida Holm",)
    assert (proposal.answer_type, proposal.decided_by) == ("Captain", "head")
    assert [(e.text, e.name, e.how) for e in proposal.entities] == [("Aurora", "Aurora", "exact")]
    assert 0 < proposal.confidence < 1
    assert proposal.milliseconds > 0


def test_an_unsure_plan_says_that_it_is_a_best_effort(planner: GraphPlanner) -> None:
    from dataclasses import replace

    unsure = GraphPlanner(SCHEMA, planner.answerer.index, replace(planner.learned, sure=planner.learned.sure * 0 - 1))
    assert any("best effort" in line for line in unsure.plan("captain of the Aurora").degraded)


def test_a_name_that_tries_to_be_code_is_data(planner: GraphPlanner, graph: MemoryGraph) -> None:
    proposal = planner.plan("captain of x'}) DELETE n // please")
    assert proposal.plan is not None
    assert execute_graph(proposal.plan, graph).names == ("Ida Holm",)
    assert len(graph.nodes) == 3


def test_an_unknown_name_gets_a_plan_that_says_so_with_near_names(planner: GraphPlanner, graph: MemoryGraph) -> None:
    proposal = planner.plan("who is the captain of the Zorbulon?")
    assert proposal.plan is not None
    assert execute_graph(proposal.plan, graph).names == ()
    assert any("Zorbulon" in line for line in proposal.degraded)
    misspelled = planner.plan("ships of the captain Idda Hollmann-Schmidt")
    assert any("Ida Holm" in name for e in misspelled.entities for name in (*e.near, e.name))


@pytest.mark.parametrize("query", ["", "   ", "what is the?", "?!"])
def test_without_a_name_there_is_no_plan_and_a_reason(planner: GraphPlanner, query: str) -> None:
    proposal = planner.plan(query)
    assert proposal.plan is None
    assert proposal.reason


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_text_gets_a_proposal_whose_plan_fits_the_schema(planner: GraphPlanner, text: str) -> None:
    proposal = planner.plan(f"{text} Aurora")
    assert proposal.plan is None or check_graph_plan(proposal.plan, SCHEMA) == []


def test_a_graph_that_cannot_list_its_names_takes_them_as_written(taught: Any) -> None:
    proposal = GraphPlanner(SCHEMA, NameIndex(()), taught).plan("captain of the Zorbulon")
    assert proposal.plan is not None
    assert any("cannot list its names" in line for line in proposal.degraded)


def test_notes_are_said_in_every_proposal(planner: GraphPlanner) -> None:
    noted = GraphPlanner(SCHEMA, planner.answerer.index, planner.learned, notes=("of last year",))
    assert noted.plan("").degraded == ("of last year",)


# --- with a language model


def asked(
    planner: GraphPlanner,
    written: WrittenPlan,
    monkeypatch: pytest.MonkeyPatch,
    enough: float = 1.1,
    doubt: float = 0.0,
) -> Any:
    from dataclasses import replace

    from queryplan.program.graph import asking_steps

    monkeypatch.setattr(asking_steps, "ask_steps", lambda *args, **kwargs: written)
    lm: Any = object()
    sure = planner.learned.sure if not doubt else planner.learned.sure * 0 - doubt
    learned = replace(planner.learned, answers_from=enough, sure=sure)
    return GraphPlanner(SCHEMA, planner.answerer.index, learned, lm=lm).plan("captain of the Aurora")


def test_a_model_is_asked_where_the_ranking_is_not_sure(planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = read_plan("count; Ship:Aurora >COMMANDED_BY")
    proposal = asked(planner, WrittenPlan(plan), monkeypatch, doubt=5.0)
    assert (proposal.plan, proposal.decided_by, proposal.answer_type) == (plan, "lm", "number")


def test_a_written_plan_gives_way_to_a_likelier_one_of_the_ranking(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = asked(planner, WrittenPlan(read_plan("count; Ship:Aurora >COMMANDED_BY")), monkeypatch)
    assert proposal.confidence > 0.25
    assert proposal.decided_by == "head"
    assert canonical(proposal.plan) == canonical(read_plan("Ship:Aurora >COMMANDED_BY"))


def test_no_model_is_asked_where_the_bound_lets_the_ranking_answer(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(planner, WrittenPlan(None), monkeypatch, enough=0.0).decided_by == "head"


def test_a_model_that_writes_nothing_usable_is_replaced_by_the_ranking_and_said(
    planner: GraphPlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = asked(planner, WrittenPlan(None, "no edge of that name"), monkeypatch)
    assert canonical(proposal.plan) == canonical(read_plan("Ship:Aurora >COMMANDED_BY"))
    assert any("no edge of that name" in line for line in proposal.degraded)


def test_written_steps_are_checked_before_they_are_a_plan() -> None:
    good = [
        {"do": "find", "name": "Aurora", "type": "Ship"},
        {"do": "follow", "start": 1, "edge": "COMMANDED_BY", "direction": "out"},
    ]
    plan, refused, problem = read_steps(good, SCHEMA)
    assert plan is not None
    assert (refused, problem) == (None, "")
    plan, refused, problem = read_steps([good[0], {**good[1], "direction": "in"}], SCHEMA)
    assert plan is None
    assert refused is not None
    assert "joins Ship to Captain" in problem
    assert read_steps([], SCHEMA)[2].startswith("write 1 to")
    assert read_steps(None, SCHEMA)[0] is None


def test_a_program_without_the_stage_graph_is_refused(graph: MemoryGraph, tmp_path: Path) -> None:
    from queryplan.data.card import domain_folder, load_card
    from queryplan.errors import ProgramError
    from queryplan.program.planner import QueryPlanner

    QueryPlanner(load_card(domain_folder("podcast"))).save(tmp_path / "p")
    with pytest.raises(ProgramError, match="--stages graph"):
        GraphPlanner.for_executor(graph, program=tmp_path / "p")


def test_a_program_carries_what_it_learned_of_graphs(graph: MemoryGraph, taught: Any, tmp_path: Path) -> None:
    from queryplan.data.card import domain_folder, load_card
    from queryplan.program.planner import QueryPlanner

    card = load_card(domain_folder("podcast")).model_copy(update={"graph": SCHEMA, "names": ()})
    saved = QueryPlanner(card).with_graph(taught)
    saved.save(tmp_path / "p")
    loaded = QueryPlanner.load(tmp_path / "p", lm=None)
    assert loaded.graph is not None
    assert loaded.graph.notes == taught.notes
    proposal = GraphPlanner.for_executor(graph, program=tmp_path / "p").plan("captain of the Aurora")
    assert canonical(proposal.plan) == canonical(read_plan("Ship:Aurora >COMMANDED_BY"))  # type: ignore[arg-type]
